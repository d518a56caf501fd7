"""Collection of what has ended: closed applications and engines go, and no start leaves the collector off."""

import gc
import os
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from weakref import ref

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.model.errors import MuistiError
from muisti.core.store.database import Statement
from muisti.core.store.file.database import FileDatabase
from muisti.service.app.app import create_app, open_engine
from muisti.service.app.starting import serve
from muisti.service.settings import Settings, SettingsError
from tests.service.counted import open_files
from tests.service.fakes import API, draft
from tests.service.mcp_client import LONG, PLAIN, call


def ask_the_api(client: httpx.Client) -> None:
    client.post(f"{API}/memories", json=draft()).raise_for_status()
    assert client.post(f"{API}/search", json={"query": "deploy"}).json()["hits"]


def see_the_document(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json()["paths"]


def see_the_console(client: httpx.Client) -> None:
    assert client.get("/").is_success


def call_a_tool(client: httpx.Client) -> None:
    assert not call(client, "remember", content="We deploy on Fridays", content_type=PLAIN)["isError"]


def call_a_tool_by_the_sdk(client: httpx.Client) -> None:
    assert not call(client, "remember", content="We deploy on Fridays", content_type=LONG)["isError"]


def fail(client: httpx.Client) -> None:
    assert client.get(f"{API}/memories/{'0' * 8}").status_code == 404


WAYS = (ask_the_api, see_the_document, see_the_console, call_a_tool, call_a_tool_by_the_sdk, fail)


@pytest.mark.file_only
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_closed_application_is_collected_with_its_engine(tmp_path: Path, way: Callable[[httpx.Client], None]):
    """The second is looked at: what a process loads once stays, and may keep what the first has."""

    def used(name: str) -> list[ref[object]]:
        settings = Settings(database_url=f"file:{tmp_path / name}", embeddings=False)
        engine = open_engine(settings)
        app = create_app(settings, engine=engine)
        with TestClient(app) as client:
            way(client)
        engine.close()
        return [ref(app), ref(engine)]

    used("first.db")
    left = used("second.db")
    gc.collect()
    assert [one() for one in left] == [None, None]


@pytest.mark.file_only
def test_a_refused_start_leaves_the_collector_on(tmp_path: Path):
    """Programs and tests call commands in their own process, which goes on."""
    settings = Settings(database_url=f"file:{tmp_path / 'muisti.db'}", host="0.0.0.0", port=0, embeddings=False)
    with pytest.raises(SettingsError, match="no keys"):
        serve(settings)
    assert gc.isenabled()


def cut(path: Path) -> None:
    os.truncate(path, 20_000)


def write_as_a_newer_version(path: Path) -> None:
    with closing(FileDatabase(path)) as database:
        database.write([Statement("INSERT INTO schema_migrations VALUES (9999, 'later.sql', 1)")])


@pytest.mark.file_only
@pytest.mark.parametrize("spoil", [cut, write_as_a_newer_version], ids=lambda spoil: spoil.__name__)
def test_a_database_that_cannot_be_used_is_closed_again(tmp_path: Path, spoil: Callable[[Path], None]):
    """Without the collector, which would close it some time later."""
    path = tmp_path / "muisti.db"
    settings = Settings(database_url=f"file:{path}", embeddings=False)
    open_engine(settings).close()
    spoil(path)
    threads = threading.active_count()
    gc.disable()
    try:
        with pytest.raises(MuistiError):
            open_engine(settings)
        assert [name for name in open_files() if name.startswith(str(path))] == []
        assert threading.active_count() == threads
    finally:
        gc.enable()
