-- Pairs of a space and the target that it is merged into. `seq` is the last merged change of the space, and its history
-- is kept from there on.
CREATE TABLE forks (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    forked INTEGER NOT NULL,
    PRIMARY KEY (space_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX forks_by_target ON forks (target_id);

-- Pairs of a memory of the space and its counterpart in the target, `twin_id`. `base` is the row of the version that
-- both had after the last fork or merge. It is null when there was no such version, or it had ended.
CREATE TABLE twins (
    space_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    memory_id BLOB NOT NULL,
    twin_id BLOB NOT NULL,
    base INTEGER,
    PRIMARY KEY (space_id, target_id, memory_id),
    FOREIGN KEY (space_id, target_id) REFERENCES forks (space_id, target_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX twins_by_twin ON twins (space_id, target_id, twin_id);
