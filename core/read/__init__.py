"""Reads that are no search: one memory, lists, counts, the past, the change feed, feedback."""
