"""Reads other than search: single memories, lists, counts, the past, the change feed, feedback."""
