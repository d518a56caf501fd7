from collections.abc import Callable

import pytest

from muisti.core.graph.extraction import Reader
from tests.both import client, database, engine, keyed, memory, run
from tests.graph.plain import toy_reader

__all__ = ["client", "database", "engine", "graph_reader", "keyed", "memory", "run"]


@pytest.fixture
def graph_reader() -> Callable[[], Reader]:
    """A recogniser of toy texts; `tests.both` has the usual one."""
    return toy_reader
