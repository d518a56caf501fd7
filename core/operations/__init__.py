"""What operators and time ask for: keys, leases, checks, repairs, webhooks, the audit log."""
