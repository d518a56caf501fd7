-- The schema, in the dialect of SQLite 3.45. Times are microseconds since the Unix epoch, UTC.
-- Ids of memories are blobs; `id INTEGER` is the number of a row.

-- Spaces and models --------------------------------------------------------------------------------------------------

-- Models that have embedded a space.
CREATE TABLE generations (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    probes BLOB, -- first vectors of probe texts, little-endian float32: they recognise a model behind an endpoint
    seen_at INTEGER -- when the model last replaced another one
) STRICT;

-- Spaces. Each change of a space has a number, its seq.
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL DEFAULT 0, -- of the newest change
    created_at INTEGER NOT NULL,
    committed_at INTEGER NOT NULL, -- of the newest change
    settings TEXT NOT NULL,
    generation_id INTEGER REFERENCES generations (id),
    memories INTEGER NOT NULL DEFAULT 0, -- not deleted; those that have expired or are superseded count
    bytes INTEGER NOT NULL DEFAULT 0, -- of all versions that are not deleted
    kept_from INTEGER NOT NULL DEFAULT 0, -- the oldest change as of which the space can be shown
    policy TEXT NOT NULL DEFAULT '{}', -- JSON; missing fields have the values of the settings
    feedback INTEGER NOT NULL DEFAULT 0, -- number of the newest verdict
    shadow_generation_id INTEGER REFERENCES generations (id), -- embeds too, and can be exchanged with the model
    shadow_served INTEGER NOT NULL DEFAULT 0, -- 1 when the shadow was the model before
    embedded INTEGER NOT NULL DEFAULT 0, -- all current versions up to this change have vectors of the model
    second_generation_id INTEGER REFERENCES generations (id), -- embeds passages that the model has embedded
    second_embedded INTEGER NOT NULL DEFAULT 0, -- like `embedded`, for the second model
    objects INTEGER NOT NULL DEFAULT 0 -- sessions, conversations, topics, and statements on the graph
) STRICT;
CREATE TRIGGER spaces_model AFTER UPDATE OF generation_id ON spaces
WHEN NEW.generation_id IS NOT OLD.generation_id BEGIN
    UPDATE spaces SET embedded = 0 WHERE id = NEW.id;
END;
CREATE TRIGGER spaces_second AFTER UPDATE OF second_generation_id ON spaces
WHEN NEW.second_generation_id IS NOT OLD.second_generation_id BEGIN
    UPDATE spaces SET second_embedded = 0 WHERE id = NEW.id;
END;

-- Limits of spaces, by name: a space that is erased and created again keeps them. Null is the default of the settings.
CREATE TABLE quotas (
    space TEXT PRIMARY KEY,
    memories INTEGER,
    bytes INTEGER
) STRICT, WITHOUT ROWID;

-- Memories -----------------------------------------------------------------------------------------------------------

