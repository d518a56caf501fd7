from tests.both import client, database, engine, graph_reader, keyed, memory, run

__all__ = ["client", "database", "engine", "graph_reader", "keyed", "memory", "run"]
