"""Documents: stored from cuts, aligned with the chunks that are there, read back, compared with files, deleted."""
