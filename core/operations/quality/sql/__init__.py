"""Statements on the tables of probes and receipts, and those of lint."""
