from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.databases import open_file
from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with (
        closing(open_file(tmp_path / "client.db")) as database,
        TestClient(create_app(Settings(), engine=Engine(database, WordEncoder(), Clock()))) as opened,
    ):
        yield opened
