"""Fixtures of a capability's tests, which speak to its core and to the service: one engine, with the space `s`."""

from collections.abc import Callable, Iterator

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.extraction import Reader, usual_reader
from muisti.core.model.spaces import CONTENT_ONLY
from tests.core.fakes import SPACE, Clock, WordEncoder
from tests.service.conftest import client, database, keyed, memory, run
from tests.service.fakes import Breakable

__all__ = ["client", "database", "engine", "graph_reader", "keyed", "memory", "run"]


@pytest.fixture
def graph_reader() -> Callable[[], Reader]:
    return usual_reader


@pytest.fixture
def engine(database: Breakable, clock: Clock, graph_reader: Callable[[], Reader]) -> Iterator[Engine]:
    others = [WordEncoder("notes", name="notes-static-512")]
    with Engine(database, WordEncoder(), clock, others=others, graph_reader=graph_reader) as opened:
        opened.spaces.create(SPACE, CONTENT_ONLY)
        yield opened
