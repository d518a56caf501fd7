"""Requests find their space in its database: while it moves, with an old map, and when a database is down."""

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.buckets import bucket_of, unit_of
from muisti.core.model.errors import StoreUnavailable
from muisti.core.placement.directory import Target
from muisti.core.placement.mover import Mover
from muisti.core.store.database import Rows, Statement
from muisti.service.app.app import create_app
from muisti.service.runtime.engines import Engines
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import Breakable
from tests.stores import at, migrated

SPACE = "acme"
UNIT = unit_of(bucket_of(SPACE))
OTHER = next(name for name in (f"other{n}" for n in range(9)) if bucket_of(name) != bucket_of(SPACE))
ME = "tester"


class Server:
    """A replica: its client, its engines, and the databases as it opened them, which may fail."""

    def __init__(self, client: TestClient[object], databases: dict[int, Breakable]) -> None:
        self.client, self.databases = client, databases
        self.engines: Engines = client.app.state.backend.engines  # pyright: ignore[reportAttributeAccessIssue]

    def move(self, name: str, unit: str = UNIT, mover: Mover | None = None) -> None:
        target = self.engines.directory.load().named(name)
        (asked,) = self.engines.directory.ask([unit], target, "moved", ME, 0)
        moved = (mover or Mover(self.engines.directory, self.engines.database, ME)).run(asked.id)
        assert moved is not None and moved.step == "ended", moved

    def add(self, text: str, space: str = SPACE) -> httpx.Response:
        return self.client.post(f"/v1/spaces/{space}/memories", json={"content": text, "on_conflict": "keep"})

    def search(self, text: str, space: str = SPACE) -> list[str]:
        found = self.client.post(f"/v1/spaces/{space}/search", json={"query": text})
        assert found.status_code == 200, found.text
        return [hit["memory"]["content"] for hit in found.json()["hits"]]


