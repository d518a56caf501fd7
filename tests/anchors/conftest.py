from tests.both import client, clock, database, engine, graph_reader, keyed, memory, run

__all__ = ["client", "clock", "database", "engine", "graph_reader", "keyed", "memory", "run"]
