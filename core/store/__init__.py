"""The store: atomic batches of SQL statements on a file or a server, and the schema."""
