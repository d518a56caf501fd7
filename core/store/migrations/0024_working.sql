-- What callers keep in the working memory of a conversation: memories, texts of their own, and reserved tokens. It is
-- no history. The conversation is named by the memory that holds it, so that another of the same name begins empty.
CREATE TABLE working (
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    conversation_id BLOB NOT NULL,
    key TEXT NOT NULL,
    memory_id BLOB,
    content TEXT,
    tokens INTEGER,
    pinned INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (conversation_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX working_memory ON working (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX working_space ON working (space_id);
