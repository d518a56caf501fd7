from collections.abc import Iterator

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.console.forms import ADMIN


@pytest.fixture
def keyed(engine: Engine) -> Iterator[httpx.Client]:
    """A client of a server with keys, without a session."""
    with TestClient(create_app(Settings(admin_key=ADMIN), engine=engine)) as opened:
        yield opened
