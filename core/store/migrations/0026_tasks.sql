-- Work that outlives a request. `owner` and `fence` name the process that works on a task until `lease_until`. Then
-- another process may claim a task that is `ready`. `deaths` counts the claims since the last progress. `revision`
-- grows with each change. `position` is how far work without items has come. `idempotency` names the request.
-- `asked`, `caller`, `result` and `argument` are JSON. Times are microseconds by the clock of the database.
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
    owner TEXT NOT NULL DEFAULT '',
    fence INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    position TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    deaths INTEGER NOT NULL DEFAULT 0,
    result TEXT,
    error_code TEXT,
    error TEXT,
    idempotency TEXT UNIQUE,
    body_hash BLOB,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    expires_at INTEGER
) STRICT;
CREATE INDEX tasks_active ON tasks (lease_until) WHERE state IN ('queued', 'running');
CREATE INDEX tasks_by_space ON tasks (space_id, number);
CREATE INDEX tasks_expired ON tasks (expires_at) WHERE expires_at IS NOT NULL;

-- Parts of a task, each worked on as a whole. `attempts` counts how often work on it began.
CREATE TABLE task_items (
    task INTEGER NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    argument TEXT,
    state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0,
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

DROP TRIGGER refuse_insert;
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
