-- Mentions lie by entity, the latest version first: the latest mentions of an entity, which tell its name and kind, are
-- read from one page. Before, each of them was a look into the table. What was read before is read again, since a server
-- gives a transaction only some seconds; what people state is in memories.
DROP TRIGGER mentions_go;
DROP TRIGGER aliases_go;
DROP TABLE relations;
DROP TABLE aliases;
DROP TABLE mentions;
DELETE FROM entities;
DELETE FROM graph_spaces;
CREATE TABLE mentions (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (entity_id, version_id DESC, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_version ON mentions (version_id, entity_id, kind);

-- The other two are as before: to drop and make them is fast, and to delete their rows is not.
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
