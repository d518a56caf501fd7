-- Two more kinds of objects: what people say of entities, and relations that people state. `place` keeps one current
-- memory of each entity in a category.
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
        WHEN 'entity' THEN 'entity/' || (structure ->> '$.norm')
    END
) VIRTUAL;
CREATE UNIQUE INDEX versions_place ON versions (space_id, coalesce(category_folded, ''), place)
    WHERE died IS NULL AND status <> 'superseded' AND place IS NOT NULL;

DROP INDEX versions_structure;
CREATE INDEX versions_structure ON versions (space_id, kind)
    WHERE (kind = 'session' OR kind = 'conversation' OR kind = 'topic' OR kind = 'summary' OR kind = 'document'
        OR kind = 'entity' OR kind = 'relation');

DROP TRIGGER versions_come;
DROP TRIGGER versions_die;
DROP TRIGGER versions_go;
CREATE TRIGGER versions_come AFTER INSERT ON versions WHEN NEW.died IS NULL BEGIN
    UPDATE spaces SET memories = memories + (
        NOT (NEW.kind = 'session' OR NEW.kind = 'conversation' OR NEW.kind = 'topic' OR NEW.kind = 'summary'
            OR NEW.kind = 'document' OR NEW.kind = 'entity' OR NEW.kind = 'relation')
    ), bytes = bytes + NEW.bytes WHERE id = NEW.space_id;
END;
CREATE TRIGGER versions_die AFTER UPDATE OF died ON versions WHEN OLD.died IS NULL AND NEW.died IS NOT NULL BEGIN
    UPDATE spaces SET memories = memories - (
        NOT (OLD.kind = 'session' OR OLD.kind = 'conversation' OR OLD.kind = 'topic' OR OLD.kind = 'summary'
            OR OLD.kind = 'document' OR OLD.kind = 'entity' OR OLD.kind = 'relation')
    ), bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;
CREATE TRIGGER versions_go AFTER DELETE ON versions WHEN OLD.died IS NULL BEGIN
    UPDATE spaces SET memories = memories - (
        NOT (OLD.kind = 'session' OR OLD.kind = 'conversation' OR OLD.kind = 'topic' OR OLD.kind = 'summary'
            OR OLD.kind = 'document' OR OLD.kind = 'entity' OR OLD.kind = 'relation')
    ), bytes = bytes - OLD.bytes WHERE id = OLD.space_id;
END;

-- The knowledge graph. All versions of a space up to the change `through` have been read by `recogniser`. `revision`
-- grows with each batch, so that of two who read a space one begins again.
CREATE TABLE graph_spaces (
    space_id INTEGER PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    through INTEGER NOT NULL,
    recogniser TEXT NOT NULL,
    revision INTEGER NOT NULL
) STRICT;

-- Names that versions mention, by their key `norm`. `code` is a hash of it, the same in all spaces. A name of two words
-- or more has its first and last word and its initials, others have empty texts there.
CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    code TEXT NOT NULL,
    norm TEXT NOT NULL,
    first_word TEXT NOT NULL,
    last_word TEXT NOT NULL,
    initials TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_norm ON entities (space_id, norm);
CREATE INDEX entities_code ON entities (space_id, code);
CREATE INDEX entities_first ON entities (space_id, first_word) WHERE first_word <> '';
CREATE INDEX entities_last ON entities (space_id, last_word) WHERE last_word <> '';
CREATE INDEX entities_initials ON entities (space_id, initials) WHERE initials <> '';

-- Places where versions name entities, in characters of the content; -1 for what is not in the text.
CREATE TABLE mentions (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (version_id, start, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_entity ON mentions (entity_id, version_id DESC);

-- Relations that versions state, about entities that the same version mentions. The object is an entity or a stretch of
-- the content. `start` and `stop` are the evidence.
CREATE TABLE relations (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    subject_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    object_id INTEGER REFERENCES entities (id) ON DELETE CASCADE,
    literal_start INTEGER,
    literal_stop INTEGER,
    polarity INTEGER NOT NULL,
    confidence REAL NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (version_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_subject ON relations (subject_id, version_id DESC, kind, object_id);
CREATE INDEX relations_object ON relations (object_id, version_id DESC, kind, subject_id) WHERE object_id IS NOT NULL;

-- Names that a memory of the kind `entity` says are another name of its entity, or with `apart` are not. Its own name is
-- among them.
CREATE TABLE aliases (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    alias_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    apart INTEGER NOT NULL,
    PRIMARY KEY (version_id, entity_id, alias_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_entity ON aliases (entity_id, version_id DESC);
CREATE INDEX aliases_alias ON aliases (alias_id, version_id);

-- A name goes with the last version that mentions it.
CREATE TRIGGER mentions_go AFTER DELETE ON mentions BEGIN
    DELETE FROM entities WHERE id = OLD.entity_id AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.entity_id)
        AND NOT EXISTS (SELECT 1 FROM aliases WHERE alias_id = OLD.entity_id);
END;
CREATE TRIGGER aliases_go AFTER DELETE ON aliases BEGIN
    DELETE FROM entities WHERE id = OLD.alias_id AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.alias_id)
        AND NOT EXISTS (SELECT 1 FROM aliases WHERE alias_id = OLD.alias_id);
END;
