-- What is derived from other memories is erased with them, and few memories are.
CREATE INDEX versions_derived ON versions (space_id) WHERE derived_from <> '[]';
