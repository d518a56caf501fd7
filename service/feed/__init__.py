"""The change feed as a stream (server-sent events)."""
