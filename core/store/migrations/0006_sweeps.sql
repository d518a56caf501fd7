-- Work of the background, each kind done by one process at a time: who does it until when, and when it is due again.
-- Times are microseconds since the Unix epoch by the clock of the database: those of processes may differ.
CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL,
    next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
