-- From when until when what a memory says holds, in microseconds; null where that is open.
ALTER TABLE versions ADD COLUMN valid_from INTEGER;
ALTER TABLE versions ADD COLUMN valid_to INTEGER;
