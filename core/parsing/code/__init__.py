"""Source code: grammars, one record for each file, and what the names in it refer to. Nothing here knows the store."""
