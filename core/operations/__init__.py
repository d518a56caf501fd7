"""Tasks of operators and of the background: backups, keys, leases, checks, repairs, webhooks, the audit log."""
