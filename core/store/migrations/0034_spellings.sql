-- Names that differ in case alone are entities of their own, which a rule may merge: `folded` is what they have in
-- common. All keys have changed, so all versions are read again, since a server gives a transaction only some seconds.
-- The other tables are as before: to drop and make them is fast, and to delete their rows is not. What people state is
-- in memories.
DROP TRIGGER mentions_go;
DROP TRIGGER aliases_go;
DROP TABLE relations;
DROP TABLE aliases;
DROP TABLE mentions;
DROP TABLE entities;
DELETE FROM graph_fallbacks;
DELETE FROM graph_spaces;
CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    code TEXT NOT NULL,
    norm TEXT NOT NULL,
    folded TEXT NOT NULL,
    first_word TEXT NOT NULL,
    last_word TEXT NOT NULL,
    initials TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_norm ON entities (space_id, norm);
CREATE INDEX entities_folded ON entities (space_id, folded);
CREATE INDEX entities_code ON entities (space_id, code);
CREATE INDEX entities_first ON entities (space_id, first_word) WHERE first_word <> '';
CREATE INDEX entities_last ON entities (space_id, last_word) WHERE last_word <> '';
CREATE INDEX entities_initials ON entities (space_id, initials) WHERE initials <> '';

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
