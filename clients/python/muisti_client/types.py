"""Made from the OpenAPI document of the server by generate.py."""

from typing import Any, Literal, NotRequired, TypedDict

AccessReply = TypedDict(
    'AccessReply',
    {
        'actor': 'str',
        'key_id': 'str | None',
        'name': 'str | None',
        'open': 'bool',
        'scopes': 'list[str]',
        'spaces': 'list[str]',
        'category': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web'] | None",
        'expires_at': 'str | None',
    },
)
"Rights of the caller. `key_id` and `name` are null for a caller without a key of this database."

AddBody = TypedDict(
    'AddBody',
    {
        'content': 'str',
        'kind': NotRequired["Literal['memory', 'chunk', 'exchange']"],
        'type': NotRequired["Literal['fact', 'preference', 'procedure', 'guard', 'observation']"],
        'status': NotRequired["Literal['active', 'candidate', 'superseded', 'deprecated']"],
        'importance': NotRequired["Literal['low', 'medium', 'high', 'critical']"],
        'author': NotRequired['str | None'],
        'reason': NotRequired['str | None'],
        'source': NotRequired['str | None'],
        'tags': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'event_at': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
        'expires_at': NotRequired['str | None'],
        'ttl': NotRequired['int | None'],
        'parent_id': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
        'derived_from': NotRequired['list[str]'],
        'category': NotRequired['str | None'],
        'key': NotRequired['str | None'],
        'on_conflict': NotRequired["Literal['keep', 'reject', 'review', 'supersede']"],
    },
)
"A memory to add."

AddedReply = TypedDict(
    'AddedReply',
    {
        'id': 'str',
        'space': 'str',
        'version': 'int',
        'kind': "Literal['memory', 'chunk', 'exchange', 'session', 'conversation', 'topic', 'summary', 'document', 'entity', 'relation']",
        'category': 'str | None',
        'key': 'str | None',
        'content': 'str',
        'type': "Literal['fact', 'preference', 'procedure', 'guard', 'observation']",
        'status': "Literal['active', 'candidate', 'superseded', 'deprecated']",
        'importance': "Literal['low', 'medium', 'high', 'critical']",
        'author': 'str | None',
        'reason': 'str | None',
        'source': 'str | None',
        'tags': 'list[str]',
        'metadata': 'dict[str, Any]',
        'event_at': 'str | None',
        'valid_from': 'str | None',
        'valid_to': 'str | None',
        'created_at': 'str',
        'updated_at': 'str',
        'expires_at': 'str | None',
        'supersedes': 'str | None',
        'superseded_by': 'str | None',
        'parent_id': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web']",
        'derived_from': 'list[str]',
        'trust': 'int',
        'tokens': 'int',
        'session': 'str | None',
        'conversation': 'str | None',
        'topic': 'str | None',
        'turn': 'int | None',
        'document': 'str | None',
        'position': 'int | None',
        'structure': 'dict[str, Any]',
        'flags': 'list[FlagReply]',
        'degraded': NotRequired['list[str]'],
        'suggestions': NotRequired['list[TypeSuggestionReply]'],
        'similar': 'list[LikenessReply]',
        'checked_at': 'str | None',
    },
)
"The memory that was added, and current ones that are like it."

AdoptedReply = TypedDict(
    'AdoptedReply',
    {
        'exchanges': 'int',
        'conversations': 'int',
        'sessions': 'int',
        'left': 'int',
        'items': 'list[LeftReply]',
    },
)
"Counts of what was adopted: exchanges, and the conversations and sessions that were made for them."

AliasReply = TypedDict(
    'AliasReply',
    {
        'name': 'str',
        'id': 'str',
        'source': "Literal['spelling', 'acronym', 'name_part', 'manual']",
        'memory': 'str | None',
    },
)
"Another name of an entity: found by a rule, or stated by a memory."

AliveReply = TypedDict(
    'AliveReply',
    {
        'status': NotRequired["Literal['ok']"],
    },
)
"The process answers."

AmountReply = TypedDict(
    'AmountReply',
    {
        'used': 'int',
        'limit': 'int | None',
    },
)
"Use and limit of one amount; a null limit means none."

ArrivedReply = TypedDict(
    'ArrivedReply',
    {
        'turn': 'int',
        'id': 'str',
        'replayed': 'bool',
        'topic': 'str | None',
    },
)
"A turn that came in: the memory that it is, and whether it was there already."

AuditReply = TypedDict(
    'AuditReply',
    {
        'items': 'list[AuditedReply]',
        'next_cursor': 'str | None',
    },
)
"Entries of the audit log, newest first."

AuditedReply = TypedDict(
    'AuditedReply',
    {
        'at': 'str',
        'actor': 'str',
        'action': 'str',
        'space': 'str | None',
        'target': 'str | None',
    },
)
"An entry of the audit log. `actor`: id of a key, `jwt:` with a subject, `local`, `anonymous`, `setting`."

BatchBody = TypedDict(
    'BatchBody',
    {
        'memories': 'list[DraftBody]',
        'atomic': NotRequired['bool'],
        'on_conflict': NotRequired["Literal['keep', 'reject', 'review', 'supersede']"],
    },
)
"Memories to add. They are decoded one by one, so that each has its own error."

BatchReply = TypedDict(
    'BatchReply',
    {
        'items': 'list[MemoryReply]',
        'flags': 'list[FlagReply]',
        'seq': 'str',
        'degraded': NotRequired['list[str]'],
        'suggestions': NotRequired['list[TypeSuggestionReply]'],
    },
)
"The memories that were added, in the order of the request."

BuildBody = TypedDict(
    'BuildBody',
    {
        'model': 'str',
    },
)
"The model that is to embed the space."

BuildGraphBody = TypedDict(
    'BuildGraphBody',
    {
        'again': NotRequired['bool'],
    },
)
"Which versions to read."

CacheReply = TypedDict(
    'CacheReply',
    {
        'entries': 'int',
        'bytes': 'int',
        'hits': 'int',
        'misses': 'int',
        'rate': 'float | None',
    },
)
"Use of the cache of vectors that slow models have computed."

ChangeReply = TypedDict(
    'ChangeReply',
    {
        'seq': 'int',
        'at': 'str',
        'change': "Literal['created', 'updated', 'superseded', 'restored', 'deleted', 'undone', 'expired', 'reembedded', 'rolled_back', 'merged', 'forked']",
        'memory_id': 'str | None',
        'version': 'int | None',
        'actor': 'str | None',
        'request': 'str | None',
        'before': NotRequired['MemoryReply | None'],
        'after': NotRequired['MemoryReply | None'],
    },
)
"A change. `show` decides whether `before` and `after` are sent; null where the memory did or does not exist."

ChangedTopic = TypedDict(
    'ChangedTopic',
    {
        'id': 'str',
        'version': 'int',
        'name': 'str',
        'title': 'str',
        'spans': 'list[list[int]]',
    },
)
"A topic after a change."

ChangedTopicsReply = TypedDict(
    'ChangedTopicsReply',
    {
        'items': 'list[ChangedTopic]',
    },
)
"The topics that a change has left."

ChangesReply = TypedDict(
    'ChangesReply',
    {
        'items': 'list[ChangeReply]',
        'next_cursor': 'str | None',
        'seq': 'str',
    },
)
"Changes, oldest first. To continue after them, send `seq` as `since`."

CheckpointBody = TypedDict(
    'CheckpointBody',
    {
        'name': 'str',
        'note': NotRequired['str | None'],
    },
)
"A name for the space's current point."

CheckpointReply = TypedDict(
    'CheckpointReply',
    {
        'name': 'str',
        'seq': 'str',
        'created_at': 'str',
        'actor': 'str',
        'note': 'str | None',
    },
)
"A named point of history."

CheckpointsReply = TypedDict(
    'CheckpointsReply',
    {
        'items': 'list[CheckpointReply]',
        'next_cursor': NotRequired['None'],
    },
)
"All checkpoints of a space, newest first."

ChunkReply = TypedDict(
    'ChunkReply',
    {
        'id': 'str',
        'version': 'int',
        'content': 'str',
        'position': 'int',
        'start': 'int',
        'stop': 'int',
        'overlap': 'int',
        'first_line': 'int',
        'last_line': 'int',
        'page': 'int | None',
        'headings': 'list[str]',
        'language': 'str | None',
        'symbol': 'str | None',
        'kind': 'str',
        'tokens': 'int',
    },
)
"A chunk at its place in the text of its document."

ChunksReply = TypedDict(
    'ChunksReply',
    {
        'document': 'str',
        'path': 'str',
        'items': 'list[ChunkReply]',
        'total': 'int',
        'next_cursor': 'str | None',
    },
)
"Chunks of a document, in their order."

CitationReply = TypedDict(
    'CitationReply',
    {
        'n': 'int',
        'id': 'str',
        'space': 'str',
        'version': 'int',
        'section': "Literal['profile', 'instructions', 'recent', 'summaries', 'about', 'facts', 'documents', 'memories']",
        'start': 'int',
        'stop': 'int',
        'cut': 'bool',
        'score': 'float | None',
    },
)
"A memory in the text. `start` and `stop` are characters; `cut` says that parts of it are left out."

ClearBody = TypedDict(
    'ClearBody',
    {
        'confirm': 'str',
    },
)
"Confirmation that all memories of a space may be deleted."

ClearedReply = TypedDict(
    'ClearedReply',
    {
        'ended': 'int',
        'before': 'str',
        'seq': 'str',
    },
)
"Result of clearing a space. A rollback to `before` undoes it."

CodeMapReply = TypedDict(
    'CodeMapReply',
    {
        'text': 'str',
        'tokens': 'int',
        'files': 'int',
        'symbols': 'int',
        'of_symbols': 'int',
        'pending': 'int',
        'degraded': 'list[str]',
        'seq': 'str',
    },
)
"A text of the definitions that are used most, by file. `of_symbols` counts all definitions."

CommunitiesReply = TypedDict(
    'CommunitiesReply',
    {
        'items': 'list[CommunityReply]',
        'total': 'int',
        'too_large': 'bool',
        'pending': 'int',
        'seq': 'str',
    },
)
"Communities of three names and more, those with the most memories first."

CommunityReply = TypedDict(
    'CommunityReply',
    {
        'entities': 'list[EndReply]',
        'size': 'int',
        'memories': 'int',
    },
)
"Entities that memories mention together more often than by chance."

CompareBody = TypedDict(
    'CompareBody',
    {
        'k': NotRequired['int'],
        'queries': NotRequired['list[str]'],
        'qrels': NotRequired['dict[str, Any]'],
    },
)
"Questions to ask both models, beside the probes of the space."

ComparedReply = TypedDict(
    'ComparedReply',
    {
        'k': 'int',
        'questions': 'int',
        'probes': 'int',
        'judged': 'int',
        'overlap': 'float | None',
        'current': 'MeasuredReply',
        'shadow': 'MeasuredReply',
        'missing': 'int',
    },
)
"The model of a space and its shadow, asked the same questions."

ComparisonReply = TypedDict(
    'ComparisonReply',
    {
        'items': 'list[DivergenceReply]',
        'next_cursor': 'str | None',
        'seq': 'str',
        'other': 'str',
    },
)
"A page of what differs between two spaces, and the points of both at which that was seen."

ConflictReply = TypedDict(
    'ConflictReply',
    {
        'id': 'str',
        'kind': "Literal['conflict', 'duplicate', 'possible_conflict']",
        'similarity': 'float | None',
        'differs': 'list[DifferenceReply]',
        'opened_at': 'str',
        'actor': 'str',
        'existing': 'MemoryReply',
        'new': 'MemoryReply',
    },
)
"Two current memories: `new` was stored although it says what `existing` says, or the contrary."

ConflictsReply = TypedDict(
    'ConflictsReply',
    {
        'items': 'list[ConflictReply]',
        'next_cursor': 'str | None',
    },
)
"A page of open conflicts, newest first."

