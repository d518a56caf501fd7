"""What a damaged database file still holds, and a sound database made of it."""
