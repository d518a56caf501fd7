"""Readers of other systems' files. Each gives memories one by one, as lines of an export (docs/how-to/importing.md)."""