-- Versions of memories and of other objects, by `kind`. A memory is current when its newest version is open and not
-- superseded.
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    born INTEGER NOT NULL, -- the first change at which the version is open
    died INTEGER, -- the first change at which it no longer is; null while it is open
    kind TEXT NOT NULL,
    category TEXT,
    category_folded TEXT,
    key TEXT,
    content TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    importance INTEGER NOT NULL,
    author TEXT,
    author_folded TEXT,
    reason TEXT,
    source TEXT,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    event_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    supersedes BLOB,
    superseded_by BLOB,
    parent_id BLOB,
    tokens INTEGER NOT NULL,
    bytes INTEGER GENERATED ALWAYS AS ( -- size of the text that a caller stored, in UTF-8
        octet_length(content) + octet_length(tags) + octet_length(metadata) + coalesce(octet_length(category), 0)
        + coalesce(octet_length(key), 0) + coalesce(octet_length(author), 0) + coalesce(octet_length(reason), 0)
        + coalesce(octet_length(source), 0)
    ) VIRTUAL,
    source_class TEXT NOT NULL DEFAULT 'unknown',
    derived_from TEXT NOT NULL DEFAULT '[]', -- JSON array of ids
    trust INTEGER NOT NULL DEFAULT 50, -- percentage: of the class, or the lowest of the memories in `derived_from`
    checksum INTEGER, -- of the content (core/store/sql/version_rows.py)
    valid_from INTEGER, -- the content is true from here to `valid_to`; null where that end is open
    valid_to INTEGER,
    session TEXT, -- names that callers chose, as are `conversation` and `topic`
    conversation TEXT,
    topic TEXT,
    turn INTEGER, -- place of an exchange in its conversation
    structure TEXT NOT NULL DEFAULT '{}', -- JSON object that the service writes
    document TEXT, -- path or name of a document, on it and on each of its chunks
    position INTEGER, -- orders the chunks, with gaps, so that a further chunk changes no other
    place TEXT GENERATED ALWAYS AS ( -- of an object in its hierarchy, as `core.model.conversations` computes it
        CASE kind
            WHEN 'exchange' THEN 'exchange/' || conversation || char(31) || turn
            WHEN 'session' THEN 'session/' || session
            WHEN 'conversation' THEN 'conversation/' || conversation
            WHEN 'topic' THEN 'topic/' || conversation || char(31) || topic
            WHEN 'summary' THEN 'summary/' || coalesce(structure ->> '$.of', '') || char(31) || coalesce(session, '')
                || char(31) || coalesce(conversation, '') || char(31) || coalesce(topic, '') || char(31)
                || coalesce(turn, '')
            WHEN 'document' THEN 'document/' || document
            WHEN 'entity' THEN 'entity/' || (structure ->> '$.norm')
        END
    ) VIRTUAL,
    UNIQUE (memory_id, version)
) STRICT;
CREATE UNIQUE INDEX versions_living ON versions (memory_id) WHERE died IS NULL;
CREATE UNIQUE INDEX versions_address ON versions (space_id, category_folded, key)
    WHERE died IS NULL AND status <> 'superseded' AND key IS NOT NULL;
CREATE INDEX versions_text ON versions (space_id, content_hash) WHERE died IS NULL;
CREATE INDEX versions_newest ON versions (space_id, created_at, memory_id) WHERE died IS NULL;
CREATE INDEX versions_parent ON versions (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX versions_born ON versions (space_id, born);
CREATE INDEX versions_died ON versions (space_id, died) WHERE died IS NOT NULL;
CREATE INDEX versions_expiry ON versions (space_id, expires_at) WHERE died IS NULL AND expires_at IS NOT NULL;
CREATE INDEX versions_past_address ON versions (space_id, category_folded, key, died)
    WHERE died IS NOT NULL AND key IS NOT NULL;
CREATE INDEX versions_candidates ON versions (space_id, created_at) WHERE died IS NULL AND status = 'candidate';
CREATE INDEX versions_changed ON versions (space_id, updated_at, memory_id) WHERE died IS NULL;
CREATE INDEX versions_conversation ON versions (space_id, conversation, kind, turn) WHERE conversation IS NOT NULL;
CREATE INDEX versions_document ON versions (space_id, document, position) WHERE document IS NOT NULL;
-- A chunk's place in its document is the sum of the lengths of the chunks before it. The index has the characters and
-- line breaks of each, by the expressions of core/store/sql/chunks.py, so that the sum reads no texts.
CREATE INDEX versions_lengths ON versions (
    parent_id, space_id, position, born, died,
    length(substr(content, 1 + coalesce(structure ->> '$.overlap', 0))),
    length(replace(substr(content, 1 + coalesce(structure ->> '$.overlap', 0)), char(10), ''))
) WHERE kind = 'chunk' AND document IS NOT NULL;
-- One current memory at each place of each category, so that a key for one category has its own names.
CREATE UNIQUE INDEX versions_place ON versions (space_id, coalesce(category_folded, ''), place)
    WHERE died IS NULL AND status <> 'superseded' AND place IS NOT NULL;
-- Equalities and not `IN`, for which SQLite builds a table at each insert.
CREATE INDEX versions_structure ON versions (space_id, kind)
    WHERE (kind = 'session' OR kind = 'conversation' OR kind = 'topic' OR kind = 'summary' OR kind = 'document'
        OR kind = 'entity' OR kind = 'relation');
CREATE INDEX versions_derived ON versions (space_id) WHERE derived_from <> '[]';

-- Use and verdicts of a memory are deleted with its last version, whatever statement erases it.
CREATE TRIGGER versions_erased AFTER DELETE ON versions
WHEN NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = OLD.memory_id) BEGIN
    DELETE FROM retrievals WHERE space_id = OLD.space_id AND memory_id = OLD.memory_id;
