-- A space may have a second model, whose vectors background work stores for the passages that the space's own model has
-- embedded. All current versions up to the change `second_embedded` have them. Without the second model, its vectors
-- stay, so that nothing is embedded twice when it is chosen again.
ALTER TABLE spaces ADD COLUMN second_generation_id INTEGER REFERENCES generations (id);
ALTER TABLE spaces ADD COLUMN second_embedded INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER spaces_second AFTER UPDATE OF second_generation_id ON spaces
WHEN NEW.second_generation_id IS NOT OLD.second_generation_id BEGIN
    UPDATE spaces SET second_embedded = 0 WHERE id = NEW.id;
END;
