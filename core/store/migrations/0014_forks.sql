-- Which space is merged into which, and up to which of its changes (`seq`) that was done; what stood there is kept.
CREATE TABLE forks (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    forked INTEGER NOT NULL,
    PRIMARY KEY (space_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX forks_by_target ON forks (target_id);

-- Which memory of the target (`twin_id`) a memory of the space is. `base` is the row of the version in which both were
-- the same when they were forked or merged last; null when it was not there, or had ended.
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
