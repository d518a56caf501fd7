"""Spaces as wholes: made, copied, merged, marked and taken back."""
