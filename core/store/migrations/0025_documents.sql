-- Documents are versioned memories of a kind of their own. `document` is the path or name of a document, on it and on
-- each of its chunks. `position` orders the chunks, with gaps, so that one more changes no other.
ALTER TABLE versions ADD COLUMN document TEXT;
ALTER TABLE versions ADD COLUMN position INTEGER;
CREATE INDEX versions_document ON versions (space_id, document, position) WHERE document IS NOT NULL;

-- A document has a place, too: one current document of a path in each category.
DROP INDEX versions_place;
ALTER TABLE versions DROP COLUMN place;
ALTER TABLE versions ADD COLUMN place TEXT GENERATED ALWAYS AS (
    CASE kind
        WHEN 'exchange' THEN 'exchange/' || conversation || char(31) || turn
        WHEN 'session' THEN 'session/' || session
        WHEN 'conversation' THEN 'conversation/' || conversation
        WHEN 'topic' THEN 'topic/' || conversation || char(31) || topic
        WHEN 'summary' THEN 'summary/' || coalesce(structure ->> '$.of', '') || char(31) || coalesce(session, '')
            || char(31) || coalesce(conversation, '') || char(31) || coalesce(topic, '') || char(31)
            || coalesce(turn, '')
        WHEN 'document' THEN 'document/' || document
    END
) VIRTUAL;
CREATE UNIQUE INDEX versions_place ON versions (space_id, coalesce(category_folded, ''), place)
    WHERE died IS NULL AND status <> 'superseded' AND place IS NOT NULL;

-- Equalities and not `IN`, for which SQLite builds a table at each insert.
DROP INDEX versions_structure;
CREATE INDEX versions_structure ON versions (space_id, kind)
    WHERE (kind = 'session' OR kind = 'conversation' OR kind = 'topic' OR kind = 'summary' OR kind = 'document');

-- Documents are no memories for quotas; their bytes and their chunks count.
DROP TRIGGER versions_come;
DROP TRIGGER versions_die;
DROP TRIGGER versions_go;
CREATE TRIGGER versions_come AFTER INSERT ON versions WHEN NEW.died IS NULL BEGIN
    UPDATE spaces SET memories = memories + (
        NOT (NEW.kind = 'session' OR NEW.kind = 'conversation' OR NEW.kind = 'topic' OR NEW.kind = 'summary'
            OR NEW.kind = 'document')
    ), bytes = bytes + NEW.bytes WHERE id = NEW.space_id;
END;
CREATE TRIGGER versions_die AFTER UPDATE OF died ON versions WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
    UPDATE spaces SET memories = memories - (
        NOT (OLD.kind = 'session' OR OLD.kind = 'conversation' OR OLD.kind = 'topic' OR OLD.kind = 'summary'
            OR OLD.kind = 'document')
    ), bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
CREATE TRIGGER versions_go AFTER DELETE ON versions WHEN OLD.died IS NULL BEGIN
    UPDATE spaces SET memories = memories - (
        NOT (OLD.kind = 'session' OR OLD.kind = 'conversation' OR OLD.kind = 'topic' OR OLD.kind = 'summary'
            OR OLD.kind = 'document')
    ), bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
