"""Background work: upkeep, scheduled backups, and the targets of backups."""
