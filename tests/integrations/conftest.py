"""Handles that the integrations are tried on: the library in process, and the client of a server."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import muisti
from loadtests.services.muisti import serving

_numbers = itertools.count()


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("served") / "muisti.db") as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.fixture(scope="session", params=["library", "http"])
def connection(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if request.param == "library":
        opened = muisti.open(tmp_path_factory.mktemp("library") / "notes.db")
    else:
        opened = muisti.connect(request.getfixturevalue("url"))
    with opened as memory:
        yield memory


@pytest.fixture
def memory(connection: Any) -> Any:
    """A synchronous handle on a space that does not exist yet."""
    return connection.space(f"space-{next(_numbers)}")
