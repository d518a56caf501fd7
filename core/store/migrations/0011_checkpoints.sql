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

-- Plan of a bulk replace, empty before and after each batch. The memory `memory_id`, whose last version is `version`,
-- gets the content of the version in row `source`, or ends when that is null.
CREATE TABLE turns (
    number INTEGER PRIMARY KEY,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    living INTEGER NOT NULL,
    source INTEGER
) STRICT;
