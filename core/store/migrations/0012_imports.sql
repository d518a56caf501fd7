-- Imports of files. Lines are put into a staging space, `staging_id`, whose name no caller can use. They are moved from
-- there in one step or several, up to the file's change `moved`. `base` is added to the change numbers of the file,
-- `shift` to the row ids of staged versions. `first` and `last` are changes of the space. The changes after `base`, up
-- to `undone`, have undone an import.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    staging_id INTEGER,
    moved INTEGER NOT NULL DEFAULT 0,
    base INTEGER,
    shift INTEGER,
    first INTEGER,
    last INTEGER,
    memories INTEGER NOT NULL DEFAULT 0,
    source TEXT,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    undone INTEGER
) STRICT;
CREATE INDEX imports_by_space ON imports (space_id, id);

ALTER TABLE changes ADD COLUMN import_id INTEGER;
