from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from core.engine import Engine
from service.app import create_app
from service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, Breakable, draft
from tests.stores import Stores


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(stores: Stores) -> Iterator[Breakable]:
    opened = Breakable(stores().open())
    yield opened
    opened.close()


@pytest.fixture
def engine(database: Breakable, clock: Clock) -> Engine:
    return Engine(database, WordEncoder(), clock)


@pytest.fixture
def client(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


@pytest.fixture
def memory(client: httpx.Client) -> dict[str, Any]:
    """A memory that is stored already."""
    return client.post(f"{API}/memories", json=draft()).json()
