"""Erase memories and spaces for good, and verify that nothing is left."""
