-- Sessions, conversations, topics, statements on entities and relations are `objects`, which a quota of memories counts
-- too, because callers may add any number of them. Documents and summaries belong to what is counted. The comparison
-- with 'memory' comes first, so that a plain add makes no more comparisons than before.
ALTER TABLE spaces ADD COLUMN objects INTEGER NOT NULL DEFAULT 0;
UPDATE spaces SET objects = (
    SELECT count(*) FROM versions v WHERE v.space_id = spaces.id AND v.died IS NULL
    AND v.kind IN ('session', 'conversation', 'topic', 'entity', 'relation')
);
DROP TRIGGER versions_come;
DROP TRIGGER versions_die;
DROP TRIGGER versions_go;
CREATE TRIGGER versions_come AFTER INSERT ON versions WHEN NEW.died IS NULL BEGIN
    UPDATE spaces SET memories = memories + (NEW.kind = 'memory' OR NEW.kind = 'exchange' OR NEW.kind = 'chunk'),
        objects = objects + (NEW.kind <> 'memory' AND (NEW.kind = 'session' OR NEW.kind = 'conversation'
            OR NEW.kind = 'topic' OR NEW.kind = 'entity' OR NEW.kind = 'relation')),
        bytes = bytes + NEW.bytes WHERE id = NEW.space_id;
END;
CREATE TRIGGER versions_die AFTER UPDATE OF died ON versions WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
    UPDATE spaces SET memories = memories - (OLD.kind = 'memory' OR OLD.kind = 'exchange' OR OLD.kind = 'chunk'),
        objects = objects - (OLD.kind <> 'memory' AND (OLD.kind = 'session' OR OLD.kind = 'conversation'
            OR OLD.kind = 'topic' OR OLD.kind = 'entity' OR OLD.kind = 'relation')),
        bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
CREATE TRIGGER versions_go AFTER DELETE ON versions WHEN OLD.died IS NULL BEGIN
    UPDATE spaces SET memories = memories - (OLD.kind = 'memory' OR OLD.kind = 'exchange' OR OLD.kind = 'chunk'),
        objects = objects - (OLD.kind <> 'memory' AND (OLD.kind = 'session' OR OLD.kind = 'conversation'
            OR OLD.kind = 'topic' OR OLD.kind = 'entity' OR OLD.kind = 'relation')),
        bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
