"""Threads, admission, and the database that the settings name."""
