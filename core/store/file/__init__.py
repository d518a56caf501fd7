"""A database in one SQLite file: connections, the writer's thread, locks, and checks of the file."""
