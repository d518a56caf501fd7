from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.cli import main
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import API, Breakable, draft
from tests.service.pages.forms import ADMIN
from tests.stores import Everything, Stores, migrated, settings_at

Run = Callable[..., Result]


@pytest.fixture
def database(stores: Stores) -> Iterator[Breakable]:
    opened = Breakable(migrated(stores()))
    yield opened
    opened.close()


@pytest.fixture
def engine(database: Breakable, clock: Clock) -> Iterator[Engine]:
    others = [WordEncoder("notes", name="notes-static-512")]
    with Engine(database, WordEncoder(), clock, others=others) as opened:
        yield opened


@pytest.fixture
def client(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


@pytest.fixture
def keyed(engine: Engine) -> Iterator[httpx.Client]:
    """A client of a server with keys, without a session."""
    with TestClient(create_app(Settings(admin_key=ADMIN), engine=engine)) as opened:
        yield opened


@pytest.fixture
def memory(client: httpx.Client) -> dict[str, Any]:
    """A memory that is stored already."""
    return client.post(f"{API}/memories", json=draft()).json()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `muisti` in an empty folder named `notes`; words only, so that no test waits for the model."""
    home = tmp_path / "notes"
    home.mkdir()
    monkeypatch.chdir(home)
    for name in ("MUISTI_URL", "MUISTI_SPACE", "MUISTI_CONFIG", "MUISTI_DATABASE_URL", "MUISTI_ACCESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "off")
    if Everything.sqld is not None:
        for name, value in settings_at(home / "muisti.db").items():
            monkeypatch.setenv(name, value)

    def invoke(*words: str, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, [*words], input=input, prog_name="muisti")

    return invoke
