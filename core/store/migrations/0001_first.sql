-- The first schema. Dialect of SQLite 3.45. Times are microseconds since the Unix epoch, UTC.
-- Every change of a space has a number, its seq. A version is open from `born` (inclusive) to `died` (exclusive).

CREATE TABLE generations (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    committed_at INTEGER NOT NULL,
    settings TEXT NOT NULL,
    generation_id INTEGER REFERENCES generations (id)
) STRICT;

CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    born INTEGER NOT NULL,
    died INTEGER,
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
    UNIQUE (memory_id, version)
) STRICT;

-- A memory is current when its newest version is open and not superseded.
CREATE UNIQUE INDEX versions_living ON versions (memory_id) WHERE died IS NULL;
CREATE UNIQUE INDEX versions_address ON versions (space_id, category_folded, key)
    WHERE died IS NULL AND status <> 'superseded' AND key IS NOT NULL;
CREATE INDEX versions_text ON versions (space_id, content_hash) WHERE died IS NULL;
CREATE INDEX versions_newest ON versions (space_id, created_at, memory_id) WHERE died IS NULL;
CREATE INDEX versions_parent ON versions (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX versions_born ON versions (space_id, born);
CREATE INDEX versions_died ON versions (space_id, died) WHERE died IS NOT NULL;
CREATE INDEX versions_expiry ON versions (space_id, expires_at) WHERE died IS NULL AND expires_at IS NOT NULL;

-- `tag` is folded for comparison, `spelling` is as the caller wrote it.
CREATE TABLE tags (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    spelling TEXT NOT NULL,
    PRIMARY KEY (version_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (tag, version_id);

-- One row for each scalar of versions.metadata; the elements of an array share a path.
-- `type` is text, number or boolean (0 or 1); null counts as missing.
CREATE TABLE metadata (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    position INTEGER NOT NULL,
    type TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (version_id, path, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_by_value ON metadata (path, type, value, version_id);

-- The passages of a version that are indexed. `terms` holds 8 bytes a term (little endian): field << 56 | hash.
CREATE TABLE passages (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    analyzer TEXT NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE embeddings (
    version_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    generation_id INTEGER NOT NULL REFERENCES generations (id),
    vector BLOB NOT NULL,
    PRIMARY KEY (version_id, number, generation_id),
    FOREIGN KEY (version_id, number) REFERENCES passages (version_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE changes (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    memory_id BLOB,
    version INTEGER,
    committed_at INTEGER NOT NULL,
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
        WHEN 'space_exists' THEN RAISE(ABORT, 'refused: space_exists')
        WHEN 'model_mismatch' THEN RAISE(ABORT, 'refused: model_mismatch')
        WHEN 'request_known' THEN RAISE(ABORT, 'refused: request_known')
        WHEN 'incomplete' THEN RAISE(ABORT, 'refused: incomplete')
        ELSE RAISE(ABORT, 'refused: unknown')
    END;
END;
