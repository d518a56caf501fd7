"""The memories of all spaces as one caller meets them: to read, to write, as a timeline, and for review."""
