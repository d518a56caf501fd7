"""The change feed over HTTP: pages, and streams that lose nothing, are bounded, and end when they must."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.engine import Engine
from muisti.core.model.outcomes import Events
from muisti.core.model.values import Draft
from muisti.core.query.points import Wanted
from muisti.core.views.read import Read
from muisti.service.feed import stream
from tests.core.fakes import Clock, WordEncoder
from tests.service.cli.test_cli import Run
from tests.service.fakes import API, Breakable, draft
from tests.service.keyed import with_mode
from tests.service.runtime.test_admission import served
from tests.stores import FileStore, RemoteStore

STREAM = {"Accept": "text/event-stream"}
Event = dict[str, Any]


pytestmark = pytest.mark.one_store  # tests/core/read/test_feed.py asks both


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"LOOK": 0.05, "CHECK": 0.1, "HEARTBEAT": 0.2}.items():
        monkeypatch.setattr(stream, name, seconds)
    monkeypatch.setattr("muisti.service.feed.stream.EVERY", 0.05)


class Listener:
    """A stream that is open."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def next(self) -> Event:
        """The next event, comments and all."""
        fields: Event = {}
        for line in self._lines:
            if not line:
                if fields:
                    return fields
            elif line.startswith(":"):
                fields["comment"] = line
            else:
                name, _, value = line.partition(": ")
                fields[name] = json.loads(value) if name == "data" else value
        return {}

    def event(self) -> Event:
        """The next that tells something."""
        while "data" not in (found := self.next()):
            assert found, "the stream has ended"
        return found


class Open:
    """Opens a stream."""

    def __init__(self, url: str, headers: dict[str, str], params: dict[str, str]) -> None:
        self._client = httpx.Client(base_url=url, timeout=30)
        self._stream = self._client.stream("GET", f"{API}/changes", headers={**STREAM, **headers}, params=params)

    def __enter__(self) -> Listener:
        return Listener(self._stream.__enter__())

    def __exit__(self, *_: object) -> None:
        self._client.close()


def listen(url: str, headers: dict[str, str] | None = None, **params: str) -> Open:
    return Open(url, headers or {}, params)


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    with served(engine, stream_limit=4) as opened:
        yield opened


def test_pages_tell_what_happened_and_where_to_go_on(client: httpx.Client):
    path = client.post(f"{API}/memories", json=draft("tea", tags=["drink"])).headers["Location"]
    client.post(f"{API}/memories", json=draft("bread"))
    client.patch(path, json={"content": "coffee"}, headers={"X-Request-Id": "r-1"})
    client.delete(path)
    first = client.get(f"{API}/changes", params={"limit": 3, "show": "both", "tags": "drink"})
    page = first.json()
    assert [one["change"] for one in page["items"]] == ["created", "updated", "deleted"]
    assert [one["before"] and one["before"]["content"] for one in page["items"]] == [None, "tea", "coffee"]
    assert [one["after"] and one["after"]["content"] for one in page["items"]] == ["tea", "coffee", None]
    assert page["items"][1]["request"] == "r-1" and page["items"][1]["actor"] == "anonymous"
    assert page["next_cursor"] is None and page["seq"] == first.headers["Muisti-Seq"]
    one = client.get(f"{API}/changes", params={"limit": 1, "show": "ids"}).json()
    assert one["next_cursor"] == one["seq"] and not {"before", "after"} & one["items"][0].keys()
    rest = client.get(f"{API}/changes", params={"since": one["next_cursor"], "change": "deleted,updated"}).json()
    assert [(change["seq"], change["change"]) for change in rest["items"]] == [(3, "updated"), (4, "deleted")]
    assert client.get(f"{API}/changes", params={"since": rest["seq"]}).json()["items"] == []


@pytest.mark.parametrize(("params", "path"), [
    ({"since": "17"}, "$.since"), ({"limit": "0"}, "$.limit"), ({"change": "eaten"}, "$.change"),
    ({"show": "all"}, "$.show"), ({"nonsense": "1"}, "$.nonsense"),
])  # fmt: skip
def test_what_cannot_be_asked_is_told(client: httpx.Client, params: dict[str, str], path: str):
    for headers in ({}, STREAM):
        refused = client.get(f"{API}/changes", params=params, headers=headers)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, path)


