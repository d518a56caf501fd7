"""The application: its assembly, its start and stop, and its fast path."""
