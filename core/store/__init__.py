"""The store: atomic batches of SQL statements, on a file or on a server, and the schema that they work on."""
