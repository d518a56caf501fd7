-- Spaces over many databases. One of them is the directory, which knows where each space is; each knows what it holds.

-- Databases beside the directory, which has the id 0. Their tokens are in files of each process.
CREATE TABLE databases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    namespace TEXT,
    replica_url TEXT,
    token_file TEXT,
    most_bytes INTEGER NOT NULL, -- the size up to which a restore takes as long as it may
    draining INTEGER NOT NULL DEFAULT 0, -- 1 when it takes no more spaces
    added_at INTEGER NOT NULL
) STRICT;

-- The map, one row when there is more than one database: for each bucket the id of its database, two bytes little-endian.
CREATE TABLE placement (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    epoch INTEGER NOT NULL, -- grows with each change
    buckets BLOB NOT NULL
) STRICT;

-- Spaces that are not where their bucket is.
CREATE TABLE placed_spaces (
    space TEXT PRIMARY KEY,
    database_id INTEGER NOT NULL,
    why TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Moves of units from a database to another one. The id of a move is the epoch of what it places.
CREATE TABLE moves (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    unit TEXT NOT NULL,
    source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    why TEXT NOT NULL,
    step TEXT NOT NULL,
    owner TEXT NOT NULL DEFAULT '', -- the process that works on the move
    lease_until INTEGER NOT NULL DEFAULT 0, -- by the clock of the database, as are the next two
    asked_at INTEGER NOT NULL,
    ended_at INTEGER,
    actor TEXT NOT NULL,
    copied INTEGER NOT NULL DEFAULT 0, -- rows
    fences INTEGER NOT NULL DEFAULT 0, -- how often writes were refused, and for how long in all
    fenced_us INTEGER NOT NULL DEFAULT 0,
    error TEXT
) STRICT;
CREATE UNIQUE INDEX moves_open ON moves (unit) WHERE ended_at IS NULL;

-- What this database holds, and what it does not; a unit without a row is held, unless `*` says otherwise.
CREATE TABLE holdings (
    unit TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL, -- of the placement that the state belongs to
    state TEXT NOT NULL, -- held, following, fenced, gone, arriving
    until INTEGER NOT NULL DEFAULT 0 -- when a fence ends by itself, by the clock of the database
) STRICT, WITHOUT ROWID;

-- Rows that arrive: the numbers that they had, and those that they have here.
CREATE TABLE carried (
    epoch INTEGER NOT NULL,
    name TEXT NOT NULL, -- of the table
    old INTEGER NOT NULL,
    new INTEGER NOT NULL,
    PRIMARY KEY (epoch, name, old)
) STRICT, WITHOUT ROWID;

-- How far arrivals are: the last row of a table that was copied, and of the trail that was followed.
CREATE TABLE arrivals (
    epoch INTEGER NOT NULL,
    name TEXT NOT NULL,
    position TEXT NOT NULL, -- JSON
    PRIMARY KEY (epoch, name)
) STRICT, WITHOUT ROWID;

-- Spaces that are followed while they move, and the rows of theirs that have changed.
CREATE TABLE leaving (
    space_id INTEGER PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    fenced INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE trail (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    epoch INTEGER NOT NULL,
    name TEXT NOT NULL, -- of the table
    row TEXT NOT NULL -- the key of the row, a JSON array
) STRICT;

-- The epoch of the placement of a space here. Every write names it; a fence makes it negative.
ALTER TABLE spaces ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;

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
        WHEN 'moved' THEN RAISE(ABORT, 'refused: moved')
        ELSE RAISE(ABORT, 'refused: unknown')
    END;
END;
