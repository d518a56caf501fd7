-- Of what a version says (core/store/sql/checksums.py); null for those that were written before.
ALTER TABLE versions ADD COLUMN checksum INTEGER;
