"""Writing the configuration of other programs: which file, what goes into it, and the way back."""
