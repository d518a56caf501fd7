-- Leases on background tasks, each run by one process at a time. `until` ends the lease, at `next_at` the task is due.
-- Times are microseconds since the Unix epoch by the clock of the database, since those of processes may differ.
CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL,
    next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
