from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from tests.core.fakes import Clock, open_engine
from tests.core.graph.plain import toy_reader
from tests.stores import Stores


@pytest.fixture
def engine(stores: Stores, clock: Clock) -> Iterator[Engine]:
    """An engine with the recogniser of toy texts."""
    with open_engine(stores(), clock=clock, graph_reader=toy_reader) as opened:
        yield opened
