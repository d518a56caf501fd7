-- Verdicts of callers on memories, one for each caller: 1 useful, -1 not useful, 0 withdrawn. They are kept apart from
-- the memories, as retrievals are. `number` counts the verdicts of a space, by which every index finds new ones.
CREATE TABLE feedback (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    actor TEXT NOT NULL,
    verdict INTEGER NOT NULL,
    number INTEGER NOT NULL,
    given_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, memory_id, actor)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_number ON feedback (space_id, number);
ALTER TABLE spaces ADD COLUMN feedback INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER feedback_erased AFTER DELETE ON versions
WHEN NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = OLD.memory_id) BEGIN
    DELETE FROM feedback WHERE space_id = OLD.space_id AND memory_id = OLD.memory_id;
END;
