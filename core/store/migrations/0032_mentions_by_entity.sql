-- Mentions lie by entity, the latest version first: the latest mentions of an entity, which tell its name and kind, are
-- read from one page. Before, each of them was a look into the table.
DROP TRIGGER mentions_go;
DROP TRIGGER aliases_go;
CREATE TABLE mentions_by_entity (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    entity_id INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (entity_id, version_id DESC, start)
) STRICT, WITHOUT ROWID;
INSERT INTO mentions_by_entity SELECT * FROM mentions
    ORDER BY entity_id, version_id DESC, start;
DROP TABLE mentions;
ALTER TABLE mentions_by_entity RENAME TO mentions;
CREATE INDEX mentions_version ON mentions (version_id, entity_id, kind);

-- A name goes with the last version that mentions it.
CREATE TRIGGER mentions_go AFTER DELETE ON mentions BEGIN
    DELETE FROM entities WHERE id = OLD.entity_id AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.entity_id)
        AND NOT EXISTS (SELECT 1 FROM aliases WHERE alias_id = OLD.entity_id);
END;
CREATE TRIGGER aliases_go AFTER DELETE ON aliases BEGIN
    DELETE FROM entities WHERE id = OLD.alias_id AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.alias_id)
        AND NOT EXISTS (SELECT 1 FROM aliases WHERE alias_id = OLD.alias_id);
END;
