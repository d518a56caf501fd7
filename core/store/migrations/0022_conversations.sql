-- The hierarchy session > conversation > topic > exchange. Its objects are versioned memories of their own kinds.
-- `session`, `conversation` and `topic` are names that callers chose. `turn` is the place of an exchange in its
-- conversation. `structure` is a JSON object that the service writes.
ALTER TABLE versions ADD COLUMN session TEXT;
ALTER TABLE versions ADD COLUMN conversation TEXT;
ALTER TABLE versions ADD COLUMN topic TEXT;
ALTER TABLE versions ADD COLUMN turn INTEGER;
ALTER TABLE versions ADD COLUMN structure TEXT NOT NULL DEFAULT '{}';

-- The place of an object or an exchange in the hierarchy, null for all other memories. `core.model.conversations`
-- computes it in Python.
ALTER TABLE versions ADD COLUMN place TEXT GENERATED ALWAYS AS (
    CASE kind
        WHEN 'exchange' THEN 'exchange/' || conversation || char(31) || turn
        WHEN 'session' THEN 'session/' || session
        WHEN 'conversation' THEN 'conversation/' || conversation
        WHEN 'topic' THEN 'topic/' || conversation || char(31) || topic
        WHEN 'summary' THEN 'summary/' || coalesce(structure ->> '$.of', '') || char(31) || coalesce(session, '')
            || char(31) || coalesce(conversation, '') || char(31) || coalesce(topic, '') || char(31)
            || coalesce(turn, '')
    END
) VIRTUAL;

-- One current memory at each place of each category, so that a key for one category has names of its own.
CREATE UNIQUE INDEX versions_place ON versions (space_id, coalesce(category_folded, ''), place)
    WHERE died IS NULL AND status <> 'superseded' AND place IS NOT NULL;
CREATE INDEX versions_conversation ON versions (space_id, conversation, kind, turn) WHERE conversation IS NOT NULL;
-- Equalities and not `IN`, for which SQLite builds a table at each insert.
CREATE INDEX versions_structure ON versions (space_id, kind)
    WHERE (kind = 'session' OR kind = 'conversation' OR kind = 'topic' OR kind = 'summary');

-- Objects of the hierarchy are no memories for quotas; their bytes count.
DROP TRIGGER versions_come;
DROP TRIGGER versions_die;
DROP TRIGGER versions_go;
CREATE TRIGGER versions_come AFTER INSERT ON versions WHEN NEW.died IS NULL BEGIN
    UPDATE spaces SET memories = memories + (
        NOT (NEW.kind = 'session' OR NEW.kind = 'conversation' OR NEW.kind = 'topic' OR NEW.kind = 'summary')
    ), bytes = bytes + NEW.bytes WHERE id = NEW.space_id;
END;
CREATE TRIGGER versions_die AFTER UPDATE OF died ON versions WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
    UPDATE spaces SET memories = memories - (
        NOT (OLD.kind = 'session' OR OLD.kind = 'conversation' OR OLD.kind = 'topic' OR OLD.kind = 'summary')
    ), bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
CREATE TRIGGER versions_go AFTER DELETE ON versions WHEN OLD.died IS NULL BEGIN
    UPDATE spaces SET memories = memories - (
        NOT (OLD.kind = 'session' OR OLD.kind = 'conversation' OR OLD.kind = 'topic' OR OLD.kind = 'summary')
    ), bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;

DROP TRIGGER refuse_insert;
CREATE TRIGGER refuse_insert INSTEAD OF INSERT ON refuse BEGIN
    SELECT CASE NEW.code
        WHEN 'no_space' THEN RAISE(ABORT, 'refused: no_space')
        WHEN 'no_memory' THEN RAISE(ABORT, 'refused: no_memory')
        WHEN 'no_parent' THEN RAISE(ABORT, 'refused: no_parent')
        WHEN 'stale' THEN RAISE(ABORT, 'refused: stale')
        WHEN 'duplicate' THEN RAISE(ABORT, 'refused: duplicate')
        WHEN 'address_taken' THEN RAISE(ABORT, 'refused: address_taken')
        WHEN 'place_taken' THEN RAISE(ABORT, 'refused: place_taken')
        WHEN 'space_exists' THEN RAISE(ABORT, 'refused: space_exists')
        WHEN 'model_mismatch' THEN RAISE(ABORT, 'refused: model_mismatch')
        WHEN 'request_known' THEN RAISE(ABORT, 'refused: request_known')
        WHEN 'incomplete' THEN RAISE(ABORT, 'refused: incomplete')
        WHEN 'quota_exceeded' THEN RAISE(ABORT, 'refused: quota_exceeded')
        ELSE RAISE(ABORT, 'refused: unknown')
    END;
END;
