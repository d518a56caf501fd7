-- Named points of a space's history. What stood there is kept as long as they are.
CREATE TABLE checkpoints (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    note TEXT,
    PRIMARY KEY (space_id, name)
) STRICT, WITHOUT ROWID;

-- What a batch that changes many memories is about to do: `memory_id`, of which `version` is the last, becomes what the
-- version in row `source` says, or ends when that is null. Empty before and after each batch.
CREATE TABLE turns (
    number INTEGER PRIMARY KEY,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    living INTEGER NOT NULL,
    source INTEGER
) STRICT;
