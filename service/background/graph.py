"""Background work of the knowledge graph, which no write waits for."""

from muisti.core.engine import Engine

GRAPH_SECONDS = 1.0  # between two looks for versions that are not read
STEP = 50  # versions that a step reads
QUIET = 200  # changes between two looks, at most, that leave time to read
MANY = 2_000  # changes that are read although more of them come


class GraphReading:
    """Steps of the sweep. A space is read when little was written between two looks, or when it is far behind.

    Writes of one process share its interpreter with the reading, so a space into which much is written is left alone.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def where(self, engine: Engine, now: int) -> list[str]:
        """Return the spaces to read now."""
        unread = engine.unread_graphs()
        most = {space: seq + QUIET for space, seq in self._seen.items()}
        chosen = [one.space for one in unread if one.seq <= most.get(one.space, -1) or one.behind > MANY]
        self._seen = {one.space: one.seq for one in unread}
        return chosen

    def step(self, engine: Engine, space: str, now: int) -> bool:
        """Read some versions of a space; many become a task. Return whether more are left."""
        return engine.extend_graph(space, STEP)
