"""Retrieval quality on judged data: read a folder, score rankings, compare runs, print them. Pure but for files."""