@contextmanager
def replica(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    databases: dict[int, Breakable] = {}
    main = databases[0] = Breakable(migrated(at(folder / "main.db")))

    def opened(location: object) -> Breakable:
        path = Path(str(getattr(location, "url", "")).removeprefix("file:"))
        made = Breakable(migrated(at(path)))
        databases[len(databases)] = made
        return made

    monkeypatch.setattr("muisti.service.runtime.engines.open_database", opened)
    with (
        Engine(main, WordEncoder(), Clock()) as engine,
        TestClient(create_app(Settings(), engine=engine)) as client,
    ):
        yield Server(client, databases)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with replica(tmp_path, monkeypatch) as made:
        for name in ("a", "b"):
            made.engines.directory.add(Target(id=-1, name=name, url=f"file:{tmp_path}/{name}.db"), ME, 0)
        made.engines.open_all()
        for space in (SPACE, OTHER):
            assert made.client.post("/v1/spaces", json={"name": space}).status_code == 201
        yield made


def test_requests_follow_their_space(server: Server):
    assert server.add("before the move").status_code == 201
    for name in ("a", "b", "main"):
        server.move(name)
        assert server.add(f"in {name}").status_code == 201
        assert server.search(f"in {name}")[0] == f"in {name}"
        assert server.search("before the move")[0] == "before the move"
    assert server.add("elsewhere", OTHER).status_code == 201


def test_a_replica_with_an_old_map_is_refused_reads_it_again_and_tries_once_more(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    server.add("before the move")
    with replica(tmp_path, monkeypatch) as late:
        assert late.search("before the move") == ["before the move"]
        places = itertools.cycle(("a", "b", "main"))
        for number in range(4):
            before = late.engines.directory.map.epoch
            server.move(next(places))
            assert late.engines.directory.map.epoch == before  # it does not know
            text = f"written with an old map {number}"
            assert late.add(text).status_code == 201
            assert late.engines.directory.map.epoch > before
            assert server.search(text)[0] == text
            server.move(next(places))
            strong = late.client.get(f"/v1/spaces/{SPACE}", headers={"Muisti-Freshness": "strong"})
            assert strong.status_code == 200
            assert late.search(text)[0] == text


def test_spaces_made_with_an_old_map_come_to_the_right_database(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fresh = next(f"acme{n}" for n in range(99_999) if bucket_of(f"acme{n}") == bucket_of(SPACE))
    with replica(tmp_path, monkeypatch) as late:
        server.move("a")
        assert late.client.post("/v1/spaces", json={"name": fresh}).status_code == 201
    assert fresh in {space.name for space in server.engines.opened(1).spaces.list()}


def test_a_space_that_is_not_there_is_not_found_and_the_map_is_not_asked(server: Server):
    server.databases[0].failure = None
    missing = server.client.get("/v1/spaces/nobody")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_known_buckets_go_on_without_the_directory(server: Server):
    server.add("kept")
    server.move("a")
    server.databases[0].failure = StoreUnavailable("down")
    assert server.add("without the directory").status_code == 201
    assert server.search("without the directory")[0] == "without the directory"
    refused = server.add("in the directory", OTHER)
    assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
    assert refused.headers["Retry-After"] == "1"


def test_a_database_that_is_down_takes_only_its_spaces_with_it(server: Server):
    server.move("a")
    server.databases[1].failure = StoreUnavailable("down")
    for _ in range(3):
        refused = server.add("lost?")
        assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
        assert "'a'" in refused.json()["detail"]
    assert server.add("there", OTHER).status_code == 201


def test_readiness_names_each_database_and_one_that_is_down_takes_only_its_spaces_with_it(server: Server):
    def states() -> dict[str, str]:
        ready = server.client.get("/readyz")
        assert ready.status_code == 200, ready.text
        return ready.json()["databases"]

    server.move("a")
    assert states() == {"main": "ready", "a": "ready", "b": "ready"}
    assert server.client.get("/readyz").json()["spaces"] == 3
    server.databases[1].failure = StoreUnavailable("down")
    assert states() == {"main": "ready", "a": "down", "b": "ready"}
    server.databases[1].failure = None
    assert states()["a"] == "ready"
    server.databases[0].failure = StoreUnavailable("down")
    assert server.client.get("/readyz").status_code == 200  # spaces of the others are there
    for one in server.databases.values():
        one.failure = StoreUnavailable("down")
    refused = server.client.get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")


def test_a_database_that_hangs_takes_no_thread_from_readiness(server: Server):
    hanging, asked = threading.Event(), threading.Semaphore(0)
    database = server.databases[1]
    read = database.read

    def hang(statements: Sequence[Statement]) -> list[Rows]:
        asked.release()
        hanging.wait(60)
        return read(statements)

    database.read = hang
    try:
        for _ in range(2):
            assert server.client.get("/readyz").json()["databases"] == {"main": "ready", "a": "down", "b": "ready"}
        assert asked.acquire(blocking=False) and not asked.acquire(blocking=False)  # it is asked once
    finally:
        hanging.set()
        database.read = read


def test_writes_during_moves_are_kept_once(server: Server):
    acknowledged: list[str] = []
    refused: list[str] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            answer = server.add(f"write number {number}")
            (acknowledged if answer.status_code == 201 else refused).append(f"write number {number}")
            if answer.status_code != 201:
                assert (answer.status_code, answer.json()["code"]) == (503, "space_moving"), answer.text
                assert answer.headers["Retry-After"] == "1"

    writer = threading.Thread(target=write)
    writer.start()
    for name in ("a", "b", "main", "b"):
        server.move(name)
    stop.set()
    writer.join()
    found: list[str] = []
    cursor = None
    while True:
        page = server.client.get(
            f"/v1/spaces/{SPACE}/memories", params={"limit": 100} | ({"cursor": cursor} if cursor else {})
        ).json()
        found += [one["content"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found))
    assert set(found) >= set(acknowledged)
    assert set(found) <= {*acknowledged, *refused}
    assert acknowledged
