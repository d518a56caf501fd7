-- Sizes of memories in an encoding of tokens, and of the pieces of long ones, computed when a context first needs them.
-- `encoding` also says the format of `data`. A row that is missing is computed again.

CREATE TABLE pieces (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    encoding TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (version_id, encoding)
) STRICT, WITHOUT ROWID;
