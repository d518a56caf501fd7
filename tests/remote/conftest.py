from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld


@pytest.fixture
def sqld_of_its_own(tmp_path: Path) -> Iterator[Sqld]:
    """A server that a test may kill."""
    with Sqld(tmp_path / "sqld") as running:
        yield running
