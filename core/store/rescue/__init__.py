"""Salvage of damaged database files: checks them, reads what they still hold, and builds a sound database from it."""
