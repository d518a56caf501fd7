-- Erased versions without their content, from which every index learns which rows to drop, and which segments to pack
-- again. `seq` is that of the erasure.
CREATE TABLE erased (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    version_id INTEGER NOT NULL,
    born INTEGER NOT NULL,
    PRIMARY KEY (space_id, seq, version_id)
) STRICT, WITHOUT ROWID;

-- The keys that reports are signed with. `id` is the thumbprint of the public one (RFC 7638), `public` a JWK, `private`
-- PEM; null where the settings have it.
CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY,
    public TEXT NOT NULL,
    private TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