END;
CREATE TRIGGER feedback_erased AFTER DELETE ON versions
WHEN NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = OLD.memory_id) BEGIN
    DELETE FROM feedback WHERE space_id = OLD.space_id AND memory_id = OLD.memory_id;
END;

-- The counters of a space are right whatever statement writes. Documents and summaries belong to what is counted. The
-- comparison with 'memory' comes first, so that a plain add makes few comparisons.
CREATE TRIGGER versions_come AFTER INSERT ON versions WHEN NEW.died IS NULL BEGIN
    UPDATE spaces SET memories = memories + (NEW.kind = 'memory' OR NEW.kind = 'exchange' OR NEW.kind = 'chunk'),
        objects = objects + (NEW.kind <> 'memory' AND (NEW.kind = 'session' OR NEW.kind = 'conversation'
            OR NEW.kind = 'topic' OR NEW.kind = 'entity' OR NEW.kind = 'relation')),
        bytes = bytes + NEW.bytes WHERE id = NEW.space_id;
END;
CREATE TRIGGER versions_die AFTER UPDATE OF died ON versions WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
    UPDATE spaces SET memories = memories - (OLD.kind = 'memory' OR OLD.kind = 'exchange' OR OLD.kind = 'chunk'),
        objects = objects - (OLD.kind <> 'memory' AND (OLD.kind = 'session' OR OLD.kind = 'conversation'
            OR OLD.kind = 'topic' OR OLD.kind = 'entity' OR OLD.kind = 'relation')),
        bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
CREATE TRIGGER versions_go AFTER DELETE ON versions WHEN OLD.died IS NULL BEGIN
    UPDATE spaces SET memories = memories - (OLD.kind = 'memory' OR OLD.kind = 'exchange' OR OLD.kind = 'chunk'),
        objects = objects - (OLD.kind <> 'memory' AND (OLD.kind = 'session' OR OLD.kind = 'conversation'
            OR OLD.kind = 'topic' OR OLD.kind = 'entity' OR OLD.kind = 'relation')),
        bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;

