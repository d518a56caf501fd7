"""Symbols of the source files among a space's documents: kept, resolved file by file, and read."""
