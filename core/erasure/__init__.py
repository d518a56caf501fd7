"""Erasing for good, and looking whether anything is left."""
