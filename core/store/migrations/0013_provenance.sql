-- Provenance of a memory. `derived_from` is a JSON array of ids. `trust` is a percentage: that of the class, or the
-- lowest of the memories that it is derived from.
ALTER TABLE versions ADD COLUMN source_class TEXT NOT NULL DEFAULT 'unknown';
ALTER TABLE versions ADD COLUMN derived_from TEXT NOT NULL DEFAULT '[]';
ALTER TABLE versions ADD COLUMN trust INTEGER NOT NULL DEFAULT 50;

-- The most trusted class that a caller with the key may claim.
ALTER TABLE keys ADD COLUMN source_class TEXT;