def test_a_point_of_another_epoch_is_gone(client: httpx.Client, engine: Engine):
    engine.spaces.create("a")
    old = engine.spaces.get("a").at
    engine.spaces.delete("a")
    engine.spaces.create("a")
    for asked in ({"params": {"since": str(old)}}, {"headers": {**STREAM, "Last-Event-ID": str(old)}}):
        gone = client.get("/v1/spaces/a/changes", **asked)  # pyright: ignore[reportArgumentType]
        assert (gone.status_code, gone.json()["code"]) == (410, "epoch_gone")
    bad = client.get("/v1/spaces/a/changes", headers={**STREAM, "Last-Event-ID": "x"})
    assert (bad.status_code, bad.json()["code"]) == (400, "malformed_header")


def test_a_stream_tells_what_happens_and_goes_on_where_it_was_cut(url: str, engine: Engine):
    engine.owner.write.add("default", [Draft(content="before")])
    with listen(url) as heard:
        assert heard.response.headers["Content-Type"].startswith("text/event-stream")
        assert heard.response.headers["Muisti-Seq"] == str(engine.spaces.get("default").at)
        made = engine.owner.write.add("default", [Draft(content="tea", tags=("drink",))]).memories[0]
        event = heard.event()
        assert (event["event"], event["data"]["after"]["content"]) == ("created", "tea")
        assert event["id"] == str(engine.spaces.get("default").at)
        quiet = heard.next()
        assert quiet["comment"] and quiet["id"] == event["id"]
    for n in range(20):
        engine.owner.write.update("default", made.id, {"reason": f"r{n}"})
    with listen(url, {"Last-Event-ID": event["id"]}, show="ids", limit="7") as heard:
        seqs = [heard.event()["data"]["seq"] for _ in range(20)]
        assert seqs == list(range(3, 23))
        engine.owner.write.delete("default", made.id)
        assert heard.event()["data"] == heard_of(engine, made.id, 23)


def heard_of(engine: Engine, memory_id: str, seq: int) -> Event:
    (page,) = [one for one in engine.owner.read.history("default", memory_id).versions if one.died == seq]
    assert page.died_at is not None
    at = page.died_at.isoformat().replace("+00:00", "Z")
    return {"seq": seq, "at": at, "change": "deleted", "memory_id": memory_id, "version": page.memory.version,
            "actor": "local", "request": None}  # fmt: skip


@pytest.mark.parametrize("kind", ["file", "sqld"])
def test_what_another_process_writes_is_heard_too(kind: str, tmp_path: Path, sqld: Sqld, clock: Clock):
    store = FileStore(tmp_path / "m.db") if kind == "file" else RemoteStore(sqld)
    reader, writer = (Engine(Breakable(store.open()), WordEncoder(), clock) for _ in range(2))
    with served(reader) as url, listen(url, tags="drink") as heard:
        writer.owner.write.add("default", [Draft(content="bread")])
        writer.owner.write.add("default", [Draft(content="tea", tags=("drink",))])
        assert heard.event()["data"]["after"]["content"] == "tea"
    for engine in (reader, writer):
        engine.close()


def test_all_streams_share_one_question_and_nobody_asks_without_them(engine: Engine, database: Breakable, url: str):
    asked: list[float] = []
    read = database.read

    def counted(statements: Any) -> Any:
        if any(one.sql.startswith("SELECT name, epoch, seq") for one in statements):
            asked.append(time.monotonic())
        return read(statements)

    database.read = counted
    with listen(url) as one, listen(url) as two, listen(url) as three:
        for heard in (one, two, three):
            assert heard.next()["retry"] and heard.next()["comment"]
        so_far, began = len(asked), time.monotonic()
        for heard in (one, two, three):
            assert heard.next()["comment"]
        assert len(asked) - so_far <= (time.monotonic() - began) / 0.05 + 2
        engine.owner.write.add("default", [Draft(content="tea")])
        assert [heard.event()["data"]["seq"] for heard in (one, two, three)] == [1, 1, 1]
    for _ in range(2):  # the end of the streams is noticed when they would tell something
        engine.owner.write.add("default", [Draft(content=f"more {time.monotonic()}")])
    deadline = time.monotonic() + 20
    while asked and time.monotonic() < deadline:
        asked.clear()
        time.sleep(0.2)
    assert asked == []


def test_streams_are_bounded_in_number_altogether_and_for_a_key(engine: Engine):
    headers = [with_mode(engine, "read-only", "default").headers for _ in range(4)]
    with served(engine, stream_limit=8) as url:
        with listen(url, headers[0]) as one, listen(url, headers[0]) as two:
            assert one.next() and two.next()
            refused = httpx.get(f"{url}{API}/changes", headers={**STREAM, **headers[0]})
            assert (refused.status_code, refused.json()["code"]) == (503, "busy") and "this key" in refused.text
            with listen(url, headers[1]) as other:
                assert other.next()
        with listen(url, headers[0]) as again:
            assert again.response.status_code in (200, 503)  # the end of the others may not have arrived


