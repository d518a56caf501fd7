"""Probes: test questions with the memory that a search must find."""
