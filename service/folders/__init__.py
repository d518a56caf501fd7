"""Folders as documents: which files there are, when they change, and hooks of git that bring changes in."""