def test_a_stream_ends_with_the_key_that_opened_it(engine: Engine):
    key = with_mode(engine, "read-only", "default")
    with served(engine) as url, listen(url, key.headers) as heard:
        engine.owner.write.add("default", [Draft(content="tea")])
        assert heard.event()["event"] == "created"
        engine.keys.revoke(key.id, engine.now())
        end = heard.event()
        assert (end["event"], end["data"]["code"]) == ("end", "unauthorized")
        assert heard.next() == {}


def test_a_stream_ends_with_its_space(url: str, engine: Engine):
    engine.spaces.create("a")
    with (
        httpx.Client(base_url=url, timeout=30) as client,
        client.stream("GET", "/v1/spaces/a/changes", headers=STREAM) as response,
    ):
        heard = Listener(response)
        assert heard.next()["retry"]
        engine.spaces.delete("a")
        end = heard.event()
        assert (end["event"], end["data"]["code"]) == ("end", "not_found")


def test_a_server_that_stops_ends_its_streams_in_good_order(engine: Engine):
    heard: list[Event] = []
    ready = threading.Event()

    def listening(url: str) -> None:
        with listen(url) as opened:
            opened.next()
            ready.set()
            heard.append(opened.event())

    with served(engine) as url:
        thread = threading.Thread(target=listening, args=(url,))
        thread.start()
        assert ready.wait(30)
    thread.join(30)
    assert [(one["event"], one["data"]["code"]) for one in heard] == [("end", "stopping")]


@pytest.mark.file_only
def test_a_reader_who_does_not_read_holds_up_nobody_and_nothing_piles_up_for_him(tmp_path: Path, clock: Clock):
    """The pages are asked for as they are sent; what the system's own buffers do not take is not made."""
    asked: list[int] = []
    many = [Draft(content=f"n{n}", metadata={"x": "y" * 16_000}) for n in range(300)]
    with Engine(FileStore(tmp_path / "m.db").open(), None, clock) as engine, pytest.MonkeyPatch.context() as patch:
        start = engine.spaces.get("default").at
        engine.owner.write.add("default", many, on_conflict="keep")
        changes = Read.changes

        def noted(self: Read, space: str, wanted: Wanted) -> Events:
            asked.append(0 if wanted.since is None else wanted.since.number)
            return changes(self, space, wanted)

        patch.setattr(Read, "changes", noted)
        with (
            served(engine) as url,
            listen(url, since=str(start), limit="10") as idle,
            listen(url, since=str(start), limit="10") as reader,
        ):
            assert [reader.event()["data"]["seq"] for _ in many] == list(range(1, 301))
            assert asked.count(290) == 1 and asked.count(0) == 2
            assert idle.event()["data"]["seq"] == 1


@pytest.mark.file_only
def test_the_command_line_follows_a_server_and_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
):
    """Three lines are waited for, and then Ctrl-C."""
    with Engine(FileStore(tmp_path / "f.db").open(), WordEncoder(), clock) as engine:
        said: list[str] = []

        def echo(text: str | bytes = "", **_: Any) -> None:
            said.append(str(text))
            if len(said) == 3:
                raise KeyboardInterrupt

        monkeypatch.setattr("muisti.service.cli.commands.history.click.echo", echo)
        monkeypatch.setattr("muisti.service.cli.commands.history.PAUSE", 0.05)
        engine.owner.write.add("default", [Draft(content="old")])
        since = str(engine.spaces.get("default").at)
        engine.owner.write.add("default", [Draft(content="one")])
        engine.owner.write.add("default", [Draft(content="two")])
        later = threading.Timer(0.5, lambda: engine.owner.write.add("default", [Draft(content="three")]))
        later.start()
        with served(engine) as url:
            run("changes", "--follow", "--since", since, "--url", url, "--space", "default")
        assert [line.split("\t")[-1] for line in said[:3]] == ["one", "two", "three"]
        said.clear()
        run("changes", "--follow", "--since", since, "--database", str(tmp_path / "f.db"), "--space", "default")
        assert [line.split("\t")[-1] for line in said[:3]] == ["one", "two", "three"]
        later.join()
