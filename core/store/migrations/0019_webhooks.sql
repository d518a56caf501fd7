-- Receivers of the changes of a space. `cursor` is the last delivered change, of `epoch`. Since then `attempts` have
-- failed, and the next one is due at `next_at`. `stopped` is the reason why deliveries have stopped. Times are
-- microseconds.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    kinds TEXT NOT NULL,
    show TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    epoch TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    told_at INTEGER,
    stopped TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_space ON webhooks (space_id, id);

-- Ranges of changes that could not be delivered. The change feed has their content.
CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX dead_letters_by_webhook ON dead_letters (webhook_id, id);
