"""A checker of plain English: the length of sentences, and words that the field has better terms for."""