ContextBody = TypedDict(
    'ContextBody',
    {
        'query': 'str',
        'token_budget': NotRequired['int'],
        'encoding': NotRequired["Literal['cl100k_base', 'o200k_base']"],
        'conversation': NotRequired['str | None'],
        'spaces': NotRequired['list[PartBody]'],
        'sections': NotRequired['dict[str, Any] | None'],
        'compress': NotRequired["Literal['long', 'never']"],
        'template': NotRequired['str | None'],
        'mode': NotRequired["Literal['hybrid', 'keyword', 'semantic']"],
        'filter': NotRequired['dict[str, Any] | None'],
        'recency': NotRequired['RecencyBody | None'],
        'as_of': NotRequired['str | int | None'],
        'reference_time': NotRequired['str | None'],
        'min_evidence': NotRequired["Literal['none', 'strong', 'weak']"],
        'receipt': NotRequired['bool'],
        'no_touch': NotRequired['bool'],
        'instructions': NotRequired['bool | None'],
    },
)
"A context to be made."

ContextReply = TypedDict(
    'ContextReply',
    {
        'text': 'str',
        'tokens': 'int',
        'token_budget': 'int',
        'encoding': 'str',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
        'strength': 'float',
        'strategy': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
        'sections': 'list[SectionReply]',
        'citations': 'list[CitationReply]',
        'left_out': 'list[LeftOutReply]',
        'left_out_total': 'int',
        'next_budget': 'int | None',
        'degraded': 'list[str]',
        'spaces': 'list[SpaceReadReply]',
        'seq': 'str',
        'receipt': NotRequired['str'],
    },
)
"A text for a prompt, its exact size, and what it rests on."

ConversationBody = TypedDict(
    'ConversationBody',
    {
        'name': NotRequired['str | None'],
        'title': NotRequired['str | None'],
        'users': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
        'category': NotRequired['str | None'],
        'session': NotRequired['str | None'],
        'at': NotRequired['str | None'],
    },
)
"A conversation to make. A missing session is made with it; without one it belongs to `default`."

ConversationPatch = TypedDict(
    'ConversationPatch',
    {
        'title': NotRequired['str'],
        'users': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
        'state': NotRequired["Literal['open', 'closed']"],
        'session': NotRequired['str'],
    },
)
"Changes to a conversation: what is absent stays. `session` moves it; a missing session is made."

ConversationReply = TypedDict(
    'ConversationReply',
    {
        'id': 'str',
        'version': 'int',
        'name': 'str',
        'title': 'str',
        'state': "Literal['open', 'closed']",
        'category': 'str | None',
        'metadata': 'dict[str, Any]',
        'tags': 'list[str]',
        'created_at': 'str',
        'updated_at': 'str',
        'closed_at': 'str | None',
        'turns': 'int',
        'tokens': 'int',
        'first_at': 'str | None',
        'last_at': 'str | None',
        'session': 'str | None',
        'users': 'list[str]',
        'topics': 'int',
        'next_turn': 'int',
    },
)
"A conversation, with its sizes. `next_turn` is the first turn behind all others."

ConversationsReply = TypedDict(
    'ConversationsReply',
    {
        'items': 'list[ConversationReply]',
        'total': 'int',
        'next_cursor': 'str | None',
    },
)
"Conversations, those with the latest turn first unless `sort` names another order."

CountReply = TypedDict(
    'CountReply',
    {
        'name': 'str',
        'count': 'int',
    },
)
"Number of active memories that have a category or tag."

CountsReply = TypedDict(
    'CountsReply',
    {
        'items': 'list[CountReply]',
        'next_cursor': NotRequired['None'],
    },
)
"Names and their counts, most frequent first."

CutReply = TypedDict(
    'CutReply',
    {
        'start': 'int',
        'stop': 'int',
        'overlap': 'int',
        'tokens': 'int',
        'page': 'int | None',
        'headings': 'list[str]',
        'language': 'str | None',
        'symbol': 'str | None',
        'kind': 'str',
        'beginning': 'str',
    },
)
"A chunk as it would be cut."

DeadLetterReply = TypedDict(
    'DeadLetterReply',
    {
        'first': 'int',
        'last': 'int',
        'attempts': 'int',
        'error': 'str',
        'at': 'str',
    },
)
"A range of changes that could not be sent, by their numbers."

DecidedReply = TypedDict(
    'DecidedReply',
    {
        'id': 'str',
        'decision': "Literal['keep', 'reject', 'supersede']",
        'existing_id': 'str',
        'new_id': 'str',
        'seq': 'str',
    },
)
"The decision, and the ids of both memories."

DecisionBody = TypedDict(
    'DecisionBody',
    {
        'decision': "Literal['keep', 'reject', 'supersede']",
    },
)
"Decision on the two memories of a conflict."

DiffReply = TypedDict(
    'DiffReply',
    {
        'items': 'list[MemoryChangeReply]',
        'next_cursor': 'str | None',
        'since': 'str',
        'until': 'str',
    },
)
"A page of what changed between two points, in the order of ids."

DifferenceReply = TypedDict(
    'DifferenceReply',
    {
        'kind': "Literal['date', 'name', 'negation', 'number', 'opposite']",
        'existing': 'str | None',
        'new': 'str | None',
    },
)
"A difference between two similar memories; null for a side that has nothing of this kind."

DivergedReply = TypedDict(
    'DivergedReply',
    {
        'id': 'str',
        'other': 'str',
        'ours': 'str | None',
        'theirs': 'str | None',
    },
)
"A memory that both spaces have changed: its id in the space and in the other, and what it says in each."

DivergenceReply = TypedDict(
    'DivergenceReply',
    {
        'id': 'str',
        'other': 'str',
        'conflict': 'bool',
        'ours': 'MemoryReply | None',
        'theirs': 'MemoryReply | None',
        'here': 'list[FieldChangeReply]',
        'there': 'list[FieldChangeReply]',
    },
)
"A memory that differs between two spaces: `ours` in this space, `theirs` in the other; null where it is missing. `id` is its id in this space, `other` that in the other one. `here` and `there` are the changes on each side since both were the same."

DocumentBody = TypedDict(
    'DocumentBody',
    {
        'path': NotRequired['str | None'],
        'content': NotRequired['str | None'],
        'server_path': NotRequired['str | None'],
        'media_type': NotRequired['str | None'],
        'mtime': NotRequired['str | None'],
        'category': NotRequired['str | None'],
        'tags': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'author': NotRequired['str | None'],
        'importance': NotRequired["Literal['low', 'medium', 'high', 'critical']"],
        'source': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
        'strategy': NotRequired["Literal['auto', 'recursive', 'sentence', 'fixed', 'heading', 'ast']"],
        'size': NotRequired['int'],
        'overlap': NotRequired['int'],
        'main_content': NotRequired['bool'],
    },
)
"A document to store: its text in `content`, or a file of the server's machine in `server_path`."

DocumentEndedReply = TypedDict(
    'DocumentEndedReply',
    {
        'documents': 'int',
        'chunks': 'int',
        'total': 'int',
    },
)
"Counts of what was deleted. An undo of the request brings all of it back."

DocumentReply = TypedDict(
    'DocumentReply',
    {
        'id': 'str',
        'version': 'int',
        'path': 'str',
        'title': 'str',
        'category': 'str | None',
        'tags': 'list[str]',
        'metadata': 'dict[str, Any]',
        'author': 'str | None',
        'importance': "Literal['low', 'medium', 'high', 'critical']",
        'source': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web']",
        'trust': 'int',
        'media_type': 'str | None',
        'language': 'str | None',
        'pages': 'int | None',
        'sha256': 'str',
        'size': 'int',
        'mtime': 'str | None',
        'chunks': 'int',
        'characters': 'int',
        'lines': 'int',
        'tokens': 'int',
        'notes': 'list[str]',
        'options': 'dict[str, Any]',
        'created_at': 'str',
        'indexed_at': 'str',
    },
)
"A document in one of its versions."

DocumentsReply = TypedDict(
    'DocumentsReply',
    {
        'items': 'list[DocumentReply]',
        'total': 'int',
        'chunks': 'int',
        'characters': 'int',
        'size': 'int',
        'next_cursor': 'str | None',
    },
)
"Documents, by path unless `sort` names another order, with sums over all pages."

DraftBody = TypedDict(
    'DraftBody',
    {
        'content': 'str',
        'kind': NotRequired["Literal['memory', 'chunk', 'exchange']"],
        'type': NotRequired["Literal['fact', 'preference', 'procedure', 'guard', 'observation']"],
        'status': NotRequired["Literal['active', 'candidate', 'superseded', 'deprecated']"],
        'importance': NotRequired["Literal['low', 'medium', 'high', 'critical']"],
        'author': NotRequired['str | None'],
        'reason': NotRequired['str | None'],
        'source': NotRequired['str | None'],
        'tags': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'event_at': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
        'expires_at': NotRequired['str | None'],
        'ttl': NotRequired['int | None'],
        'parent_id': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
        'derived_from': NotRequired['list[str]'],
        'category': NotRequired['str | None'],
        'key': NotRequired['str | None'],
    },
)
"A memory as a client states it."

DroppedReply = TypedDict(
    'DroppedReply',
    {
        'generation': 'str',
        'dropped': 'int',
    },
)
"A model whose vectors were deleted."

DryRunReply = TypedDict(
    'DryRunReply',
    {
        'dry_run': NotRequired['Literal[True]'],
        'status': 'int',
        'changes': 'int',
        'items': 'list[PlannedReply]',
        'probes': 'list[ShiftReply] | None',
        'answer': 'Any',
    },
)
"Changes and answer of the request, without storing anything. A new memory would have another id."

EmbeddingsReply = TypedDict(
    'EmbeddingsReply',
    {
        'enabled': 'bool',
        'model': 'str | None',
        'second': NotRequired['str'],
        'unusable': NotRequired['list[str]'],
    },
)
"Tell whether texts are embedded, and by which model. `second` is the second model of spaces that choose none, `off` for none. `unusable` names the second models that spaces have chosen and that this process cannot load; `muisti doctor` says why."

EndReply = TypedDict(
    'EndReply',
    {
        'id': 'str',
        'name': 'str',
        'kind': "Literal['person', 'organisation', 'place', 'work', 'product', 'event', 'date', 'identifier', 'symbol', 'title', 'other']",
    },
)
"One end of a relation: an entity."

EndedReply = TypedDict(
    'EndedReply',
    {
        'sessions': 'int',
        'conversations': 'int',
        'topics': 'int',
        'exchanges': 'int',
        'summaries': 'int',
        'total': 'int',
    },
)
"Counts of what was deleted, by kind. An undo of the request brings all of it back."

EntitiesReply = TypedDict(
    'EntitiesReply',
    {
        'items': 'list[EntityReply]',
        'total': 'int',
        'pending': 'int',
        'seq': 'str',
    },
)
"Entities that match; `total` counts them before the limit."

EntityBody = TypedDict(
    'EntityBody',
    {
        'kind': NotRequired["Literal['person', 'organisation', 'place', 'work', 'product', 'event', 'date', 'identifier', 'symbol', 'title', 'other'] | None"],
        'aliases': NotRequired['list[str] | None'],
        'apart': NotRequired['list[str] | None'],
        'category': NotRequired['str | None'],
    },
)
"A statement on an entity. A field that is left out stays as it is; a list replaces the one before."

EntityReply = TypedDict(
    'EntityReply',
    {
        'id': 'str',
        'name': 'str',
        'kind': "Literal['person', 'organisation', 'place', 'work', 'product', 'event', 'date', 'identifier', 'symbol', 'title', 'other']",
        'mentions': 'int',
        'confidence': 'float',
        'first_at': 'str | None',
        'last_at': 'str | None',
        'aliases': 'list[AliasReply]',
        'memory': 'str | None',
    },
)
"Somebody or something that memories name. Its name is the most frequent spelling, unless a memory states it."

