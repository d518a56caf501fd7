"""Whether recall is still good: probes, receipts, lint."""
