-- The oldest change as of which a space can be shown. Versions that had ended by then may be erased.
ALTER TABLE spaces ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 0;

-- Past holders of an address. `versions_address` has the current one.
CREATE INDEX versions_past_address ON versions (space_id, category_folded, key, died)
    WHERE died IS NOT NULL AND key IS NOT NULL;
