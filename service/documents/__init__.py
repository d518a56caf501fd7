"""Documents: stored from files and folders, listed, compared and deleted."""
