"""Above sqld's size limits, answers arrive all the same, and writes are refused before anything is sent."""

import httpx
import pytest
from litestar.testing import TestClient

from deploy.cluster.sqld import Sqld
from muisti.core.engine import Engine
from muisti.core.model.choices import CONTENT_MAX
from muisti.core.model.errors import TooLarge
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from muisti.core.store.remote import database as remote
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, Clock, WordEncoder, open_engine
from tests.service.fakes import API, draft
from tests.stores import RemoteStore

MANY = 36  # large memories: 10.8 MB, where sqld answers with 10 at most


def large(number: int) -> str:
    """A content of 300 kB and one word, no two alike."""
    return f"{number}".ljust(CONTENT_MAX - 1, "\u3000") + "."


@pytest.fixture
def store(sqld: Sqld) -> RemoteStore:
    return RemoteStore(sqld)


def test_answers_larger_than_the_server_gives_at_once_come_whole(store: RemoteStore):
    contents = [large(number) for number in range(MANY)]
    everything = Query(text="", mode="recent", limit=100, highlight=False)
    with open_engine(store) as engine:
        written = engine.owner.write.add(SPACE, [Draft(content=content) for content in contents], on_conflict="keep")
        listed = engine.owner.read.list(SPACE, limit=100).items
        assert [memory.content for memory in listed] == contents[::-1]
        assert {hit.memory.content for hit in engine.owner.read.search(SPACE, everything).hits} == set(contents)
    assert written.memories[-1].content == contents[-1]
    with open_engine(store, encoder=WordEncoder("new")) as again:
        again.reembed(SPACE, lambda done, total: None)
        assert again.owner.read.search(SPACE, Query(text="7", mode="semantic")).total == MANY


@pytest.mark.parametrize("batch", [
    [Statement("SELECT 1")] * (remote.STATEMENTS_MAX + 1),
    [Statement("SELECT ?", ("x" * (remote.VALUE_MAX + 1),))],
    [Statement("SELECT ?", (bytes(remote.VALUE_MAX),))] * (remote.VALUES_MAX // remote.VALUE_MAX + 1),
], ids=["statements", "a value", "values"])  # fmt: skip
def test_a_write_beyond_what_a_transaction_takes_is_refused(store: RemoteStore, batch: list[Statement]):
    with pytest.raises(TooLarge, match="send less"):
        store.open().write(batch)


def test_a_value_as_large_as_allowed_comes_back(store: RemoteStore):
    database, value = store.open(), "x" * remote.VALUE_MAX
    database.write([Statement("CREATE TABLE t (value TEXT)"), Statement("INSERT INTO t VALUES (?)", (value,))])
    assert database.read([Statement("SELECT value FROM t")]) == [[(value,)]]


@pytest.fixture
def narrow(store: RemoteStore, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """A service whose database takes no more than a few memories in one write."""
    engine = Engine(store.open(), WordEncoder(), Clock())
    monkeypatch.setattr(remote, "STATEMENTS_MAX", 100)
    return TestClient(create_app(Settings(), engine=engine))


def test_a_batch_that_is_too_large_is_413_and_one_by_one_it_is_stored(narrow: httpx.Client):
    items = [draft(f"note {number}") for number in range(40)]
    with narrow as client:
        refused = client.post(f"{API}/memories/batch", json={"memories": items, "on_conflict": "keep"})
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert client.get(f"{API}/memories").json()["items"] == []
        each = {"memories": items, "on_conflict": "keep", "atomic": False}
        assert client.post(f"{API}/memories/batch", json=each).json()["created"] == len(items)
