"""The application: what it is made of, how it starts and stops, and its fast path."""
