"""Servers for the tests of remote databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from tests.stores import Shared

LABEL = "127"  # of the host 127.0.0.1


@pytest.fixture
def sqld_of_its_own(tmp_path: Path) -> Iterator[Sqld]:
    """A server that a test may kill."""
    with Sqld(tmp_path / "sqld") as running:
        yield running


@pytest.fixture(scope="module")
def replica(sqld: Sqld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sqld]:
    """A server that follows the primary."""
    with Shared.by_tests(Sqld(tmp_path_factory.mktemp("replica"), primary=sqld)) as running:
        yield running


@pytest.fixture(scope="session")
def labelled(sqld: Sqld) -> Sqld:
    """Return a server with a database named by its host's first label, which sqld uses when a request names none."""
    sqld.create(LABEL)
    return sqld
