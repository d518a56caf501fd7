"""Databases are opened by their location, and none of it shows what lets us in."""

from contextlib import closing
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.databases import entire, open_database, open_file
from muisti.core.model.location import Location
from muisti.core.store.database import Statement
from tests.stores import RemoteStore

pytestmark = pytest.mark.one_store
NAMES = Statement("SELECT name FROM sqlite_master WHERE name = 'mine'")


def test_a_file_is_opened_by_its_url_as_by_its_path(tmp_path: Path):
    path = tmp_path / "m.db"
    with closing(open_database(Location(url=f"file:{path}"))) as database:
        database.write([Statement("CREATE TABLE mine (n INTEGER)")])
    with closing(open_file(path)) as database:
        assert database.local and database.read([NAMES]) == [[("mine",)]]
    with entire(Location(url=f"file:{path}")) as whole:
        assert whole == path


def test_a_server_is_opened_by_its_url_and_namespace(sqld: Sqld):
    store = RemoteStore(sqld)
    location = Location(url=sqld.url, namespace=store.namespace)
    with closing(open_database(location)) as database:
        database.write([Statement("CREATE TABLE mine (n INTEGER)")])
        assert location.file is None and not database.local
    with closing(store.open()) as database, entire(location) as whole:
        assert database.read([NAMES]) == [[("mine",)]]
        assert not isinstance(whole, Path) and [row for _, row in whole.stream([NAMES])] == [("mine",)]


def test_a_location_never_shows_its_token():
    shown = Location(url="libsql://db.example", token="very-secret", token_file=Path("very-secret"))
    assert "very-secret" not in f"{shown} {shown!r}" and "db.example" in repr(shown)
