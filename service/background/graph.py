"""Background work of the knowledge graph, which no write waits for."""

from muisti.core.engine import Engine

GRAPH_SECONDS = 1.0  # between two looks for versions that are not read
STEP = 50  # versions that a step reads


def read_into_graph(engine: Engine, space: str, now: int) -> bool:
    """Read some versions of a space; many become a task. Return whether more are left."""
    return engine.extend_graph(space, STEP)


def with_unread(engine: Engine, now: int) -> list[str]:
    """Return the spaces that have changed since they were read."""
    return engine.unread_graphs()
