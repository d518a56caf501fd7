"""Nouns: frozen values, the words that callers may say, errors, ids and times. Without I/O."""
