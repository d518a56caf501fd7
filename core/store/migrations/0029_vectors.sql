-- Vectors that background work stores after their passages. All current versions up to the change `embedded` have
-- vectors of the space's model.
-- A model behind an endpoint is recognised by its vectors of probe texts. `probes` has them as they were first seen,
-- in little-endian float32. `seen_at` is when the model last took the place of another.
ALTER TABLE spaces ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE generations ADD COLUMN probes BLOB;
ALTER TABLE generations ADD COLUMN seen_at INTEGER;
CREATE TRIGGER spaces_model AFTER UPDATE OF generation_id ON spaces WHEN NEW.generation_id IS NOT OLD.generation_id BEGIN
    UPDATE spaces SET embedded = 0 WHERE id = NEW.id;
END;
