-- Pairs of memories that are duplicates or contradict each other, both stored until a decision. Each row names the
-- versions that were compared, without their texts. A pair is open as long as both memories still have these texts.
CREATE TABLE conflicts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    existing_row INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    new_row INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    similarity REAL,
    opened_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    UNIQUE (existing_row, new_row)
) STRICT;
CREATE INDEX conflicts_by_space ON conflicts (space_id, id);
CREATE INDEX conflicts_by_new ON conflicts (new_row);
