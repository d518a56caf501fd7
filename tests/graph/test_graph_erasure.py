"""A purge leaves no name of an erased memory: in rows, stored answers, receipts, tasks, log, backups or exports."""

import time
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.store.backup import back_up, restore
from muisti.service.app.app import create_app
from muisti.service.graph.formats import GRAPH_FORMATS
from muisti.service.settings import Settings
from tests.core.fakes import NOON, Clock, WordEncoder
from tests.core.operations.erasure.test_eraser import everything, files
from tests.service.fakes import Breakable
from tests.stores import FileStore, migrated

SPACE = "/v1/spaces/default"


# Names that are nowhere else: of an author, an entity, two aliases and an object.
WORDS = ["Thandiwe Okonjo", "Zebulon Quigley", "Quiggers", "Zebulon Q", "Marguerite Vandersloot"]


def wrote(client: httpx.Client) -> list[str]:
    """Use the names in all ways that store something, and return the ids of the memories."""
    author, name, alias, second, other = WORDS
    keys = count()

    def post(route: str, body: Any, method: str = "POST") -> Any:
        headers = {"Idempotency-Key": f"key-{next(keys)}"}
        answer = client.request(method, f"{SPACE}/{route}", json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    some = {"memories": [{"content": f"Ann met Bob in Oslo {n}"} for n in range(30)], "on_conflict": "keep"}
    assert client.post(f"{SPACE}/memories/batch", json=some).is_success
    first = post("memories", {"content": f"We met {name} and {other} in Oslo", "author": author})["id"]
    post(f"memories/{first}", {"content": f"Then we met {name}, {second} and {other} in Oslo"}, "PATCH")
    stated = [
        post(f"graph/entities/{name}", {"aliases": [alias], "kind": "person"}, "PATCH"),
        post(f"graph/entities/{name}/merge", {"others": [second]}),
        post(f"graph/entities/{name}/keep-apart", {"others": ["Bob"]}),
        post("graph/relations", {"subject": name, "kind": "likes", "object": other}),
        post("graph/relations", {"subject": name, "kind": "likes", "literal": f"what {other} does"}),
    ]
    post(f"graph/statements/{stated[-1]['id']}", None, "DELETE")
    post("graph/build", {"again": True})
    asked = {
        "query": f"{name} {second} {other}", "filter": {"entity": name}, "rankings": {"graph": 0.1}, "receipt": True,
    }  # fmt: skip
    while not client.post(f"{SPACE}/search", json={**asked, "receipt": False}).json()["hits"]:
        time.sleep(0.02)  # the graph is being read again
    assert client.post(f"{SPACE}/search", json=asked).json()["hits"]
    assert client.post(f"{SPACE}/search", json={**asked, "filter": {"author": author}}).json()["hits"]
    return list(dict.fromkeys([first, *(one["id"] for one in stated)]))


def purged(client: httpx.Client, ids: list[str]) -> None:
    for one in ids:
        report = client.delete(f"{SPACE}/memories/{one}?purge=true").json()
        report = report.get("report", report)
        assert not any(report["found"].values())
        assert {"entities", "mentions", "relations", "aliases"} <= report["erased"].keys()


def said(client: httpx.Client) -> str:
    """All that the service tells of the graph, its history, tasks and log."""
    routes = [
        "changes", "tasks", "export", "graph/entities?limit=500", "graph/relations", "graph/proposals", "memories",
    ]  # fmt: skip
    routes += [f"graph/export?format={one}" for one in GRAPH_FORMATS] + ["graph/picture?limit=200"]
    answers = [client.get(f"{SPACE}/{one}") for one in routes] + [client.get("/v1/audit")]
    assert all(one.is_success for one in answers), [one.text for one in answers if not one.is_success]
    assert {client.get(f"{SPACE}/graph/entities/{one}").status_code for one in WORDS} == {404}
    return "\n".join(one.text for one in answers).lower()


def left(*data: bytes) -> list[str]:
    return [one for one in WORDS if any(one.lower().encode() in each.lower() for each in data)]


def test_no_answer_and_no_row_has_a_name_of_an_erased_memory(client: httpx.Client, database: Breakable):
    ids = wrote(client)
    assert left(everything(database)) == WORDS
    purged(client, ids)
    assert left(said(client).encode(), everything(database)) == []


@pytest.mark.file_only
def test_backups_made_after_a_purge_have_no_name_and_restored_older_ones_are_purged(tmp_path: Path, clock: Clock):
    store = FileStore(tmp_path / "here" / "m.db")
    store.path.parent.mkdir()
    with _serving(store, clock) as client:
        ids = wrote(client)
        back_up(store.path, tmp_path / "before.db", NOON)
        assert left((tmp_path / "before.db").read_bytes()) == WORDS
        purged(client, ids)
        back_up(store.path, tmp_path / "after.db", NOON)
        assert left(files(store), (tmp_path / "after.db").read_bytes()) == []
    again = FileStore(tmp_path / "there" / "m.db")
    again.path.parent.mkdir()
    restore(tmp_path / "before.db", again.path, NOON)
    with _serving(again, clock) as client:
        assert client.get(f"{SPACE}/graph/entities/{WORDS[1]}").status_code == 200
        purged(client, ids)
        assert left(files(again), said(client).encode()) == []


class _serving:
    """A service on a file."""

    def __init__(self, store: FileStore, clock: Clock) -> None:
        self._engine = Engine(migrated(store), WordEncoder(), clock)
        self._client = TestClient(create_app(Settings(), engine=self._engine))

    def __enter__(self) -> httpx.Client:
        return self._client.__enter__()

    def __exit__(self, *_: object) -> None:
        self._client.__exit__(None, None, None)
        self._engine.close()
