-- Vectors that background work stores after their passages. All current versions up to the change `embedded` have
-- vectors of the space's model. A model behind an endpoint is recognised by the vectors of probe texts: `probes` has
-- them as it was first seen, little-endian float32, and `seen_at` is when it was last told from another.
ALTER TABLE spaces ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE generations ADD COLUMN probes BLOB;
ALTER TABLE generations ADD COLUMN seen_at INTEGER;
CREATE TRIGGER spaces_model AFTER UPDATE OF generation_id ON spaces WHEN NEW.generation_id IS NOT OLD.generation_id BEGIN
    UPDATE spaces SET embedded = 0 WHERE id = NEW.id;
END;
