"""Entities in texts: a recogniser of names, works, dates, identifiers and symbols, and the keys that merge names."""
