"""Work that nobody waits for: upkeep, scheduled backups, and where backups go."""
