-- Source files among the documents. `code_files` has what was read from a version of a document. Names, what they refer
-- to, and the files that each file depends on follow from it. They are made again when they are missing.
CREATE TABLE code_files (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    language TEXT NOT NULL,
    record BLOB NOT NULL
) STRICT;

-- Versions whose names are resolved. `interface` is a hash of what other files can see of it.
CREATE TABLE code_resolved (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    interface BLOB NOT NULL,
    unresolved INTEGER NOT NULL
) STRICT;
CREATE INDEX code_resolved_space ON code_resolved (space_id);

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

-- What a version uses. `scope` is the number of the symbol that uses it, -1 for the file. `target_id` is the document in
-- which `target` is defined. `target` is empty for the file as a whole, and `lines` are JSON. An edge is deleted with the
-- version that uses.
CREATE TABLE code_edges (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target_id BLOB NOT NULL,
    target TEXT NOT NULL,
    lines TEXT NOT NULL,
    certainty TEXT NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX code_edges_target ON code_edges (target_id, target);

-- Paths and names of modules that were looked at to resolve a version: when one of them changes, it is resolved again.
CREATE TABLE code_keys (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    PRIMARY KEY (version_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX code_keys_key ON code_keys (key);

-- `revision` grows with each batch of resolved files, so that of two who resolve a space one begins again.
CREATE TABLE code_spaces (
    space_id INTEGER PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    revision INTEGER NOT NULL
) STRICT;
