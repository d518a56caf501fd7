"""Receipts of searches: listed, shown, run again."""
