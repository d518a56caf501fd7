-- What a space does with texts that should perhaps not be stored, as JSON; what is missing is as the settings say.
ALTER TABLE spaces ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
