-- The actor of a change and its request (X-Request-Id), null where unknown. `undone` is the seq of the change that
-- undid it.
ALTER TABLE changes ADD COLUMN actor TEXT;
ALTER TABLE changes ADD COLUMN request TEXT;
ALTER TABLE changes ADD COLUMN undone INTEGER;