-- Tags of versions.
CREATE TABLE tags (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    tag TEXT NOT NULL, -- folded for comparison
    spelling TEXT NOT NULL, -- as the caller wrote it
    PRIMARY KEY (version_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (tag, version_id);

-- Scalars of versions.metadata, one for each row. The elements of an array share a path.
CREATE TABLE metadata (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    position INTEGER NOT NULL,
    type TEXT NOT NULL, -- text, number or boolean (0 or 1); null counts as missing
    value ANY NOT NULL,
    PRIMARY KEY (version_id, path, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_by_value ON metadata (path, type, value, version_id);

-- The search index ---------------------------------------------------------------------------------------------------

-- Passages of versions that are indexed.
CREATE TABLE passages (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    analyzer TEXT NOT NULL,
    terms BLOB NOT NULL, -- 8 bytes a term, little-endian: field << 56 | hash
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;

-- Vectors of passages, by model.
CREATE TABLE embeddings (
    version_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    generation_id INTEGER NOT NULL REFERENCES generations (id),
    vector BLOB NOT NULL,
    PRIMARY KEY (version_id, number, generation_id),
    FOREIGN KEY (version_id, number) REFERENCES passages (version_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Packed passages that the index of a space loads at its start. Passages that are missing here are read from the
-- versions. The segments of a generation follow each other without a gap.
CREATE TABLE segments (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    generation_id INTEGER NOT NULL, -- of its vectors, 0 without
    format INTEGER NOT NULL,
    first INTEGER NOT NULL, -- it has versions inserted after this change
    last INTEGER NOT NULL, -- and up to this one
    seen INTEGER NOT NULL, -- that were open at this one
    passages INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (space_id, generation_id, format, first)
) STRICT;

-- Sizes of memories and of their pieces in tokens, computed when a context first needs them.
CREATE TABLE pieces (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    encoding TEXT NOT NULL, -- of tokens; it also says the format of `data`
    data BLOB NOT NULL,
    PRIMARY KEY (version_id, encoding)
) STRICT, WITHOUT ROWID;

-- History ------------------------------------------------------------------------------------------------------------

-- Changes of spaces.
CREATE TABLE changes (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    memory_id BLOB,
    version INTEGER,
    committed_at INTEGER NOT NULL,
    actor TEXT, -- null where unknown
    request TEXT, -- X-Request-Id, null where unknown
    undone INTEGER, -- seq of the change that undid this one
    import_id INTEGER,
    PRIMARY KEY (space_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_time ON changes (space_id, committed_at);

-- Answers of writes by idempotency key, which a repeated request gets again.
CREATE TABLE requests (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    answer BLOB NOT NULL,
    seq TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_expiry ON requests (expires_at);

-- Named points of a space's history, which is kept from the oldest of them on.
CREATE TABLE checkpoints (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    note TEXT,
    PRIMARY KEY (space_id, name)
) STRICT, WITHOUT ROWID;

-- Plan of a bulk replace, empty before and after each batch.
CREATE TABLE turns (
    number INTEGER PRIMARY KEY,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL, -- the last one of the memory
    living INTEGER NOT NULL,
    source INTEGER -- row of the version whose content the memory gets; null when the memory ends
) STRICT;

-- Erased versions without their content, from which every index learns which rows to drop and which segments to pack.
CREATE TABLE erased (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, -- of the erasure
    version_id INTEGER NOT NULL,
    born INTEGER NOT NULL,
    PRIMARY KEY (space_id, seq, version_id)
) STRICT, WITHOUT ROWID;

-- Forks and imports --------------------------------------------------------------------------------------------------

-- Pairs of a space and the target that it is merged into. The history of the space is kept from `seq` on.
CREATE TABLE forks (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, -- the last merged change of the space
    forked INTEGER NOT NULL,
    PRIMARY KEY (space_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX forks_by_target ON forks (target_id);

-- Pairs of a memory of the space and its counterpart in the target.
CREATE TABLE twins (
    space_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    memory_id BLOB NOT NULL,
    twin_id BLOB NOT NULL,
    base INTEGER, -- row of the version that both had after the last fork or merge; null when there was none or it ended
    PRIMARY KEY (space_id, target_id, memory_id),
    FOREIGN KEY (space_id, target_id) REFERENCES forks (space_id, target_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX twins_by_twin ON twins (space_id, target_id, twin_id);

-- Imports of files. Lines are put into a staging space, and moved from there in one step or several.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    staging_id INTEGER, -- the staging space, whose name no caller can use
    moved INTEGER NOT NULL DEFAULT 0, -- the last change of the file that was moved
    base INTEGER, -- added to the change numbers of the file
    shift INTEGER, -- added to the row ids of staged versions
    first INTEGER, -- changes of the space, from `first` to `last`
    last INTEGER,
    memories INTEGER NOT NULL DEFAULT 0,
    source TEXT,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    undone INTEGER -- the changes after `base`, up to this one, have undone an import
) STRICT;
CREATE INDEX imports_by_space ON imports (space_id, id);

-- Conflicts ----------------------------------------------------------------------------------------------------------

-- Pairs of versions that are duplicates or contradict each other, both stored until a decision. A pair is open as long
-- as both memories still have these texts.
CREATE TABLE conflicts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    existing_row INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    new_row INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    similarity REAL,
    opened_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    UNIQUE (existing_row, new_row)
) STRICT;
CREATE INDEX conflicts_by_space ON conflicts (space_id, id);
CREATE INDEX conflicts_by_new ON conflicts (new_row);

-- Use and quality ----------------------------------------------------------------------------------------------------

-- Use of memories, kept apart, since it changes neither their versions nor the seq of a space.
CREATE TABLE retrievals (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX retrievals_by_time ON retrievals (space_id, last_at);

-- Verdicts of callers on memories, one for each caller, kept apart likewise.
CREATE TABLE feedback (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    actor TEXT NOT NULL,
    verdict INTEGER NOT NULL, -- 1 useful, -1 not useful, 0 withdrawn
    number INTEGER NOT NULL, -- counts the verdicts of a space, by which every index finds new ones
    given_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, memory_id, actor)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_number ON feedback (space_id, number);

-- Searches with a receipt: request and answer as JSON.
CREATE TABLE receipts (
    id BLOB PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    made_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    category TEXT, -- the only one that the caller could see
    seq INTEGER NOT NULL,
    generation TEXT,
    reference_time INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    answer TEXT NOT NULL
) STRICT;
CREATE INDEX receipts_by_space ON receipts (space_id, id);
CREATE INDEX receipts_by_age ON receipts (made_at);

-- Memories in the answers of receipts, so that the receipts of a memory can be found and erased.
CREATE TABLE receipt_hits (
    receipt_id BLOB NOT NULL REFERENCES receipts (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    score REAL NOT NULL,
    PRIMARY KEY (receipt_id, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_hits_by_memory ON receipt_hits (memory_id);

-- Questions with a known answer: a memory, or the memory at an address.
CREATE TABLE probes (
    id BLOB PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    query TEXT NOT NULL,
    memory_id BLOB,
    category TEXT,
    key TEXT,
    k INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    actor TEXT NOT NULL
) STRICT;
CREATE INDEX probes_by_space ON probes (space_id, id);
CREATE INDEX probes_by_memory ON probes (memory_id) WHERE memory_id IS NOT NULL;

-- Results of the newest runs of probes.
CREATE TABLE probe_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    generation TEXT,
    recall REAL NOT NULL,
    ranks TEXT NOT NULL -- JSON by the id of the probe, null where nothing was found
) STRICT;
CREATE INDEX probe_runs_by_space ON probe_runs (space_id, id);

-- Conversations ------------------------------------------------------------------------------------------------------

-- Entries of the working memory of conversations: memories, texts, reserved tokens. They have no history.
CREATE TABLE working (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    conversation_id BLOB NOT NULL, -- the memory that holds the conversation: another of the same name begins empty
    key TEXT NOT NULL,
    memory_id BLOB,
    content TEXT,
    tokens INTEGER,
    pinned INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (conversation_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX working_memory ON working (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX working_space ON working (space_id);

-- Source code --------------------------------------------------------------------------------------------------------

-- Records of documents that are source files. The other tables of code follow from them, and are rebuilt when missing.
CREATE TABLE code_files (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    language TEXT NOT NULL,
    record BLOB NOT NULL
) STRICT;

-- Versions whose names are resolved.
CREATE TABLE code_resolved (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    interface BLOB NOT NULL, -- hash of what other files can see of it
    unresolved INTEGER NOT NULL
) STRICT;
CREATE INDEX code_resolved_space ON code_resolved (space_id);

-- Symbols that source files define.
CREATE TABLE code_symbols (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    qualified TEXT NOT NULL,
    kind TEXT NOT NULL,
    parent INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX code_symbols_name ON code_symbols (space_id, folded);

-- Uses of symbols. An edge is deleted with the version that uses.
CREATE TABLE code_edges (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    scope INTEGER NOT NULL, -- number of the symbol that uses, -1 for the file
    kind TEXT NOT NULL,
    target_id BLOB NOT NULL, -- the document in which `target` is defined
    target TEXT NOT NULL, -- empty for the file as a whole
    lines TEXT NOT NULL, -- JSON
    certainty TEXT NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX code_edges_target ON code_edges (target_id, target);

-- Paths and names of modules that the names of a version depend on: when one changes, the version is resolved again.
CREATE TABLE code_keys (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    PRIMARY KEY (version_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX code_keys_key ON code_keys (key);

-- Progress of resolving. `revision` grows with each batch, so that of two who resolve a space one begins again.
CREATE TABLE code_spaces (
    space_id INTEGER PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    revision INTEGER NOT NULL
) STRICT;

-- The knowledge graph ------------------------------------------------------------------------------------------------

-- Progress of reading: `recogniser` has read all versions up to the change `through`. `revision`: see `code_spaces`.
CREATE TABLE graph_spaces (
    space_id INTEGER PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    through INTEGER NOT NULL,
    recogniser TEXT NOT NULL,
    revision INTEGER NOT NULL
) STRICT;

-- Versions that `reader` has read, because the recogniser of the settings gave no answer about them.
CREATE TABLE graph_fallbacks (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    reader TEXT NOT NULL
) STRICT;

-- Names that versions mention.
CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    code TEXT NOT NULL, -- hash of `norm`, the same in all spaces
    norm TEXT NOT NULL, -- the key of the name
    folded TEXT NOT NULL, -- the same for names that differ only in case
    first_word TEXT NOT NULL, -- empty for a name of one word, as are the next two
    last_word TEXT NOT NULL,
    initials TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_norm ON entities (space_id, norm);
CREATE INDEX entities_folded ON entities (space_id, folded);
CREATE INDEX entities_code ON entities (space_id, code);
CREATE INDEX entities_first ON entities (space_id, first_word) WHERE first_word <> '';
CREATE INDEX entities_last ON entities (space_id, last_word) WHERE last_word <> '';
CREATE INDEX entities_initials ON entities (space_id, initials) WHERE initials <> '';

-- Mentions of entities in versions, ordered so that the latest ones of an entity are on one page.
CREATE TABLE mentions (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    start INTEGER NOT NULL, -- in characters of the content, -1 for what is not in the text
    stop INTEGER NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (entity_id, version_id DESC, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_version ON mentions (version_id, entity_id, kind);

-- Relations that versions state, about entities that the same version mentions.
CREATE TABLE relations (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    subject_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    object_id INTEGER REFERENCES entities (id) ON DELETE CASCADE, -- null when the object is a part of the content
    literal_start INTEGER,
    literal_stop INTEGER,
    polarity INTEGER NOT NULL,
    confidence REAL NOT NULL,
    start INTEGER NOT NULL, -- of the evidence
    stop INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_subject ON relations (subject_id, version_id DESC, kind, object_id);
CREATE INDEX relations_object ON relations (object_id, version_id DESC, kind, subject_id) WHERE object_id IS NOT NULL;

-- Names that a memory of the kind `entity` gives its entity, including the entity's own name.
CREATE TABLE aliases (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    alias_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    apart INTEGER NOT NULL, -- 1 when the memory says that it is not another name of the entity
    PRIMARY KEY (version_id, entity_id, alias_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_entity ON aliases (entity_id, version_id DESC);
CREATE INDEX aliases_alias ON aliases (alias_id, version_id);

-- A name is deleted with the last version that mentions it.
CREATE TRIGGER mentions_go AFTER DELETE ON mentions BEGIN
    DELETE FROM entities WHERE id = OLD.entity_id AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.entity_id)
        AND NOT EXISTS (SELECT 1 FROM aliases WHERE alias_id = OLD.entity_id);
END;
CREATE TRIGGER aliases_go AFTER DELETE ON aliases BEGIN
    DELETE FROM entities WHERE id = OLD.alias_id AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.alias_id)
        AND NOT EXISTS (SELECT 1 FROM aliases WHERE alias_id = OLD.alias_id);
END;

-- Background work ----------------------------------------------------------------------------------------------------

-- Work that outlives a request. `asked`, `caller` and `result` are JSON. Times are by the clock of the database, since
-- those of processes may differ.
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    ready INTEGER NOT NULL DEFAULT 0,
    asked TEXT NOT NULL,
    actor TEXT NOT NULL,
    caller TEXT NOT NULL,
    owner TEXT NOT NULL DEFAULT '', -- the process that works on the task, with `fence`
    fence INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0, -- then another process may claim a task that is `ready`
    revision INTEGER NOT NULL DEFAULT 0, -- grows with each change
    total INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    position TEXT NOT NULL DEFAULT '', -- progress of work without items
    attempts INTEGER NOT NULL DEFAULT 0,
    deaths INTEGER NOT NULL DEFAULT 0, -- claims since the last progress
    result TEXT,
    error_code TEXT,
    error TEXT,
    idempotency TEXT UNIQUE, -- names the request
    body_hash BLOB,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    expires_at INTEGER
) STRICT;
CREATE INDEX tasks_active ON tasks (lease_until) WHERE state IN ('queued', 'running');
CREATE INDEX tasks_by_space ON tasks (space_id, number);
CREATE INDEX tasks_expired ON tasks (expires_at) WHERE expires_at IS NOT NULL;

-- Parts of a task, each worked on as a whole.
CREATE TABLE task_items (
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    argument TEXT, -- JSON
    state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0, -- how often work on it began
    error_code TEXT,
    error TEXT,
    PRIMARY KEY (task, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_items_left ON task_items (task, number) WHERE state IN ('waiting', 'working');
CREATE INDEX task_items_failed ON task_items (task, number) WHERE state = 'failed';

-- Bytes that a task works on, in pieces of at most 1 MB, deleted when it ends.
CREATE TABLE blobs (
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (task, name, part)
) STRICT;

-- Leases on maintenance tasks, each run by one process at a time. Times are as in `tasks`.
CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL, -- end of the lease
    next_at INTEGER NOT NULL -- when the task is due
) STRICT, WITHOUT ROWID;

-- Webhooks -----------------------------------------------------------------------------------------------------------

-- Receivers of the changes of a space.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    kinds TEXT NOT NULL,
    show TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    epoch TEXT NOT NULL,
    cursor INTEGER NOT NULL, -- the last delivered change, of `epoch`
    attempts INTEGER NOT NULL DEFAULT 0, -- that have failed since then
    next_at INTEGER NOT NULL DEFAULT 0, -- when the next attempt is due
    error TEXT,
    told_at INTEGER,
    stopped TEXT -- reason why deliveries have stopped
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_space ON webhooks (space_id, id);

-- Ranges of changes that could not be delivered. The change feed has their content.
CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX dead_letters_by_webhook ON dead_letters (webhook_id, id);

-- The server ---------------------------------------------------------------------------------------------------------

-- API keys. Revoked and expired ones stay, because a database that ever had a key refuses requests without one.
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL, -- SHA-256 of the secret, which only the caller has
    name TEXT NOT NULL,
    scopes TEXT NOT NULL, -- JSON list
    spaces TEXT NOT NULL, -- JSON list
    category TEXT,
    parent_id TEXT REFERENCES keys (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    source_class TEXT -- the most trusted class that a caller with the key may claim
) STRICT;
CREATE INDEX keys_by_parent ON keys (parent_id) WHERE parent_id IS NOT NULL;

-- Keys that sign reports.
CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY, -- thumbprint of the public key (RFC 7638)
    public TEXT NOT NULL, -- JWK
    private TEXT, -- PEM; null where the settings have it
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Administration and deletions without content: the actor, the action and its target.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    space TEXT,
    target TEXT
) STRICT;

-- Refusals -----------------------------------------------------------------------------------------------------------

-- `INSERT INTO refuse SELECT 'code' WHERE ...` ends the batch with that code: compare-and-set inside SQL.
CREATE VIEW refuse (code) AS SELECT NULL WHERE 0;
CREATE TRIGGER refuse_insert INSTEAD OF INSERT ON refuse BEGIN
    SELECT CASE NEW.code
        WHEN 'no_space' THEN RAISE(ABORT, 'refused: no_space')
        WHEN 'no_memory' THEN RAISE(ABORT, 'refused: no_memory')
        WHEN 'no_parent' THEN RAISE(ABORT, 'refused: no_parent')
        WHEN 'stale' THEN RAISE(ABORT, 'refused: stale')
        WHEN 'duplicate' THEN RAISE(ABORT, 'refused: duplicate')
        WHEN 'address_taken' THEN RAISE(ABORT, 'refused: address_taken')
        WHEN 'place_taken' THEN RAISE(ABORT, 'refused: place_taken')
        WHEN 'space_exists' THEN RAISE(ABORT, 'refused: space_exists')
        WHEN 'model_mismatch' THEN RAISE(ABORT, 'refused: model_mismatch')
        WHEN 'request_known' THEN RAISE(ABORT, 'refused: request_known')
        WHEN 'incomplete' THEN RAISE(ABORT, 'refused: incomplete')
        WHEN 'quota_exceeded' THEN RAISE(ABORT, 'refused: quota_exceeded')
        WHEN 'task_lost' THEN RAISE(ABORT, 'refused: task_lost')
        WHEN 'task_cancelled' THEN RAISE(ABORT, 'refused: task_cancelled')
        ELSE RAISE(ABORT, 'refused: unknown')
    END;
END;
