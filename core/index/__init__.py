"""The index of one space in memory: columns, postings and vectors, kept up to date from the store."""
