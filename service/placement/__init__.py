"""Placement: the databases that hold spaces, and moves of spaces between them."""
