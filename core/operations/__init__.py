"""What operators and time ask for: backups, keys, leases, checks, repairs, webhooks, the audit log."""
