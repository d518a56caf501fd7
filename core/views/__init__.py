"""Four views of the memories of all spaces for one caller: read, write, timeline and review."""
