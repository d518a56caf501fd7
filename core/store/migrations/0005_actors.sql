-- Who made a change, and with which request (X-Request-Id); null where that was not told. `undone` is the number of the
-- change that took it back.
ALTER TABLE changes ADD COLUMN actor TEXT;
ALTER TABLE changes ADD COLUMN request TEXT;
ALTER TABLE changes ADD COLUMN undone INTEGER;
