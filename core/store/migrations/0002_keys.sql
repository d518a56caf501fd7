-- Permissions and the audit log. Times are microseconds since the Unix epoch, UTC.

-- A key stays when it is revoked or has expired, because a database that ever had a key refuses requests without one.
-- `hash` is SHA-256 of the secret, which only the caller has. `scopes` and `spaces` are JSON lists.
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    spaces TEXT NOT NULL,
    category TEXT,
    parent_id TEXT REFERENCES keys (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE INDEX keys_by_parent ON keys (parent_id) WHERE parent_id IS NOT NULL;

-- Administration and deletions without content: the actor, the action and its target.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    space TEXT,
    target TEXT
) STRICT;
