-- Time span in which the content of a memory is true, in microseconds; null where that end is open.
ALTER TABLE versions ADD COLUMN valid_from INTEGER;
ALTER TABLE versions ADD COLUMN valid_to INTEGER;
