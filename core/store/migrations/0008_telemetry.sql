-- Use of memories. It is kept apart, since it changes neither their versions nor the seq of a space.
-- Times are microseconds since the Unix epoch, UTC.

CREATE TABLE retrievals (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    memory_id BLOB NOT NULL,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX retrievals_by_time ON retrievals (space_id, last_at);

-- Deletes these rows with the last version of their memory, whatever statement erases it.
CREATE TRIGGER versions_erased AFTER DELETE ON versions
WHEN NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = OLD.memory_id) BEGIN
    DELETE FROM retrievals WHERE space_id = OLD.space_id AND memory_id = OLD.memory_id;
END;

CREATE INDEX versions_candidates ON versions (space_id, created_at) WHERE died IS NULL AND status = 'candidate';
