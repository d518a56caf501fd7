-- Limits of spaces. Triggers keep the counters, so that they are right whatever statement writes.

-- Size of the text that a caller stored, in bytes of UTF-8.
ALTER TABLE versions ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (
    octet_length(content) + octet_length(tags) + octet_length(metadata) + coalesce(octet_length(category), 0)
    + coalesce(octet_length(key), 0) + coalesce(octet_length(author), 0) + coalesce(octet_length(reason), 0)
    + coalesce(octet_length(source), 0)
) VIRTUAL;

-- Memories that are not deleted, and their bytes; those that have expired or are superseded count.
ALTER TABLE spaces ADD COLUMN memories INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spaces ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE spaces SET
    memories = (SELECT count(*) FROM versions v WHERE v.space_id = spaces.id AND v.died IS NULL),
    bytes = (SELECT coalesce(sum(v.bytes), 0) FROM versions v WHERE v.space_id = spaces.id AND v.died IS NULL);

CREATE TRIGGER versions_come AFTER INSERT ON versions WHEN NEW.died IS NULL BEGIN
    UPDATE spaces SET memories = memories + 1, bytes = bytes + NEW.bytes WHERE id = NEW.space_id;
END;
CREATE TRIGGER versions_die AFTER UPDATE OF died ON versions WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
    UPDATE spaces SET memories = memories - 1, bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
CREATE TRIGGER versions_go AFTER DELETE ON versions WHEN OLD.died IS NULL BEGIN
    UPDATE spaces SET memories = memories - 1, bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;

-- By name, so that erasing a space and making it again does not reset its limits. NULL is the default of the settings.
CREATE TABLE quotas (
    space TEXT PRIMARY KEY,
    memories INTEGER,
    bytes INTEGER
) STRICT, WITHOUT ROWID;

DROP TRIGGER refuse_insert;
CREATE TRIGGER refuse_insert INSTEAD OF INSERT ON refuse BEGIN
    SELECT CASE NEW.code
        WHEN 'no_space' THEN RAISE(ABORT, 'refused: no_space')
        WHEN 'no_memory' THEN RAISE(ABORT, 'refused: no_memory')
        WHEN 'no_parent' THEN RAISE(ABORT, 'refused: no_parent')
        WHEN 'stale' THEN RAISE(ABORT, 'refused: stale')
        WHEN 'duplicate' THEN RAISE(ABORT, 'refused: duplicate')
        WHEN 'address_taken' THEN RAISE(ABORT, 'refused: address_taken')
        WHEN 'space_exists' THEN RAISE(ABORT, 'refused: space_exists')
        WHEN 'model_mismatch' THEN RAISE(ABORT, 'refused: model_mismatch')
        WHEN 'request_known' THEN RAISE(ABORT, 'refused: request_known')
        WHEN 'incomplete' THEN RAISE(ABORT, 'refused: incomplete')
        WHEN 'quota_exceeded' THEN RAISE(ABORT, 'refused: quota_exceeded')
        ELSE RAISE(ABORT, 'refused: unknown')
    END;
END;