EntryBody = TypedDict(
    'EntryBody',
    {
        'content': 'str',
        'kind': NotRequired["Literal['memory', 'chunk', 'exchange']"],
        'type': NotRequired["Literal['fact', 'preference', 'procedure', 'guard', 'observation']"],
        'status': NotRequired["Literal['active', 'candidate', 'superseded', 'deprecated']"],
        'importance': NotRequired["Literal['low', 'medium', 'high', 'critical']"],
        'author': NotRequired['str | None'],
        'reason': NotRequired['str | None'],
        'source': NotRequired['str | None'],
        'tags': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'event_at': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
        'expires_at': NotRequired['str | None'],
        'ttl': NotRequired['int | None'],
        'parent_id': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
        'derived_from': NotRequired['list[str]'],
    },
)
"A memory without its address."

ErasureReply = TypedDict(
    'ErasureReply',
    {
        'report': NotRequired['ReportReply | None'],
        'signed': NotRequired['str | None'],
    },
)
"The report of an erasure, plain and signed. The server keeps no copy. A dry run has neither."

ErrorReply = TypedDict(
    'ErrorReply',
    {
        'code': 'str',
        'detail': 'str',
    },
)
"The reason why a task or an item has failed."

ExchangeBody = TypedDict(
    'ExchangeBody',
    {
        'turn': NotRequired['int | None'],
        'at': NotRequired['str | None'],
        'user': NotRequired['str | None'],
        'system': NotRequired['str | None'],
        'author': NotRequired['str | None'],
        'content': NotRequired['str | None'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
        'source': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
    },
)
"A turn: an exchange of `user` and `system`, or what `author` says, in `content`."

ExchangesBody = TypedDict(
    'ExchangesBody',
    {
        'items': 'list[ExchangeBody]',
        'session': NotRequired['str | None'],
        'category': NotRequired['str | None'],
    },
)
"Turns to stream in, decoded one by one. `session` is for a conversation that is not there yet."

ExchangesReply = TypedDict(
    'ExchangesReply',
    {
        'items': 'list[MemoryReply]',
        'total': 'int',
        'next_cursor': 'str | None',
    },
)
"Exchanges of a conversation, in the order of their turns."

ExplanationReply = TypedDict(
    'ExplanationReply',
    {
        'fusion': "Literal['absolute', 'convex', 'dbsf', 'rrf'] | None",
        'alpha': 'float | None',
        'lexical': 'float | None',
        'bm25': 'float | None',
        'cosine': 'float | None',
        'blend': 'dict[str, Any] | None',
        'fused': 'float',
        'time': 'NamedTimeReply | None',
        'recency': 'float',
        'decay': NotRequired['dict[str, Any]'],
        'importance': 'float',
        'trust': 'float',
        'feedback': 'float',
        'age_days': 'float | None',
        'refreshed_days': 'float',
        'terms': 'dict[str, Any]',
        'graph': NotRequired['SignalReply'],
        'signals': NotRequired['dict[str, Any]'],
        'composite': NotRequired['float'],
        'space_weight': NotRequired['float'],
        'novelty': NotRequired['NoveltyReply'],
        'symbol': NotRequired['SymbolMatchReply'],
        'quoted': NotRequired['QuoteMatchReply'],
        'parts': 'dict[str, Any]',
        'sentence': 'str',
    },
)
"Every factor of a score = fused * time * recency * importance * trust * feedback, at most 1. `fused` follows from `lexical` and `cosine`, and with absolute fusion from the parts of `blend`. Contributions of `signals` and the weight of a space are more factors. With a preset `composite`, the sum of the contributions, is in place of `fused`."

ExtensionReply = TypedDict(
    'ExtensionReply',
    {
        'read': 'int',
        'mentions': 'int',
        'relations': 'int',
        'pending': 'int',
    },
)
"Outcome of a dry run: mentions and relations that the next versions would add."

FailingReply = TypedDict(
    'FailingReply',
    {
        'task': 'str',
        'kind': 'str',
        'space': 'str',
        'tries': 'int',
    },
)
"A task that is never given up, such as a purge, and keeps failing. `tries` counts since the last progress."

FeedbackBody = TypedDict(
    'FeedbackBody',
    {
        'verdict': "Literal['not_useful', 'useful'] | None",
    },
)
"A verdict on a memory, or null to remove the caller's earlier one."

FieldChangeReply = TypedDict(
    'FieldChangeReply',
    {
        'field': 'str',
        'before': 'Any',
        'after': 'Any',
    },
)
"A changed field, with its old and new value."

FieldProblem = TypedDict(
    'FieldProblem',
    {
        'path': 'str',
        'message': 'str',
    },
)
"A bad field or parameter: a JSON path such as `$.memories[3].key`, and what to do."

FindingReply = TypedDict(
    'FindingReply',
    {
        'check': "Literal['secret', 'contradiction', 'duplicate', 'orphaned', 'oversized', 'stale', 'never_recalled']",
        'memory_id': 'str',
        'version': 'int',
        'detail': 'str',
        'about': 'str',
        'others': 'list[str]',
        'fix': 'list[FixReply]',
    },
)
"A problem of a memory. `about` is the start of its content, without secrets."

FixReply = TypedDict(
    'FixReply',
    {
        'method': 'str',
        'path': 'str',
        'body': 'dict[str, Any] | None',
    },
)
"A request that would fix the problem, as a dry run; remove `dry_run=true` from its path to apply it."

FlagReply = TypedDict(
    'FlagReply',
    {
        'code': "Literal['echo', 'redacted', 'suspected', 'trust_lowered']",
        'path': 'str',
        'kind': 'str | None',
        'ids': 'list[str]',
    },
)
"A difference between a write and its request. `redacted`: something was taken out at `path`, of which `kind` says what it looked like. `suspected`: something there may be a secret (`kind`), too unsure to refuse or to take out, and is stored. `trust_lowered`: it is trusted less than its source class (`kind`), for it is derived from `ids`. `echo`: it only repeats `ids`, which its author has just found, and counts as derived from them."

ForkBody = TypedDict(
    'ForkBody',
    {
        'name': 'str',
    },
)
"A name for the copy."

GenerationReply = TypedDict(
    'GenerationReply',
    {
        'generation': 'str',
        'model': 'str',
        'dimensions': 'int',
        'created_at': 'str',
        'role': "Literal['current', 'shadow', 'second', 'left']",
        'passages': 'int',
        'embedded': 'int',
        'missing': 'int',
        'available': 'bool',
        'served': 'bool',
    },
)
"A model that has embedded memories of the space."

GenerationsReply = TypedDict(
    'GenerationsReply',
    {
        'items': 'list[GenerationReply]',
        'models': 'list[str]',
        'next_cursor': NotRequired['None'],
    },
)
"The models of a space, and the names of the models that the server has."

GraphDroppedReply = TypedDict(
    'GraphDroppedReply',
    {
        'entities': 'int',
    },
)
"Outcome of dropping what was read. What people have said stays, as all memories do."

GraphReply = TypedDict(
    'GraphReply',
    {
        'enabled': 'bool',
        'entities': 'int',
        'mentions': 'int',
        'relations': 'int',
        'read': 'int',
        'pending': 'int',
        'recogniser': 'str',
        'current': 'bool',
        'fallbacks': 'int',
        'degraded': 'bool',
        'seq': 'str',
    },
)
"State of a graph: how much is known, and how much is read."

GroupReply = TypedDict(
    'GroupReply',
    {
        'value': 'Any',
        'ranked': 'int',
        'count': 'int',
    },
)
"The group of which a hit is the best: its memories among the ranked candidates, and among `total`."

HeldReply = TypedDict(
    'HeldReply',
    {
        'source': "Literal['memory', 'text', 'reserved', 'turn']",
        'tokens': 'int',
        'key': 'str | None',
        'memory_id': 'str | None',
        'turn': 'int | None',
        'pinned': 'bool',
        'priority': 'int | None',
        'value': 'float | None',
        'parts': 'dict[str, Any]',
        'acts': 'list[str]',
        'importance': 'dict[str, Any]',
        'expires_at': 'str | None',
        'reason': 'str | None',
    },
)
"Something that working memory holds, or has evicted for a `reason`."

HistoryReply = TypedDict(
    'HistoryReply',
    {
        'items': 'list[VersionReply]',
        'chain': 'list[str]',
        'next_cursor': 'str | None',
    },
)
"Versions of a memory, newest first."

HitReply = TypedDict(
    'HitReply',
    {
        'memory': 'MemoryReply',
        'score': 'float',
        'ranks': 'dict[str, Any]',
        'passage': 'PassageReply',
        'highlight': NotRequired['str'],
        'explain': NotRequired['ExplanationReply'],
        'group': NotRequired['GroupReply'],
        'context': NotRequired['SurroundingsReply'],
        'place': NotRequired['PlaceReply'],
    },
)
"A memory that answers, with its rank in each ranking, from 1. `place` is on chunks of documents. All others after `passage` are sent on request."

ImportReply = TypedDict(
    'ImportReply',
    {
        'import_id': 'int | None',
        'dry_run': 'bool',
        'source': 'str | None',
        'created': 'int',
        'good': 'int',
        'versions': 'int',
        'skipped': 'dict[str, Any]',
        'failed': 'int',
        'failures': 'list[LineReply]',
        'flags': 'list[FlagReply]',
        'vectors_kept': 'int',
        'vectors_embedded': 'int',
        'origin': 'str | None',
        'seq': 'str',
    },
)
"Report of an import."

ImportedReply = TypedDict(
    'ImportedReply',
    {
        'import_id': 'int',
        'source': 'str | None',
        'actor': 'str',
        'at': 'str',
        'memories': 'int',
        'first': 'int',
        'last': 'int',
        'undone': 'int | None',
    },
)
"An import of a space."

ImportsReply = TypedDict(
    'ImportsReply',
    {
        'items': 'list[ImportedReply]',
    },
)
"The last hundred imports of a space, newest first."

InsteadReply = TypedDict(
    'InsteadReply',
    {
        'request': NotRequired['str | None'],
        'last': NotRequired['int | None'],
        'import_id': NotRequired['int | None'],
        'task': NotRequired['str | None'],
    },
)
"The way on from an undo that is refused: the request, import or task to undo or to end, where there is one."

InstructionReply = TypedDict(
    'InstructionReply',
    {
        'memory': 'MemoryReply',
        'reason': "Literal['rule', 'type']",
        'scope': 'StretchReply | None',
        'score': 'float',
    },
)
"A standing instruction that applies to the question, judged by its scope clause or its sentence."

IntentReply = TypedDict(
    'IntentReply',
    {
        'kind': "Literal['hybrid', 'keyword', 'metadata', 'semantic', 'similar-to', 'tags']",
        'mode': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
        'text': 'str',
        'filter': 'dict[str, Any] | None',
        'similar_to': 'str | None',
        'sentence': 'str',
        'applied': 'bool',
    },
)
"The reading of a query: the mode and filter that its words ask for, and the text that is left to rank by."

ItemReply = TypedDict(
    'ItemReply',
    {
        'index': 'int',
        'status': "Literal['created', 'failed']",
        'memory': NotRequired['MemoryReply'],
        'problem': NotRequired['Problem'],
    },
)
"Result for one memory of a batch."

ItemsReply = TypedDict(
    'ItemsReply',
    {
        'items': 'list[ItemReply]',
        'created': 'int',
        'failed': 'int',
        'flags': 'list[FlagReply]',
        'seq': 'str | None',
        'degraded': NotRequired['list[str]'],
        'suggestions': NotRequired['list[TypeSuggestionReply]'],
    },
)
"Result for each memory of a batch that is not atomic. `seq` is null when nothing was created."

JointReply = TypedDict(
    'JointReply',
    {
        'hits': 'list[HitReply]',
        'total': 'int',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
        'strength': 'float',
        'strategy': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
        'degraded': 'list[str]',
        'spaces': 'list[PartReply]',
        'intent': NotRequired['IntentReply'],
        'instructions': NotRequired['list[InstructionReply]'],
    },
)
"Hits of several spaces, best first; `memory.space` names the space of each. `evidence` is the best of theirs."

JointSearchBody = TypedDict(
    'JointSearchBody',
    {
        'query': NotRequired['str'],
        'limit': NotRequired['int'],
        'mode': NotRequired["Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic'] | Literal['auto']"],
        'match': NotRequired["Literal['all', 'any', 'phrase']"],
        'filter': NotRequired['dict[str, Any] | None'],
        'fusion': NotRequired["Literal['absolute', 'convex', 'dbsf', 'rrf']"],
        'alpha': NotRequired['float | None'],
        'recency': NotRequired['RecencyBody | None'],
        'as_of': NotRequired['str | int | None'],
        'reference_time': NotRequired['str | None'],
        'min_evidence': NotRequired["Literal['strong', 'weak'] | None"],
        'trust_weight': NotRequired['float'],
        'second_query': NotRequired["Literal['mapped', 'off', 'transformer'] | None"],
        'explain': NotRequired['bool'],
        'highlight': NotRequired['bool'],
        'no_touch': NotRequired['bool'],
        'similar_to': NotRequired['str | None'],
        'group_by': NotRequired['str | None'],
        'diversity': NotRequired['float'],
        'context_window': NotRequired['int'],
        'min_score': NotRequired['float'],
        'fallback_to_keyword': NotRequired['bool'],
        'signals': NotRequired['SignalsBody | None'],
        'preset': NotRequired["Literal['balanced', 'embedding-focused', 'similarity-only', 'tag-focused'] | None"],
        'boost_tags': NotRequired['dict[str, Any]'],
        'tag_rule': NotRequired["Literal['average', 'max', 'sum']"],
        'rankings': NotRequired['RankingsBody | None'],
        'instructions': NotRequired['int'],
        'intent': NotRequired['bool'],
        'spaces': NotRequired['list[PartBody]'],
        'inherit': NotRequired['list[str]'],
        'inherit_from': NotRequired['str | None'],
    },
)
"A search in several spaces: `spaces`; or a chain, `inherit` or `inherit_from`, whose weights fall by a tenth."

KeyBody = TypedDict(
    'KeyBody',
    {
        'name': 'str',
        'scopes': NotRequired['list[str]'],
        'mode': NotRequired["Literal['append-only', 'full', 'no-delete', 'read-only']"],
        'spaces': 'list[str]',
        'category': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web'] | None"],
        'expires_at': NotRequired['str | None'],
        'bound': NotRequired['bool'],
    },
)
"A key to create, no stronger than the key that creates it. `mode` is short for a list of scopes."

KeyReply = TypedDict(
    'KeyReply',
    {
        'id': 'str',
        'name': 'str',
        'scopes': 'list[str]',
        'spaces': 'list[str]',
        'category': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web'] | None",
        'parent_id': 'str | None',
        'created_at': 'str',
        'expires_at': 'str | None',
        'revoked_at': 'str | None',
        'last_used_at': 'str | None',
    },
)
"A key without its secret. `parent_id` is the key that created it; when that is revoked, this one is too."

KeysReply = TypedDict(
    'KeysReply',
    {
        'items': 'list[KeyReply]',
        'next_cursor': NotRequired['None'],
    },
)
"Keys, newest first, including revoked and expired ones."

KindReply = TypedDict(
    'KindReply',
    {
        'type': 'str',
        'code': 'str',
        'status': 'int',
        'title': 'str',
        'meaning': 'str',
        'remedy': 'str',
        'retry_after': 'int | None',
    },
)
"The meaning of a kind of problem, and the next step of the caller. `retry_after` is in seconds, null when a retry is of no use."

LatencyReply = TypedDict(
    'LatencyReply',
    {
        'method': 'str',
        'route': 'str',
        'count': 'int',
        'mean': 'float',
        'p50': 'float',
        'p95': 'float',
        'p99': 'float',
    },
)
"Times of one operation since the server started, in milliseconds. Percentiles are interpolated within the buckets of a histogram."

LeftOutReply = TypedDict(
    'LeftOutReply',
    {
        'id': 'str',
        'space': 'str',
        'section': "Literal['profile', 'instructions', 'recent', 'summaries', 'about', 'facts', 'documents', 'memories']",
        'score': 'float',
        'tokens': 'int',
        'reason': "Literal['budget', 'section']",
    },
)
"A memory that was found and left out, with the tokens that it takes whole."

LeftReply = TypedDict(
    'LeftReply',
    {
        'id': 'str',
        'why': 'str',
    },
)
"A memory that was not adopted, and why."

LikenessReply = TypedDict(
    'LikenessReply',
    {
        'id': 'str',
        'kind': "Literal['address', 'conflict', 'duplicate', 'possible_conflict', 'similar']",
        'similarity': 'float | None',
        'differs': 'list[DifferenceReply]',
        'content': 'str',
        'category': 'str | None',
        'key': 'str | None',
    },
)
"A current memory that conflicts with a new one, or is like it."

LineReply = TypedDict(
    'LineReply',
    {
        'line': 'int',
        'place': 'str | None',
        'code': 'str',
        'errors': 'list[FieldProblem]',
    },
)
"A line that cannot be imported."

LintReply = TypedDict(
    'LintReply',
    {
        'items': 'list[FindingReply]',
        'checked': 'int',
        'found': 'dict[str, Any]',
        'score': 'float',
        'skipped': 'list[str]',
        'next_cursor': 'str | None',
        'seq': 'str',
    },
)
"Findings of one page; `checked`, `found` and `score` are of all pages up to this one, the last of the space."

ListedFile = TypedDict(
    'ListedFile',
    {
        'path': 'str',
        'sha256': NotRequired['str | None'],
        'size': NotRequired['int | None'],
        'mtime': NotRequired['str | None'],
    },
)
"A file that exists. Without `sha256` its size and time are compared."

ListedReceiptReply = TypedDict(
    'ListedReceiptReply',
    {
        'id': 'str',
        'made_at': 'str',
        'actor': 'str',
        'kind': "Literal['context', 'search']",
        'query': 'str',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
        'strategy': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
        'total': 'int',
        'hits': 'int',
        'seq': 'str',
    },
)
"A receipt in a list, without its memories: `hits` is their number."

ListedSpaceReply = TypedDict(
    'ListedSpaceReply',
    {
        'name': 'str',
        'epoch': 'str',
        'seq': 'str',
        'created_at': 'str',
        'settings': 'SpaceSettingsReply',
        'policy': 'PolicyReply',
        'generation': 'str | None',
        'description': 'str | None',
        'use': 'SpaceUseReply | None',
    },
)
"A space in a list, with its size."

MadeKeyReply = TypedDict(
    'MadeKeyReply',
    {
        'id': 'str',
        'name': 'str',
        'scopes': 'list[str]',
        'spaces': 'list[str]',
        'category': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web'] | None",
        'parent_id': 'str | None',
        'created_at': 'str',
        'expires_at': 'str | None',
        'revoked_at': 'str | None',
        'last_used_at': 'str | None',
        'key': 'str',
    },
)
"A new key. `key` is shown only once; the server stores a hash of it."

MadeSummariesReply = TypedDict(
    'MadeSummariesReply',
    {
        'items': 'list[SummaryReply]',
        'degraded': 'list[str]',
    },
)
"The summaries that were missing or stale and are made now. `degraded` says why one is not as it was asked for."

MeasuredReply = TypedDict(
    'MeasuredReply',
    {
        'generation': 'str',
        'recall': 'float | None',
        'ndcg': 'float | None',
        'ms': 'float',
    },
)
"Answers of one model."

MemoryChangeReply = TypedDict(
    'MemoryChangeReply',
    {
        'id': 'str',
        'change': "Literal['added', 'changed', 'ended']",
        'before': 'MemoryReply | None',
        'after': 'MemoryReply | None',
        'changes': 'list[FieldChangeReply]',
    },
)
"Difference of a memory between two points. `before` and `after` are null where it was not current."

MemoryReply = TypedDict(
    'MemoryReply',
    {
        'id': 'str',
        'space': 'str',
        'version': 'int',
        'kind': "Literal['memory', 'chunk', 'exchange', 'session', 'conversation', 'topic', 'summary', 'document', 'entity', 'relation']",
        'category': 'str | None',
        'key': 'str | None',
        'content': 'str',
        'type': "Literal['fact', 'preference', 'procedure', 'guard', 'observation']",
        'status': "Literal['active', 'candidate', 'superseded', 'deprecated']",
        'importance': "Literal['low', 'medium', 'high', 'critical']",
        'author': 'str | None',
        'reason': 'str | None',
        'source': 'str | None',
        'tags': 'list[str]',
        'metadata': 'dict[str, Any]',
        'event_at': 'str | None',
        'valid_from': 'str | None',
        'valid_to': 'str | None',
        'created_at': 'str',
        'updated_at': 'str',
        'expires_at': 'str | None',
        'supersedes': 'str | None',
        'superseded_by': 'str | None',
        'parent_id': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web']",
        'derived_from': 'list[str]',
        'trust': 'int',
        'tokens': 'int',
        'session': 'str | None',
        'conversation': 'str | None',
        'topic': 'str | None',
        'turn': 'int | None',
        'document': 'str | None',
        'position': 'int | None',
        'structure': 'dict[str, Any]',
    },
)
"A memory in one of its versions."

MentionedReply = TypedDict(
    'MentionedReply',
    {
        'memory': 'str',
        'version': 'int',
        'at': 'str',
        'start': 'int',
        'stop': 'int',
        'text': 'str',
        'confidence': 'float',
        'source': "Literal['recogniser', 'endpoint', 'rule', 'speaker', 'known', 'manual']",
    },
)
"A memory that mentions an entity, with the spelling there. Offsets are -1 for its author."

MergeBody = TypedDict(
    'MergeBody',
    {
        'from': 'str',
        'strategy': NotRequired["Literal['ours', 'theirs'] | None"],
        'drop': NotRequired['bool'],
    },
)
"Space to merge into this one, and the side that wins when both have changed a memory."

MergeTopicsBody = TypedDict(
    'MergeTopicsBody',
    {
        'topics': 'list[str]',
    },
)
"Topics that become one. The first keeps its name and title."

MergedReply = TypedDict(
    'MergedReply',
    {
        'added': 'int',
        'changed': 'int',
        'ended': 'int',
        'flags': 'list[FlagReply]',
        'seq': 'str',
    },
)
"Number of memories that the space has taken over."

MoveReply = TypedDict(
    'MoveReply',
    {
        'before': 'str',
        'after': 'str',
    },
)
"The path of a document before and after its file moved."

MoveTopicBody = TypedDict(
    'MoveTopicBody',
    {
        'turn': 'int',
    },
)
"Where a topic begins: the turns before go to the topic before it, later ones come from there."

MovedReply = TypedDict(
    'MovedReply',
    {
        'id': 'str',
        'before': 'int | None',
        'after': 'int | None',
        'why': "Literal['new', 'changed', 'deleted', 'superseded', 'expired', 'erased', 'status', 'model', 'others']",
        'superseded_by': NotRequired['str'],
    },
)
"A memory whose rank changed; null where it is not in the answer."

NamedTimeReply = TypedDict(
    'NamedTimeReply',
    {
        'words': 'str',
        'start': 'str | None',
        'stop': 'str | None',
        'factor': 'float',
    },
)
"The time that a query names which is nearest to the memory; null where it is open."

NamesBody = TypedDict(
    'NamesBody',
    {
        'others': 'list[str]',
        'category': NotRequired['str | None'],
    },
)
"Names that are merged with an entity, or kept apart from it."

NeighbourReply = TypedDict(
    'NeighbourReply',
    {
        'entity': 'EndReply',
        'depth': 'int',
        'kinds': "list[Literal['prefers', 'likes', 'dislikes', 'avoids', 'allergic_to', 'uses', 'owns', 'made', 'plans', 'attended', 'visited', 'lives_in', 'comes_from', 'works_at', 'is', 'kin', 'spouse', 'knows', 'located_in', 'based_in', 'killed', 'mentioned_with']]",
        'weight': 'int',
        'via': 'str',
        'mentions': 'int',
        'association': 'float',
    },
)
"An entity tied to another, `depth` ties away. `via` is the entity before it on the way."

NeighboursReply = TypedDict(
    'NeighboursReply',
    {
        'entity': 'EndReply',
        'items': 'list[NeighbourReply]',
        'total': 'int',
        'capped': 'bool',
        'sort': "Literal['-association', '-weight']",
        'pending': 'int',
        'seq': 'str',
    },
)
"Neighbours of an entity, the nearest first. With `capped`, more entities were near than are followed."

NoveltyReply = TypedDict(
    'NoveltyReply',
    {
        'relevance': 'float',
        'nearest': 'float',
        'value': 'float',
    },
)
"The `value` by which a diverse hit was chosen: (1 - diversity) * relevance - diversity * nearest."

OptimizeBody = TypedDict(
    'OptimizeBody',
    {
        'text': 'str',
        'token_budget': NotRequired['int'],
        'encoding': NotRequired["Literal['cl100k_base', 'o200k_base']"],
        'query': NotRequired['str'],
    },
)
"A text to compress. `query` makes its words count more."

OptimizedReply = TypedDict(
    'OptimizedReply',
    {
        'text': 'str',
        'tokens': 'int',
        'token_budget': 'int',
        'encoding': "Literal['cl100k_base', 'o200k_base']",
        'tokens_before': 'int',
    },
)
"The text within its budget: whole sentences and blocks of code, in their order."

OutlineReply = TypedDict(
    'OutlineReply',
    {
        'path': 'str',
        'document': 'str',
        'language': 'str',
        'symbols': 'list[SymbolReply]',
        'imports': 'list[str]',
        'unresolved': 'int',
        'pending': 'int',
        'degraded': 'list[str]',
        'seq': 'str',
    },
)
"The symbols of a file in order, and the files of the space that it imports."

PageReply = TypedDict(
    'PageReply',
    {
        'items': 'list[MemoryReply]',
        'next_cursor': 'str | None',
        'degraded': NotRequired['list[str]'],
    },
)
"Memories, newest first."

PartBody = TypedDict(
    'PartBody',
    {
        'name': 'str',
        'weight': NotRequired['float'],
        'min_seq': NotRequired['str | None'],
    },
)
"A space to search: the scores of its memories are multiplied by `weight`."

PartReply = TypedDict(
    'PartReply',
    {
        'name': 'str',
        'weight': 'float',
        'seq': 'str',
        'total': 'int',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
        'strength': 'float',
        'thresholds': 'ThresholdsReply | None',
        'strategy': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
    },
)
"The part of one space in an answer, and the point in its history that was searched."

PassageReply = TypedDict(
    'PassageReply',
    {
        'number': 'int',
        'start': 'int',
        'stop': 'int',
    },
)
"The passage of the content that answers best: its number, and its start and stop in characters."

PatchBody = TypedDict(
    'PatchBody',
    {
        'content': NotRequired['str'],
        'user': NotRequired['str'],
        'system': NotRequired['str | None'],
        'kind': NotRequired["Literal['memory', 'chunk', 'exchange']"],
        'category': NotRequired['str | None'],
        'key': NotRequired['str | None'],
        'type': NotRequired["Literal['fact', 'preference', 'procedure', 'guard', 'observation']"],
        'status': NotRequired["Literal['active', 'candidate', 'superseded', 'deprecated']"],
        'importance': NotRequired["Literal['low', 'medium', 'high', 'critical']"],
        'author': NotRequired['str | None'],
        'reason': NotRequired['str | None'],
        'source': NotRequired['str | None'],
        'tags': NotRequired['list[str] | None'],
        'metadata': NotRequired['dict[str, Any] | None'],
        'event_at': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
        'expires_at': NotRequired['str | None'],
        'ttl': NotRequired['int'],
        'parent_id': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
        'derived_from': NotRequired['list[str]'],
    },
)
"Changes to a memory: what is absent stays, null clears. `tags` and `metadata` are replaced as a whole."

PathReply = TypedDict(
    'PathReply',
    {
        'found': 'bool',
        'steps': 'list[StepReply]',
        'capped': 'bool',
        'pending': 'int',
        'seq': 'str',
    },
)
"A shortest path between two entities. With `capped`, more entities were near than are followed."

PlaceReply = TypedDict(
    'PlaceReply',
    {
        'document': 'str',
        'path': 'str',
        'start': 'int',
        'stop': 'int',
        'overlap': 'int',
        'first_line': 'int',
        'last_line': 'int',
        'page': 'int | None',
        'headings': 'list[str]',
        'language': 'str | None',
        'symbol': 'str | None',
    },
)
"The place of a chunk in the text of its document, in characters and in lines from 1."

PlannedReply = TypedDict(
    'PlannedReply',
    {
        'kind': 'str',
        'memory_id': 'str',
        'version': 'int',
    },
)
"A change that the request would make, and the version that it would make or end."

PolicyBody = TypedDict(
    'PolicyBody',
    {
        'secrets': NotRequired["Literal['refuse', 'redact', 'allow'] | None"],
        'personal_data': NotRequired["Literal['refuse', 'redact', 'allow'] | None"],
        'echoes': NotRequired["Literal['refuse', 'flag', 'allow'] | None"],
        'history_days': NotRequired['float | None'],
        'purge_after_days': NotRequired['float | None'],
        'similarity_limit': NotRequired['float | None'],
        'review_limit': NotRequired['float | None'],
        'recency_weight': NotRequired['float | None'],
        'recency_half_life_days': NotRequired['float | None'],
        'inherits': NotRequired['list[str] | None'],
        'graph': NotRequired["Literal['on', 'off'] | None"],
        'second_model': NotRequired['str | None'],
    },
)
"Changes to the policy. A field that is left out stays as it is; null is the default of the server."

PolicyReply = TypedDict(
    'PolicyReply',
    {
        'secrets': "Literal['refuse', 'redact', 'allow']",
        'personal_data': "Literal['refuse', 'redact', 'allow']",
        'echoes': "Literal['refuse', 'flag', 'allow']",
        'history_days': 'float',
        'purge_after_days': 'float | None',
        'similarity_limit': 'float | None',
        'review_limit': 'float | None',
        'recency_weight': 'float',
        'recency_half_life_days': 'float',
        'inherits': 'list[str]',
        'graph': "Literal['on', 'off']",
        'second_model': 'str',
    },
)
"Policy of a space, with the defaults of the server. Its rules on new texts apply to later writes only."

PreviewReply = TypedDict(
    'PreviewReply',
    {
        'items': 'list[CutReply]',
        'chunks': 'int',
    },
)
"Where a file would be cut. Nothing was stored. `items` has the first 1,000 chunks."

ProbeBody = TypedDict(
    'ProbeBody',
    {
        'query': 'str',
        'memory_id': NotRequired['str | None'],
        'category': NotRequired['str | None'],
        'key': NotRequired['str | None'],
        'k': NotRequired['int'],
    },
)
"A question, and the memory that it should find: by its id, or any memory at an address."

ProbeReply = TypedDict(
    'ProbeReply',
    {
        'id': 'str',
        'query': 'str',
        'memory_id': 'str | None',
        'category': 'str | None',
        'key': 'str | None',
        'k': 'int',
        'made_at': 'str',
        'actor': 'str',
    },
)
"A stored question, with the memory that it should find."

ProbesReply = TypedDict(
    'ProbesReply',
    {
        'items': 'list[ProbeReply]',
        'next_cursor': NotRequired['None'],
    },
)
"Probes, oldest first."

Problem = TypedDict(
    'Problem',
    {
        'type': 'str',
        'title': 'str',
        'status': 'int',
        'detail': 'str',
        'code': 'str',
        'errors': NotRequired['list[FieldProblem]'],
        'conflicts': NotRequired['list[LikenessReply]'],
        'checked_at': NotRequired['str | None'],
        'quota': NotRequired['QuotaReply'],
        'diverged': NotRequired['list[DivergedReply]'],
        'report': NotRequired['ImportReply'],
        'instead': NotRequired['InsteadReply'],
    },
)
"An error (RFC 9457). `code` is stable, `detail` is prose; `errors` names the bad fields."

ProfileReply = TypedDict(
    'ProfileReply',
    {
        'entity': 'EntityReply',
        'facts': 'list[RelationReply]',
        'mentioned': 'list[MentionedReply]',
        'pending': 'int',
        'seq': 'str',
    },
)
"An entity, its facts in the order of time, and the latest memories that mention it."

PromoteBody = TypedDict(
    'PromoteBody',
    {
        'retrievals': NotRequired['int'],
    },
)
"Least number of retrievals of a candidate; the default is that of the settings."

ProposalReply = TypedDict(
    'ProposalReply',
    {
        'first': 'EndReply',
        'second': 'EndReply',
        'reason': "Literal['spelling', 'prefix', 'name_part', 'acronym']",
        'first_mentions': 'int',
        'second_mentions': 'int',
    },
)
"Two entities that may be one. Merging them or keeping them apart decides it."

ProposalsReply = TypedDict(
    'ProposalsReply',
    {
        'items': 'list[ProposalReply]',
        'total': 'int',
        'pending': 'int',
        'seq': 'str',
    },
)
"Pairs of entities that look alike, those that are mentioned most first."

PruneBody = TypedDict(
    'PruneBody',
    {
        'retrievals': NotRequired['int'],
        'days': NotRequired['float'],
    },
)
"Limits below which candidates are deprecated: older and retrieved less often. The settings have the defaults."

PruneDocumentsBody = TypedDict(
    'PruneDocumentsBody',
    {
        'strategy': "Literal['all', 'orphaned_chunks', 'orphaned_entities', 'stale_code']",
    },
)
"A strategy of pruning; `all` is the three others."

PruneDocumentsReply = TypedDict(
    'PruneDocumentsReply',
    {
        'stale_code': 'list[str]',
        'unknown': 'int',
        'orphaned_chunks': 'list[str]',
        'orphaned_entities': 'list[str]',
        'more': 'bool',
    },
)
"Documents, chunks and entities that ended: up to 1,000 of each kind. A rollback brings them back."

PurgeBody = TypedDict(
    'PurgeBody',
    {
        'author': NotRequired['str | None'],
        'source': NotRequired['str | None'],
        'filter': NotRequired['dict[str, Any] | None'],
        'older_than_days': NotRequired['float | None'],
        'everything': NotRequired['bool'],
        'confirm': NotRequired['str | None'],
    },
)
"Memories to erase: those of which any version meets all given conditions, or everything."

PutReply = TypedDict(
    'PutReply',
    {
        'id': 'str',
        'version': 'int',
        'path': 'str',
        'title': 'str',
        'category': 'str | None',
        'tags': 'list[str]',
        'metadata': 'dict[str, Any]',
        'author': 'str | None',
        'importance': "Literal['low', 'medium', 'high', 'critical']",
        'source': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web']",
        'trust': 'int',
        'media_type': 'str | None',
        'language': 'str | None',
        'pages': 'int | None',
        'sha256': 'str',
        'size': 'int',
        'mtime': 'str | None',
        'chunks': 'int',
        'characters': 'int',
        'lines': 'int',
        'tokens': 'int',
        'notes': 'list[str]',
        'options': 'dict[str, Any]',
        'created_at': 'str',
        'indexed_at': 'str',
        'outcome': "Literal['created', 'updated', 'unchanged', 'moved']",
        'added': 'int',
        'kept': 'int',
        'changed': 'int',
        'ended': 'int',
        'moved_from': 'str | None',
        'flags': 'list[FlagReply]',
    },
)
"A document that was stored, with counts of its chunks."

QuestionReply = TypedDict(
    'QuestionReply',
    {
        'text': 'str',
        'count': 'int',
        'first_at': 'str',
        'last_at': 'str',
    },
)
"A question without evidence, and how often it was asked."

QuestionsReply = TypedDict(
    'QuestionsReply',
    {
        'mode': "Literal['off', 'questions', 'ring']",
        'process': 'str',
        'since': 'str',
        'items': 'list[QuestionReply]',
        'next_cursor': NotRequired['None'],
    },
)
"Questions that found nothing in this process, the most frequent first."

QuotaBody = TypedDict(
    'QuotaBody',
    {
        'memories': NotRequired['int | None'],
        'bytes': NotRequired['int | None'],
    },
)
"Changes to the quota. A field that is left out stays as it is; null is the default of the server."

QuotaReply = TypedDict(
    'QuotaReply',
    {
        'memories': 'AmountReply',
        'bytes': 'AmountReply',
    },
)
"Use and quota of a space. Counted are memories that are not deleted, also those that have expired or are superseded. Sessions, conversations, topics and statements of the graph count as memories. Bytes are those of texts, tags and metadata."

QuoteMatchReply = TypedDict(
    'QuoteMatchReply',
    {
        'above': 'float',
    },
)
"The memory has all that the query has in quotes: its score becomes above + (1 - above) * score."

RankReply = TypedDict(
    'RankReply',
    {
        'id': 'str',
        'rank': 'int | None',
    },
)
"Rank of the memory that a probe expects."

RankingsBody = TypedDict(
    'RankingsBody',
    {
        'graph': NotRequired['float'],
    },
)
"Weights of rankings beside those of the mode: a score is multiplied by 1 + weight * score of the ranking."

ReadReply = TypedDict(
    'ReadReply',
    {
        'id': 'str',
        'at': 'str',
        'operation': "Literal['context', 'get', 'list', 'recall', 'search']",
        'actor': 'str',
        'request_id': 'str | None',
        'ms': 'float',
        'hits': 'int',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak'] | None",
        'receipt': 'str | None',
    },
)
"A read, without its content."

ReadsReply = TypedDict(
    'ReadsReply',
    {
        'mode': "Literal['off', 'questions', 'ring']",
        'process': 'str',
        'since': 'str',
        'size': 'int',
        'items': 'list[ReadReply]',
        'next_cursor': 'str | None',
    },
)
"Reads of a space in this process, newest first."

ReadyReply = TypedDict(
    'ReadyReply',
    {
        'status': NotRequired["Literal['ready']"],
        'schema': NotRequired["Literal['ok']"],
        'version': NotRequired['str'],
        'store': NotRequired['str'],
        'spaces': NotRequired['int'],
        'loading': NotRequired['list[str]'],
        'embeddings': NotRequired['EmbeddingsReply'],
        'index_bytes': NotRequired['int'],
        'indexes_evicted': NotRequired['int'],
        'tasks_blocked': NotRequired['str'],
        'tasks_failing': NotRequired['list[FailingReply]'],
    },
)
"The service can do its work. `store` is the database engine, `index_bytes` the memory that the indexes take. `indexes_evicted` counts the indexes that were dropped to stay within MUISTI_INDEX_MEMORY, and `spaces` the spaces of the caller. `loading` names the spaces whose index is loading; only their first search waits for it. Callers without a key see only `status` and `schema`. `tasks_blocked` is the code of the error that keeps this process from working on tasks, such as `store_full`; absent when nothing does. `tasks_failing` names tasks in the caller's spaces that go on and keep failing, at most 20; absent when there is none."

ReasonedReply = TypedDict(
    'ReasonedReply',
    {
        'id': 'str',
        'reason': "Literal['found', 'unknown', 'not_yet', 'deleted', 'superseded', 'expired', 'status', 'kind', 'filter', 'words', 'query', 'no_match', 'not_proposed', 'min_score', 'group', 'diversity', 'evidence', 'limit']",
        'sentence': 'str',
        'rank': 'int | None',
        'score': 'float | None',
        'last_score': 'float | None',
        'ranks': 'dict[str, Any]',
        'conditions': 'list[str]',
        'superseded_by': 'str | None',
        'explain': 'ExplanationReply | None',
    },
)
"The reason why a memory of `explain_ids` is a hit or none."

ReceiptHitReply = TypedDict(
    'ReceiptHitReply',
    {
        'rank': 'int',
        'id': 'str',
        'version': 'int',
        'score': 'float',
        'ranks': 'dict[str, Any]',
    },
)
"A hit of the recorded search, in its version then. `rank` counts from 1; `ranks` has its rank in each ranking."

ReceiptReply = TypedDict(
    'ReceiptReply',
    {
        'id': 'str',
        'space': 'str',
        'made_at': 'str',
        'actor': 'str',
        'parameters': 'dict[str, Any]',
        'reference_time': 'str',
        'generation': 'str | None',
        'seq': 'str',
        'total': 'int',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
        'strategy': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
        'degraded': 'list[str]',
        'hits': 'list[ReceiptHitReply]',
    },
)
"A recorded search: its request, the state of the space, and its hits."

ReceiptsReply = TypedDict(
    'ReceiptsReply',
    {
        'items': 'list[ListedReceiptReply]',
        'next_cursor': 'str | None',
    },
)
"Receipts, newest first."

RecencyBody = TypedDict(
    'RecencyBody',
    {
        'weight': NotRequired['float'],
        'function': NotRequired["Literal['exponential', 'half_life', 'linear']"],
        'half_life_days': NotRequired['float'],
        'lambda': NotRequired['float'],
        'grace_days': NotRequired['float'],
    },
)
"Penalty of age: the score is multiplied by 1 - weight * (1 - decay). `half_life_days` is for the function half_life, `lambda` (per day) for exponential and linear. No age is counted for the first `grace_days`."

RedeliverBody = TypedDict(
    'RedeliverBody',
    {
        'since': NotRequired['int | None'],
    },
)
"Point after which to send changes again."

RelationBody = TypedDict(
    'RelationBody',
    {
        'subject': 'str',
        'kind': "Literal['prefers', 'likes', 'dislikes', 'avoids', 'allergic_to', 'uses', 'owns', 'made', 'plans', 'attended', 'visited', 'lives_in', 'comes_from', 'works_at', 'is', 'kin', 'spouse', 'knows', 'located_in', 'based_in', 'killed']",
        'object': NotRequired['str | None'],
        'literal': NotRequired['str | None'],
        'negative': NotRequired['bool'],
        'content': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
        'category': NotRequired['str | None'],
    },
)
"A relation that somebody states. Give `object`, a name, or `literal`, words."

RelationPatch = TypedDict(
    'RelationPatch',
    {
        'subject': NotRequired['str | None'],
        'kind': NotRequired["Literal['prefers', 'likes', 'dislikes', 'avoids', 'allergic_to', 'uses', 'owns', 'made', 'plans', 'attended', 'visited', 'lives_in', 'comes_from', 'works_at', 'is', 'kin', 'spouse', 'knows', 'located_in', 'based_in', 'killed'] | None"],
        'object': NotRequired['str | None'],
        'literal': NotRequired['str | None'],
        'negative': NotRequired['bool | None'],
        'content': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
    },
)
"Changes of a relation that somebody has stated. A field that is left out stays as it is."

RelationReply = TypedDict(
    'RelationReply',
    {
        'subject': 'EndReply',
        'kind': "Literal['prefers', 'likes', 'dislikes', 'avoids', 'allergic_to', 'uses', 'owns', 'made', 'plans', 'attended', 'visited', 'lives_in', 'comes_from', 'works_at', 'is', 'kin', 'spouse', 'knows', 'located_in', 'based_in', 'killed']",
        'object': 'EndReply | None',
        'literal': 'str | None',
        'negative': 'bool',
        'confidence': 'float',
        'source': "Literal['text', 'manual']",
        'memory': 'str',
        'version': 'int',
        'evidence': 'str',
        'start': 'int',
        'stop': 'int',
        'valid_from': 'str',
        'valid_to': 'str | None',
        'closed_by': 'str | None',
        'author': 'str | None',
    },
)
"A relation that a memory states: its ends, its evidence, and how long it holds. `evidence` is the part of the memory from `start` to `stop`. `closed_by` is the memory of a later relation that ended it."

RelationsReply = TypedDict(
    'RelationsReply',
    {
        'items': 'list[RelationReply]',
        'more': 'bool',
        'pending': 'int',
        'seq': 'str',
    },
)
"Relations that match, those of the latest versions first. With `more` there are others."

ReplayReply = TypedDict(
    'ReplayReply',
    {
        'same': 'bool',
        'differences': 'list[MovedReply]',
        'answer': NotRequired['SearchReply'],
        'context': NotRequired['ContextReply'],
        'at': 'str',
    },
)
"The search or context made again, and its differences from the receipt: first memories of the receipt."

ReportReply = TypedDict(
    'ReportReply',
    {
        'id': 'str',
        'space': 'str',
        'what': 'dict[str, Any]',
        'by': 'str',
        'began_at': 'str',
        'ended_at': 'str',
        'engine': 'str',
        'seq': 'str | None',
        'erased': 'dict[str, Any]',
        'found': 'dict[str, Any]',
        'complete': 'bool',
        'unchecked': 'dict[str, Any]',
        'relatives': 'list[str]',
        'format': NotRequired["Literal['muisti-erasure/1']"],
    },
)
"Report of an erasure: the erased rows, and the rows that a search of every place still found."

ResourceReply = TypedDict(
    'ResourceReply',
    {
        'resource': 'str',
        'authorization_servers': 'list[str]',
        'scopes_supported': 'list[str]',
        'bearer_methods_supported': 'list[str]',
        'resource_name': NotRequired['str'],
    },
)
"Metadata of this server as a protected resource (RFC 9728)."

RestoreBody = TypedDict(
    'RestoreBody',
    {
        'version': NotRequired['int | None'],
    },
)
"Version to restore. The default is the last one of a deleted memory, else the one before the last."

ReviewReply = TypedDict(
    'ReviewReply',
    {
        'items': 'list[MemoryReply]',
        'before': 'dict[str, Any]',
        'after': 'dict[str, Any]',
        'more': 'bool',
        'seq': 'str',
    },
)
"The memories whose status changed, and how many memories there are of each before and after."

RollBackBody = TypedDict(
    'RollBackBody',
    {
        'to': 'str',
    },
)
"Point to roll back to."

RolledBackReply = TypedDict(
    'RolledBackReply',
    {
        'to': 'str',
        'before': 'str',
        'added': 'int',
        'changed': 'int',
        'ended': 'int',
        'flags': 'list[FlagReply]',
        'seq': 'str',
    },
)
"Result of a rollback: the space is as it was at `to`. A rollback to `before` undoes it."

RotateBody = TypedDict(
    'RotateBody',
    {
        'overlap_seconds': NotRequired['int'],
        'expires_at': NotRequired['str | None'],
    },
)
"Rotation of a key: the old one still works for `overlap_seconds`."

RunReply = TypedDict(
    'RunReply',
    {
        'at': 'str',
        'seq': 'str',
        'generation': 'str | None',
        'recall': 'float',
        'ranks': 'list[RankReply]',
    },
)
"Result of a run of all probes of a space."

RunsReply = TypedDict(
    'RunsReply',
    {
        'items': 'list[RunReply]',
        'next_cursor': NotRequired['None'],
    },
)
"The last runs, newest first."

SearchBody = TypedDict(
    'SearchBody',
    {
        'query': NotRequired['str'],
        'limit': NotRequired['int'],
        'mode': NotRequired["Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic'] | Literal['auto']"],
        'match': NotRequired["Literal['all', 'any', 'phrase']"],
        'filter': NotRequired['dict[str, Any] | None'],
        'fusion': NotRequired["Literal['absolute', 'convex', 'dbsf', 'rrf']"],
        'alpha': NotRequired['float | None'],
        'recency': NotRequired['RecencyBody | None'],
        'as_of': NotRequired['str | int | None'],
        'reference_time': NotRequired['str | None'],
        'min_evidence': NotRequired["Literal['strong', 'weak'] | None"],
        'trust_weight': NotRequired['float'],
        'second_query': NotRequired["Literal['mapped', 'off', 'transformer'] | None"],
        'explain': NotRequired['bool'],
        'highlight': NotRequired['bool'],
        'no_touch': NotRequired['bool'],
        'similar_to': NotRequired['str | None'],
        'group_by': NotRequired['str | None'],
        'diversity': NotRequired['float'],
        'context_window': NotRequired['int'],
        'min_score': NotRequired['float'],
        'fallback_to_keyword': NotRequired['bool'],
        'signals': NotRequired['SignalsBody | None'],
        'preset': NotRequired["Literal['balanced', 'embedding-focused', 'similarity-only', 'tag-focused'] | None"],
        'boost_tags': NotRequired['dict[str, Any]'],
        'tag_rule': NotRequired["Literal['average', 'max', 'sum']"],
        'rankings': NotRequired['RankingsBody | None'],
        'instructions': NotRequired['int'],
        'intent': NotRequired['bool'],
        'receipt': NotRequired['bool'],
        'explain_ids': NotRequired['list[str]'],
    },
)
"A search."

SearchReply = TypedDict(
    'SearchReply',
    {
        'hits': 'list[HitReply]',
        'total': 'int',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
        'strength': 'float',
        'thresholds': 'ThresholdsReply | None',
        'strategy': "Literal['hybrid', 'keyword', 'metadata', 'recent', 'semantic']",
        'degraded': 'list[str]',
        'seq': 'str',
        'receipt': NotRequired['str'],
        'intent': NotRequired['IntentReply'],
        'instructions': NotRequired['list[InstructionReply]'],
        'evidence_reason': NotRequired['str'],
        'explained': NotRequired['list[ReasonedReply]'],
    },
)
"Hits, best first."

SectionBody = TypedDict(
    'SectionBody',
    {
        'max_tokens': NotRequired['int | None'],
        'turns': NotRequired['int'],
    },
)
"A section of a context. Room that it does not use goes to the sections after it, and to `memories` last."

SectionReply = TypedDict(
    'SectionReply',
    {
        'name': "Literal['profile', 'instructions', 'recent', 'summaries', 'about', 'facts', 'documents', 'memories']",
        'tokens': 'int',
        'memories': 'int',
        'note': NotRequired['str'],
    },
)
"A section, with its tokens and the number of memories in it. `note` says why it is empty."

ServerStatsReply = TypedDict(
    'ServerStatsReply',
    {
        'workers': 'int',
        'memory_bytes': 'int',
        'uptime_seconds': 'float',
        'operations': 'list[LatencyReply]',
    },
)
"Statistics of all workers of a server since their start; the most frequent operations first."

SessionBody = TypedDict(
    'SessionBody',
    {
        'name': NotRequired['str | None'],
        'title': NotRequired['str | None'],
        'users': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
        'category': NotRequired['str | None'],
    },
)
"A session to make. Without a name it gets one."

SessionPatch = TypedDict(
    'SessionPatch',
    {
        'title': NotRequired['str'],
        'users': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
        'state': NotRequired["Literal['open', 'closed']"],
    },
)
"Changes to a session: what is absent stays."

SessionReply = TypedDict(
    'SessionReply',
    {
        'id': 'str',
        'version': 'int',
        'name': 'str',
        'title': 'str',
        'state': "Literal['open', 'closed']",
        'category': 'str | None',
        'metadata': 'dict[str, Any]',
        'tags': 'list[str]',
        'created_at': 'str',
        'updated_at': 'str',
        'closed_at': 'str | None',
        'turns': 'int',
        'tokens': 'int',
        'first_at': 'str | None',
        'last_at': 'str | None',
        'users': 'list[str]',
        'conversations': 'int',
    },
)
"A session, with the sizes of its conversations."

SessionsReply = TypedDict(
    'SessionsReply',
    {
        'items': 'list[SessionReply]',
        'total': 'int',
        'next_cursor': 'str | None',
    },
)
"Sessions."

ShiftReply = TypedDict(
    'ShiftReply',
    {
        'id': 'str',
        'query': 'str',
        'before': 'int | None',
        'after': 'int | None',
    },
)
"A probe whose expected memory would get another rank."

SignalReply = TypedDict(
    'SignalReply',
    {
        'score': 'float',
        'weight': 'float',
        'contribution': 'float',
    },
)
"A signal of a score. `contribution` is a factor of it, or with a preset a summand of `composite`."

SignalsBody = TypedDict(
    'SignalsBody',
    {
        'tag': NotRequired['float'],
        'position': NotRequired['float'],
        'recency': NotRequired['float'],
    },
)
"Weights of signals: each multiplies a score by 1 - weight * (1 - signal). `recency` is that of `recency`."

SigningKeysReply = TypedDict(
    'SigningKeysReply',
    {
        'keys': 'list[dict[str, Any]]',
    },
)
"A set of keys (RFC 7517): every public key that reports were ever signed with here."

SpaceBody = TypedDict(
    'SpaceBody',
    {
        'name': 'str',
        'description': NotRequired['str | None'],
        'settings': NotRequired['SpaceSettingsBody'],
    },
)
"A space to create. Its description is fixed, as its settings are."

SpaceReadReply = TypedDict(
    'SpaceReadReply',
    {
        'name': 'str',
        'weight': 'float',
        'seq': 'str',
        'evidence': "Literal['none', 'strong', 'uncalibrated', 'weak']",
    },
)
"A space that was read: the weight of its scores, the point in its history, and whether it has evidence."

SpaceReply = TypedDict(
    'SpaceReply',
    {
        'name': 'str',
        'epoch': 'str',
        'seq': 'str',
        'created_at': 'str',
        'settings': 'SpaceSettingsReply',
        'policy': 'PolicyReply',
        'generation': 'str | None',
        'description': 'str | None',
    },
)
"A space. `generation` is the model that embedded it, null before the first vector."

SpaceSettingsBody = TypedDict(
    'SpaceSettingsBody',
    {
        'lexical_weights': NotRequired['dict[str, Any]'],
        'embedded_fields': NotRequired["list[Literal['author', 'category', 'content', 'key', 'reason', 'tags']]"],
    },
)
"Settings that are fixed at creation: the weight of each field in the keyword index, and the embedded fields."

SpaceSettingsReply = TypedDict(
    'SpaceSettingsReply',
    {
        'lexical_weights': 'dict[str, Any]',
        'embedded_fields': 'list[str]',
    },
)
"Settings that were fixed when the space was created."

SpaceUseReply = TypedDict(
    'SpaceUseReply',
    {
        'memories': 'int',
        'bytes': 'int',
        'last_change_at': 'str | None',
    },
)
"The size of a space, as its quota counts it."

SpacesReply = TypedDict(
    'SpacesReply',
    {
        'items': 'list[ListedSpaceReply]',
        'next_cursor': NotRequired['None'],
    },
)
"All spaces, by name."

SplitTopicBody = TypedDict(
    'SplitTopicBody',
    {
        'turn': 'int',
        'title': NotRequired['str | None'],
    },
)
"Where a topic is split. The later part gets `title`, or one made from its words."

StatsReply = TypedDict(
    'StatsReply',
    {
        'memories': 'int',
        'versions': 'int',
        'passages': 'int',
        'tokens': 'int',
        'content_bytes': 'int',
        'expired': 'int',
        'changes': 'int',
        'changes_last_day': 'int',
        'by': 'dict[str, Any]',
        'last_change_at': 'str | None',
        'quota': 'QuotaReply | None',
        'embedding_cache': 'CacheReply | None',
        'seq': 'str',
    },
)
"Sizes of a space. `by` counts current memories by kind, type, status and importance; bytes are of content. `quota` is of the whole space, null for a key of one category."

StepReply = TypedDict(
    'StepReply',
    {
        'source': 'EndReply',
        'target': 'EndReply',
        'kinds': "list[Literal['prefers', 'likes', 'dislikes', 'avoids', 'allergic_to', 'uses', 'owns', 'made', 'plans', 'attended', 'visited', 'lives_in', 'comes_from', 'works_at', 'is', 'kin', 'spouse', 'knows', 'located_in', 'based_in', 'killed', 'mentioned_with']]",
        'memories': 'list[str]',
    },
)
"A tie of a path, and some memories that state it."

StreamedReply = TypedDict(
    'StreamedReply',
    {
        'conversation': 'str',
        'session': 'str | None',
        'category': 'str | None',
        'items': 'list[ArrivedReply]',
        'created': 'int',
        'next_turn': 'int',
        'flags': 'list[FlagReply]',
    },
)
"Turns that came in, in the order of the request."

StretchReply = TypedDict(
    'StretchReply',
    {
        'start': 'int',
        'stop': 'int',
    },
)
"A stretch of a text, in characters."

SuggestionReply = TypedDict(
    'SuggestionReply',
    {
        'turn': 'int',
        'status': "Literal['created', 'duplicate', 'failed']",
        'memory': NotRequired['MemoryReply'],
        'problem': NotRequired['Problem'],
    },
)
"A preference that a turn states. `memory` is there when it was stored, `problem` when it was not."

SuggestionsReply = TypedDict(
    'SuggestionsReply',
    {
        'items': 'list[SuggestionReply]',
        'created': 'int',
        'duplicates': 'int',
        'failed': 'int',
        'flags': 'list[FlagReply]',
        'next_turn': 'int | None',
    },
)
"Preferences that users state, each stored as a candidate, or the reason why it was not."

SummariesReply = TypedDict(
    'SummariesReply',
    {
        'items': 'list[SummaryReply]',
    },
)
"Summaries: those of topics in the order of their turns, that of the conversation last."

SummariseBody = TypedDict(
    'SummariseBody',
    {
        'method': NotRequired["Literal['extractive', 'abstractive']"],
        'category': NotRequired['str | None'],
    },
)
"Method of summarising. `abstractive` asks the language model of the operator; without one it is `extractive`."

SummaryReply = TypedDict(
    'SummaryReply',
    {
        'id': 'str',
        'of': "Literal['exchange', 'topic', 'conversation', 'session']",
        'text': 'str',
        'tokens': 'int',
        'method': 'str',
        'session': 'str | None',
        'conversation': 'str | None',
        'topic': 'str | None',
        'turn': 'int | None',
        'up_to': 'int | None',
        'stale': 'bool',
        'sources': 'list[str]',
        'made_at': 'str',
    },
)
"A summary, and what it is about. It is derived from `sources`, and erased with any of them."

SupersedeBody = TypedDict(
    'SupersedeBody',
    {
        'content': 'str',
        'kind': NotRequired["Literal['memory', 'chunk', 'exchange']"],
        'type': NotRequired["Literal['fact', 'preference', 'procedure', 'guard', 'observation']"],
        'status': NotRequired["Literal['active', 'candidate', 'superseded', 'deprecated']"],
        'importance': NotRequired["Literal['low', 'medium', 'high', 'critical']"],
        'author': NotRequired['str | None'],
        'reason': NotRequired['str | None'],
        'source': NotRequired['str | None'],
        'tags': NotRequired['list[str]'],
        'metadata': NotRequired['dict[str, Any]'],
        'event_at': NotRequired['str | None'],
        'valid_from': NotRequired['str | None'],
        'valid_to': NotRequired['str | None'],
        'expires_at': NotRequired['str | None'],
        'ttl': NotRequired['int | None'],
        'parent_id': NotRequired['str | None'],
        'source_class': NotRequired["Literal['user', 'tool', 'model', 'unknown', 'web']"],
        'derived_from': NotRequired['list[str]'],
        'category': NotRequired['str | None'],
        'key': NotRequired['str | None'],
    },
)
"The memory that replaces another; without category and key it takes over those of the other."

SurroundingsReply = TypedDict(
    'SurroundingsReply',
    {
        'before': 'list[MemoryReply]',
        'after': 'list[MemoryReply]',
        'start': 'int',
        'stop': 'int',
    },
)
"Memories before and after a hit in its dialogue, oldest first, and the stretch of passages around its own."

SwitchBody = TypedDict(
    'SwitchBody',
    {
        'force': NotRequired['bool'],
    },
)
"Conditions of exchanging the model of a space."

SymbolMatchReply = TypedDict(
    'SymbolMatchReply',
    {
        'name': 'str',
        'above': 'float',
    },
)
"The symbol that the query names and the chunk defines: its score becomes above + (1 - above) * score."

SymbolReply = TypedDict(
    'SymbolReply',
    {
        'name': 'str',
        'qualified': 'str',
        'kind': "Literal['function', 'method', 'class', 'interface', 'type', 'constant', 'object']",
        'path': 'str',
        'document': 'str',
        'language': 'str',
        'start': 'int',
        'end': 'int',
        'signature': 'str',
        'doc': 'str',
        'category': 'str | None',
    },
)
"A definition in a source file. Lines count from 1."

SymbolsReply = TypedDict(
    'SymbolsReply',
    {
        'items': 'list[SymbolReply]',
        'total': 'int',
        'pending': 'int',
        'degraded': 'list[str]',
        'seq': 'str',
    },
)
"Symbols that were found, the best first; `total` counts them before the limit."

SyncBody = TypedDict(
    'SyncBody',
    {
        'files': 'list[ListedFile]',
        'folder': NotRequired['str'],
        'category': NotRequired['str | None'],
    },
)
"All files that exist below a folder. Documents of that folder without a file end, or move to a new file."

SyncReply = TypedDict(
    'SyncReply',
    {
        'wanted': 'list[str]',
        'ended': 'list[str]',
        'moved': 'list[MoveReply]',
        'unchanged': 'int',
        'chunks_ended': 'int',
    },
)
"Documents that ended, moved or stayed. Send the files in `wanted` next."

TaskItemReply = TypedDict(
    'TaskItemReply',
    {
        'number': 'int',
        'name': 'str',
        'state': "Literal['waiting', 'working', 'done', 'failed', 'skipped', 'cancelled']",
        'attempts': 'int',
        'error': NotRequired['ErrorReply'],
    },
)
"An item of a task, such as one file."

TaskItemsReply = TypedDict(
    'TaskItemsReply',
    {
        'items': 'list[TaskItemReply]',
        'next_cursor': 'str | None',
    },
)
"A page of the items of a task, in their order."

TaskReply = TypedDict(
    'TaskReply',
    {
        'id': 'str',
        'kind': 'str',
        'state': "Literal['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled']",
        'space': 'str',
        'actor': 'str',
        'asked': 'Any',
        'total': 'int | None',
        'done': 'int',
        'failed': 'int',
        'skipped': 'int',
        'rate': 'float | None',
        'seconds_left': 'float | None',
        'attempts': 'int',
        'revision': 'int',
        'created_at': 'str',
        'started_at': 'str | None',
        'ended_at': 'str | None',
        'expires_at': 'str | None',
        'result': NotRequired['Any'],
        'error': NotRequired['ErrorReply'],
        'obstacle': NotRequired['ErrorReply'],
    },
)
"A task: what it does, how far it is, and how it ended. What a cancelled task has stored stays."

TasksReply = TypedDict(
    'TasksReply',
    {
        'items': 'list[TaskReply]',
        'next_cursor': 'str | None',
    },
)
"A page of tasks, newest first."

TelemetryReply = TypedDict(
    'TelemetryReply',
    {
        'memory_id': 'str',
        'retrieval_count': 'int',
        'last_retrieved_at': 'str | None',
        'useful': 'int',
        'not_useful': 'int',
        'feedback': "Literal['not_useful', 'useful'] | None",
    },
)
"Use of a memory. Retrievals are counted in batches, and may lag by some seconds; verdicts never do."

ThresholdsReply = TypedDict(
    'ThresholdsReply',
    {
        'weak': 'float',
        'strong': 'float',
    },
)
"The values of `strength` at which `evidence` becomes weak, and strong."

TopicBody = TypedDict(
    'TopicBody',
    {
        'name': NotRequired['str | None'],
        'title': NotRequired['str | None'],
        'spans': NotRequired['list[list[int]]'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
    },
)
"A topic to make: stretches of turns of the conversation. Without a name it gets one, such as `t1`."

TopicPatch = TypedDict(
    'TopicPatch',
    {
        'title': NotRequired['str'],
        'spans': NotRequired['list[list[int]]'],
        'metadata': NotRequired['dict[str, Any]'],
        'tags': NotRequired['list[str]'],
        'state': NotRequired["Literal['open', 'closed']"],
    },
)
"Changes to a topic: what is absent stays."

TopicReply = TypedDict(
    'TopicReply',
    {
        'id': 'str',
        'version': 'int',
        'name': 'str',
        'title': 'str',
        'state': "Literal['open', 'closed']",
        'category': 'str | None',
        'metadata': 'dict[str, Any]',
        'tags': 'list[str]',
        'created_at': 'str',
        'updated_at': 'str',
        'closed_at': 'str | None',
        'turns': 'int',
        'tokens': 'int',
        'first_at': 'str | None',
        'last_at': 'str | None',
        'conversation': 'str',
        'spans': 'list[list[int]]',
    },
)
"A topic of a conversation: stretches of its turns."

TopicsReply = TypedDict(
    'TopicsReply',
    {
        'items': 'list[TopicReply]',
        'total': 'int',
        'next_cursor': 'str | None',
    },
)
"Topics of a conversation."

TypeSuggestionReply = TypedDict(
    'TypeSuggestionReply',
    {
        'id': 'str',
        'type': "Literal['fact', 'preference', 'procedure', 'guard', 'observation']",
        'scope': 'StretchReply | None',
    },
)
"A type that would suit a memory: its content reads like a standing instruction. Nothing was changed."

UndoBody = TypedDict(
    'UndoBody',
    {
        'last': NotRequired['int'],
        'author': NotRequired['str | None'],
        'request': NotRequired['str | None'],
    },
)
"Changes to undo: those of a request, of an author's memories, or, without both, of your own last request."

UndoReply = TypedDict(
    'UndoReply',
    {
        'undone': 'str',
        'items': 'list[MemoryReply]',
        'ended': 'list[str]',
        'flags': 'list[FlagReply]',
        'seq': 'str',
    },
)
"The memories whose changes were undone, in their current versions; `ended` are those that undo deleted."

UseReply = TypedDict(
    'UseReply',
    {
        'kind': "Literal['calls', 'inherits', 'imports', 'references']",
        'symbol': 'SymbolReply | None',
        'path': 'str',
        'used_in': 'str',
        'lines': 'list[int]',
        'certainty': "Literal['certain', 'probable']",
        'of': 'str',
    },
)
"A use of a symbol: the symbol on the other side, or the file that uses at its top level."

UsesReply = TypedDict(
    'UsesReply',
    {
        'symbols': 'list[SymbolReply]',
        'items': 'list[UseReply]',
        'total': 'int',
        'pending': 'int',
        'degraded': 'list[str]',
        'seq': 'str',
    },
)
"Uses of or by `symbols`, all that have the name that was asked about."

VersionReply = TypedDict(
    'VersionReply',
    {
        'memory': 'MemoryReply',
        'born': 'int',
        'died': 'int | None',
        'born_at': 'str',
        'died_at': 'str | None',
        'changes': 'list[FieldChangeReply]',
    },
)
"A version of a memory, valid from `born_at` until `died_at`, which is null for the current version."

WebhookBody = TypedDict(
    'WebhookBody',
    {
        'url': 'str',
        'changes': NotRequired["list[Literal['created', 'updated', 'superseded', 'restored', 'deleted', 'undone', 'expired', 'reembedded', 'rolled_back', 'merged', 'forked']]"],
        'show': NotRequired["Literal['ids', 'after', 'both']"],
    },
)
"URL to call, and the changes to send there."

WebhookReply = TypedDict(
    'WebhookReply',
    {
        'id': 'str',
        'url': 'str',
        'changes': "list[Literal['created', 'updated', 'superseded', 'restored', 'deleted', 'undone', 'expired', 'reembedded', 'rolled_back', 'merged', 'forked']]",
        'show': "Literal['ids', 'after', 'both']",
        'made_at': 'str',
        'actor': 'str',
        'state': "Literal['ok', 'retrying', 'gone']",
        'seq': 'str',
        'attempts': 'int',
        'error': 'str | None',
        'told_at': 'str | None',
        'dead_letters': 'list[DeadLetterReply]',
        'secret': NotRequired['str'],
    },
)
"A webhook, its last change sent, and the changes that failed. `secret` is shown once, at creation."

WebhooksReply = TypedDict(
    'WebhooksReply',
    {
        'items': 'list[WebhookReply]',
        'next_cursor': NotRequired['None'],
    },
)
"The webhooks of a space."

WorkingEntryBody = TypedDict(
    'WorkingEntryBody',
    {
        'memory_id': NotRequired['str | None'],
        'content': NotRequired['str | None'],
        'tokens': NotRequired['int | None'],
        'pinned': NotRequired['bool'],
        'priority': NotRequired['int'],
        'ttl_seconds': NotRequired['int | None'],
    },
)
"Entry to keep: a memory, a text, or a number of tokens that stay free. Exactly one of them."

WorkingEntryReply = TypedDict(
    'WorkingEntryReply',
    {
        'key': 'str',
        'memory_id': 'str | None',
        'content': 'str | None',
        'tokens': 'int | None',
        'pinned': 'bool',
        'priority': 'int',
        'expires_at': 'str | None',
    },
)
"Entry that is kept at a key."

WorkingReply = TypedDict(
    'WorkingReply',
    {
        'token_budget': 'int',
        'encoding': "Literal['cl100k_base', 'o200k_base']",
        'text': 'str',
        'tokens': 'int',
        'reserved': 'int',
        'free': 'int',
        'held': 'list[HeldReply]',
        'evicted': 'list[HeldReply]',
    },
)
"The working memory of a conversation. `tokens` and `reserved` are together at most `token_budget`."

WrittenReply = TypedDict(
    'WrittenReply',
    {
        'id': 'str',
        'space': 'str',
        'version': 'int',
        'kind': "Literal['memory', 'chunk', 'exchange', 'session', 'conversation', 'topic', 'summary', 'document', 'entity', 'relation']",
        'category': 'str | None',
        'key': 'str | None',
        'content': 'str',
        'type': "Literal['fact', 'preference', 'procedure', 'guard', 'observation']",
        'status': "Literal['active', 'candidate', 'superseded', 'deprecated']",
        'importance': "Literal['low', 'medium', 'high', 'critical']",
        'author': 'str | None',
        'reason': 'str | None',
        'source': 'str | None',
        'tags': 'list[str]',
        'metadata': 'dict[str, Any]',
        'event_at': 'str | None',
        'valid_from': 'str | None',
        'valid_to': 'str | None',
        'created_at': 'str',
        'updated_at': 'str',
        'expires_at': 'str | None',
        'supersedes': 'str | None',
        'superseded_by': 'str | None',
        'parent_id': 'str | None',
        'source_class': "Literal['user', 'tool', 'model', 'unknown', 'web']",
        'derived_from': 'list[str]',
        'trust': 'int',
        'tokens': 'int',
        'session': 'str | None',
        'conversation': 'str | None',
        'topic': 'str | None',
        'turn': 'int | None',
        'document': 'str | None',
        'position': 'int | None',
        'structure': 'dict[str, Any]',
        'flags': 'list[FlagReply]',
        'degraded': NotRequired['list[str]'],
        'suggestions': NotRequired['list[TypeSuggestionReply]'],
    },
)
"The memory that a write made or changed, with flags for differences from the request."
