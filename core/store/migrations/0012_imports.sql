-- What came in from files. Lines are put into a space of their own, `staging_id`, whose name no caller can say, and
-- moved from there: all at once, or in steps, `moved` being the file's change up to which that is done. `base` is what
-- is added to the file's numbers, `shift` to the row ids of staged versions. `first` and `last` are changes of the space.
-- When all is taken back, that is done by the changes after `base`, up to `undone`.
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
