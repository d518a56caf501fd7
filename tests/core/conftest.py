from collections.abc import Iterator
from pathlib import Path

import pytest

from core.engine import Engine
from tests.core.fakes import Clock, open_engine


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tmp_path: Path, clock: Clock) -> Iterator[Engine]:
    with open_engine(tmp_path / "muisti.db", clock=clock) as opened:
        yield opened
