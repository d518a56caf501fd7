-- Policy of a space on texts that should perhaps not be stored, as JSON. Missing fields have the values of the
-- settings.
ALTER TABLE spaces ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
