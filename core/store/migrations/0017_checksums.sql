-- Of what a version says (core/store/checksums.py); null for those that were written before.
ALTER TABLE versions ADD COLUMN checksum INTEGER;
