-- Checksum of the content of a version (core/store/sql/checksums.py), null for versions that are older than this
-- column.
ALTER TABLE versions ADD COLUMN checksum INTEGER;
