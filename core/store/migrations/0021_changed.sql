-- Lists sorted by the last change read a page from here, as those by creation do from `versions_newest`.
CREATE INDEX versions_changed ON versions (space_id, updated_at, memory_id) WHERE died IS NULL;
