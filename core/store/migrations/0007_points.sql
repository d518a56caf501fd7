-- The oldest point of its history at which a space can be shown; what had died by then may be erased.
ALTER TABLE spaces ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 0;

-- Who had an address then; `versions_address` knows who has it now.
CREATE INDEX versions_past_address ON versions (space_id, category_folded, key, died)
    WHERE died IS NOT NULL AND key IS NOT NULL;
