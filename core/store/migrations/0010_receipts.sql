-- Searches with a receipt: request and answer as JSON. `category` is the only one that the caller could see. The
-- memories of an answer are listed in `receipt_hits`, so that the receipts of a memory can be found and erased.
CREATE TABLE receipts (
    id BLOB PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    made_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    category TEXT,
    seq INTEGER NOT NULL,
    generation TEXT,
    reference_time INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    answer TEXT NOT NULL
) STRICT;
CREATE INDEX receipts_by_space ON receipts (space_id, id);
CREATE INDEX receipts_by_age ON receipts (made_at);

CREATE TABLE receipt_hits (
    receipt_id BLOB NOT NULL REFERENCES receipts (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    memory_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    score REAL NOT NULL,
    PRIMARY KEY (receipt_id, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_hits_by_memory ON receipt_hits (memory_id);

-- Questions with a known answer: a memory, or the memory at an address.
CREATE TABLE probes (
    id BLOB PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    query TEXT NOT NULL,
    memory_id BLOB,
    category TEXT,
    key TEXT,
    k INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    actor TEXT NOT NULL
) STRICT;
CREATE INDEX probes_by_space ON probes (space_id, id);
CREATE INDEX probes_by_memory ON probes (memory_id) WHERE memory_id IS NOT NULL;

-- Results of the newest runs of probes. `ranks` is JSON by the id of the probe, null where nothing was found.
CREATE TABLE probe_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    generation TEXT,
    recall REAL NOT NULL,
    ranks TEXT NOT NULL
) STRICT;
CREATE INDEX probe_runs_by_space ON probe_runs (space_id, id);
