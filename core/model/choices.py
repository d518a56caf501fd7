"""Enumerated values of requests, and limits of their size. Imports only `typing`, to keep the command line fast."""

from typing import Literal, get_args

# Words and limits of questions to the knowledge graph. Imports only `typing`, to keep the command line fast

RelationKind = Literal[
    "prefers",
    "likes",
    "dislikes",
    "avoids",
    "allergic_to",
    "uses",
    "owns",
    "made",
    "plans",
    "attended",
    "visited",
    "lives_in",
    "comes_from",
    "works_at",
    "is",  # an occupation, or a way to live, such as "vegan"
    "kin",
    "spouse",
    "knows",
    "located_in",
    "based_in",
    "killed",
]
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
OWN_KIND = "[a-z][a-z0-9_]{0,39}"  # pattern of the kind of a stated relation: one of these, or a caller's own
FUNCTIONAL: frozenset[RelationKind] = frozenset({"lives_in", "works_at", "spouse"})
"""Kinds that have one object at a time, so a later relation ends an earlier one."""


EntityKind = Literal[
    "person", "organisation", "place", "work", "product", "event", "date", "identifier", "symbol", "title", "other"
]
ENTITY_KINDS: tuple[EntityKind, ...] = get_args(EntityKind)
NodeKind = EntityKind | Literal["text"]
Tie = Literal["mentioned_with"]  # of two entities that one memory mentions
BY_MEMORY: Tie = "mentioned_with"
TIE_KINDS: tuple[str, ...] = (*RELATION_KINDS, BY_MEMORY)

MentionSource = Literal["recogniser", "endpoint", "rule", "speaker", "known", "manual"]
MENTION_SOURCES: tuple[MentionSource, ...] = get_args(MentionSource)
RelationSource = Literal["text", "manual"]
AliasSource = Literal["spelling", "acronym", "name_part", "manual"]
ProposalReason = Literal["spelling", "prefix", "name_part", "acronym"]
EntitySort = Literal["-mentions", "name"]
ENTITY_SORTS: tuple[EntitySort, ...] = get_args(EntitySort)
NeighbourSort = Literal["-association", "-weight"]
NEIGHBOUR_SORTS: tuple[NeighbourSort, ...] = get_args(NeighbourSort)

ME = "user"  # name of the speaker of a memory without an author
NAME_CHARACTERS = 200  # of a name of an entity
ALIASES_MAX = 100  # of an entity that a person has stated
ENTITIES_MAX = 1_000  # in one answer
FACTS_MAX = 1_000
DEPTH_MAX = 3
LEVEL_MAX = 2_000  # entities of a level that are followed
FREQUENT = 1_000  # memories that mention an entity, after which they are not counted further
PLACED_MAX = 2_000  # memories of a map
PATH_MAX = 6  # ties of a path
COMMUNITIES_MAX = 200  # in one answer
TELLING_MAX = 10  # entities that say what a community is about


Outcome = Literal["decided", "tried", "failed", "rejected"]  # of work; the memory's `reason` says why
Type = Literal["fact", "preference", "procedure", "guard", "observation", Outcome]
TYPES: tuple[Type, ...] = get_args(Type)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Status = Literal["active", "candidate", "superseded", "deprecated"]
Importance = Literal["low", "medium", "high", "critical"]
OnConflict = Literal["reject", "keep", "review", "supersede"]
Decision = Literal["keep", "supersede", "reject"]  # on a conflict that was stored for review
Screening = Literal["refuse", "redact", "allow"]  # of text that looks like a secret or like personal data
Echoes = Literal["refuse", "flag", "allow"]  # of memories that repeat what their author has just retrieved
GraphSwitch = Literal["on", "off"]  # whether the knowledge graph of a space is read
SourceClass = Literal["user", "tool", "model", "unknown", "web"]  # the most trusted first
APPLIES = 0.5  # the probability from which a hit is shown by default
LIMIT_MAX = 100  # hits of a search, items of a list
Scope = Literal["read", "append", "write", "delete", "admin"]
Mode = Literal["hybrid", "semantic", "keyword", "metadata", "recent"]
Match = Literal["any", "all", "phrase"]
Verdict = Literal["useful", "not_useful"]  # of a caller on a memory
Fusion = Literal["absolute", "convex", "rrf", "dbsf"]
IntentKind = Literal["metadata", "tags", "keyword", "semantic", "similar-to", "hybrid"]
Preset = Literal["balanced", "embedding-focused", "tag-focused", "similarity-only"]  # additive composites of a score
Beside = Literal["graph"]  # rankings that a search may add to those of its mode
SecondQuery = Literal["mapped", "transformer", "off"]  # ways to make the vector of a query for a second model
Signal = Literal["similarity", "tag", "recency", "position"]  # parts of a composite score
TagRule = Literal["max", "average", "sum"]  # of the scores of a memory's tags; sum is at most 1
Check = Literal["secret", "contradiction", "duplicate", "orphaned", "oversized", "stale", "never_recalled"]  # of lint
CHECKS: tuple[Check, ...] = get_args(Check)
Evidence = Literal["strong", "weak", "none", "uncalibrated"]  # for what a query asks
ChangeKind = Literal[
    "created",
    "updated",
    "superseded",
    "restored",
    "deleted",
    "undone",
    "expired",
    "reembedded",
    "rolled_back",
    "merged",
    "forked",
]
Show = Literal["ids", "after", "both"]  # parts of a change: only ids; the memory after it; also the memory before it

CLEAR_PHRASE = "DELETE ALL MEMORIES"  # confirms that a space is cleared
SPACES_MAX = 20  # that one search names
CONTENT_MAX = 102_400  # characters
BATCH_MAX = 1_000  # memories in one batch
CONTEXT_MIN, CONTEXT_MAX = 32, 200_000  # tokens of a context
UNDO_MAX = 25_000  # changes of one request that are undone together; a statement of SQL takes 32,766 values
OFF = "off"  # second model of a space that has none
INSTRUCTIONS_MAX = 5  # standing instructions beside the hits of a search
HALF_LIFE_DAYS = 30.0  # default half-life of recency
HALF_LIFE_MIN = 1e-6  # days
SIMILARITY_MIN = 0.6  # cosine below which two memories are not compared

PROMOTE_RETRIEVALS = 5  # retrievals with which a candidate becomes active
PRUNE_RETRIEVALS = 3  # an old candidate with fewer retrievals is deprecated
PRUNE_DAYS = 14.0  # days after which a candidate is old
Sort = Literal["-created_at", "created_at", "-updated_at", "updated_at"]  # of a list; `-`: the newest first
SORTS: tuple[Sort, ...] = get_args(Sort)
CHANGES_MAX = 1_000  # in one page of the change feed

EdgeKind = Literal["calls", "inherits", "imports", "references"]  # of uses of source code
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)
SymbolKind = Literal["function", "method", "class", "interface", "type", "constant", "object"]
SYMBOL_KINDS: tuple[SymbolKind, ...] = get_args(SymbolKind)
SYMBOLS_MAX = 200  # of source code in one answer
USES_MAX = 1_000
MAP_MIN, MAP_MAX = 64, 100_000  # tokens of a map
MENTIONED_MAX = 100  # files and symbols that a map is about
PruneStrategy = Literal["stale_code", "orphaned_chunks", "orphaned_entities", "all"]  # of documents
PRUNE_STRATEGIES: tuple[PruneStrategy, ...] = get_args(PruneStrategy)

TaskState = Literal["queued", "running", "succeeded", "partial", "failed", "cancelled"]
