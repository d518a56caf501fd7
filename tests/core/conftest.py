from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from tests.core.fakes import Clock, open_engine
from tests.stores import Stores


@pytest.fixture
def engine(stores: Stores, clock: Clock) -> Iterator[Engine]:
    with open_engine(stores(), clock=clock) as opened:
        yield opened
