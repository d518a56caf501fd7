"""An engine on a new store, whose second model is a fake."""

from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from tests.core.operations.generations.seconds import Slow, opened
from tests.stores import Store


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def engine(store: Store, slow: Slow) -> Iterator[Engine]:
    with opened(store, slow) as engine:
        yield engine
