"""Named points in a space's history, what changed between two, and the way back to one."""
