"""Properties of the library that no scenario can state: threads, closing, iterators, lost answers, killed processes."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import muisti
from loadtests.services.muisti import serving
from muisti.client import Call, Unreachable, _wire, calls
from muisti.client._async_space import AsyncSpace
from tests.clients.targets import CLIENTS

LIGHT = ("apsw", "httpx", "litestar", "msgspec", "numba", "numpy")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("library") / "muisti.db") as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.fixture(params=["library", "client"])
def memory(request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Iterator[muisti.Memory]:
    space = f"s{time.time_ns()}"
    made = (
        muisti.open(tmp_path / "a.db", space=space) if request.param == "library" else muisti.connect(url, space=space)
    )
    with made:
        yield made


def python(code: str, *arguments: str) -> str:
    """The output of a program in a process of its own."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_import_loads_nothing_heavy():
    loaded = python("import muisti, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))").split()
    assert "muisti" in loaded and set(loaded).isdisjoint(LIGHT)


def test_every_public_name_is_there_and_no_other():
    names = python("import muisti; print(*(getattr(muisti, name).__name__ for name in muisti.__all__))").split()
    assert {"open", "connect", "Memory", "AsyncMemory", "MuistiError"} <= {*names}
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        _ = muisti.opne  # pyright: ignore[reportAttributeAccessIssue]  # a slip


def test_the_thin_client_does_without_the_service(url: str):
    code = """import sys
sys.path.insert(0, sys.argv[1])
sys.modules["muisti"] = None
import muisti_client
with muisti_client.connect(sys.argv[2], space="thin") as memory:
    memory.remember("Deploys go out on Fridays.")
    print(memory.recall("when do we deploy?")[0].content)
    assert not {"litestar", "numba", "apsw"} & {*sys.modules}"""
    assert python(code, str(CLIENTS), url) == "Deploys go out on Fridays."


def test_threads_share_a_handle(memory: muisti.Memory):
    def work(thread: int) -> int:
        for n in range(5):
            memory.remember(f"parcel {thread * 100 + n} is in depot {thread}", on_conflict="keep")
            memory.search("parcel")
        return len([*memory.list(limit=3)])

    with ThreadPoolExecutor(8) as threads:
        assert all(found >= 3 for found in threads.map(work, range(8)))
    assert len({one.content for one in memory.list()}) == 40


def test_closing_twice_does_nothing_and_a_closed_memory_says_so(tmp_path: Path):
    memory = muisti.open(tmp_path / "a.db")
    other = memory.space("other")
    memory.close()
    memory.close()
    other.close()
    with pytest.raises(muisti.Unreachable, match="closed"):
        other.remember("x")


def test_an_error_within_the_context_closes_it(tmp_path: Path):
    with pytest.raises(ZeroDivisionError), muisti.open(tmp_path / "a.db") as memory:
        memory.remember("Tea")
        raise ZeroDivisionError
    with pytest.raises(muisti.Unreachable):
        memory.get("rules/x")
    with muisti.open(tmp_path / "a.db") as again:
        assert [one.content for one in again.list()] == ["Tea"]


def test_a_memory_without_a_file_leaves_nothing_behind(tmp_path: Path):
    code = """import muisti, pathlib, sys, tempfile
tempfile.tempdir = sys.argv[1]
with muisti.open(":memory:") as memory:
    memory.remember("Tea")
    assert [*pathlib.Path(sys.argv[1]).iterdir()]
print(*pathlib.Path(sys.argv[1]).iterdir())"""
    assert python(code, str(tmp_path)) == ""


def test_what_was_remembered_survives_a_kill(tmp_path: Path):
    code = """import muisti, os, signal, sys
memory = muisti.open(sys.argv[1])
memory.remember("Deploys go out on Fridays.")
os.kill(os.getpid(), signal.SIGKILL)"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.db")], timeout=120)
    assert done.returncode == -signal.SIGKILL
    with muisti.open(tmp_path / "a.db") as memory:
        assert [one.content for one in memory.recall("when do we deploy?")] == ["Deploys go out on Fridays."]


def test_processes_share_a_file(tmp_path: Path):
    code = "import muisti, sys; muisti.open(sys.argv[1]).remember('Coffee is in the kitchen'); print('done')"
    with muisti.open(tmp_path / "a.db") as memory:
        memory.remember("Tea is in the cellar")
        assert python(code, str(tmp_path / "a.db")) == "done"
        assert [one.content for one in memory.recall("where is the coffee?", limit=1)] == ["Coffee is in the kitchen"]


def test_what_cannot_be_opened_is_an_error(tmp_path: Path):
    (tmp_path / "text.db").write_text("no database\n" * 1000)
    with pytest.raises(muisti.MuistiError) as refused:
        muisti.open(tmp_path / "text.db")
    assert refused.value.code == "store_corrupt"
    with pytest.raises(ValueError, match="there is no setting"):
        muisti.open(tmp_path / "a.db", secretz="allow")
    assert "muisti-embedded" not in {thread.name for thread in threading.enumerate()}


def test_settings_are_keyword_arguments_and_the_environment_is_not_read(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("MUISTI_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("MUISTI_SECRETS", "redact")
    secret = "the key is AKIAQ3EGRTZ7WNV2JPXK"
    with muisti.open(tmp_path / "a.db") as memory, pytest.raises(muisti.Invalid, match="secret|key"):
        memory.remember(secret)
    with muisti.open(tmp_path / "b.db", secrets="allow") as memory:
        assert memory.remember(secret).content == secret


def test_a_server_is_named_by_the_environment(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_URL", f"{url}/v1")
    with muisti.connect(space="named") as memory:
        assert memory.remember("Tea").space == "named"
    monkeypatch.setenv("MUISTI_KEY", "no such key")
    with muisti.connect() as memory, pytest.raises(muisti.Unauthorized) as refused:
        memory.search("x")
    assert refused.value.status == 401


@pytest.mark.parametrize("bad", ["ftp://x", "127.0.0.1:8321", "http://"])
def test_what_is_no_server_is_refused(bad: str):
    with pytest.raises(ValueError, match="is no URL"):
        muisti.connect(bad)


def test_reads_make_no_space_and_writes_do(url: str):
    with muisti.connect(url, space="fresh") as memory:
        assert memory.search("x").hits == [] == list(memory.list())
        with pytest.raises(muisti.NotFound):
            memory.send(calls.get_space("fresh"))
        memory.remember("Tea")
        assert [one.content for one in memory.list()] == ["Tea"]


def test_iterators_may_be_left_early(memory: muisti.Memory):
    memory.remember_many([f"parcel {n}" for n in range(120)])
    for _, one in zip(range(2), memory.list(), strict=False):
        assert one.content.startswith("parcel")
    first = next(memory.changes())
    for change in memory.changes(since=first.point, follow=True):
        assert change.change == "created"
        break
    followed = memory.changes(since=first.point, follow=True)
    next(followed)
    followed.close()
    assert [*followed] == []
    assert len([*memory.list()]) == 120


def test_a_list_reads_pages_as_they_are_needed(memory: muisti.Memory):
    memory.remember_many([f"parcel {n}" for n in range(230)])
    assert len({one.id for one in memory.list()}) == 230
    assert len([*memory.list(limit=150)]) == 150


def test_changes_are_followed_as_they_happen(memory: muisti.Memory):
    start = memory.remember("Tea").content
    last = [*memory.changes()][-1]
    seen = list[str | None]()

    def follow() -> None:
        for change in memory.changes(since=last.point, follow=True, limit=2):
            seen.append(change.after.content if change.after else None)

    follower = threading.Thread(target=follow)
    follower.start()
    memory.remember("Coffee")
    memory.remember("Milk")
    follower.join(30)
    assert (start, seen) == ("Tea", ["Coffee", "Milk"])


def test_closing_ends_those_who_follow(tmp_path: Path):
    memory = muisti.open(tmp_path / "a.db")
    ended = threading.Event()

    def follow() -> None:
        for _ in memory.changes(follow=True):
            pass
        ended.set()

    follower = threading.Thread(target=follow)
    follower.start()
    memory.remember("Tea")
    memory.close()
    follower.join(30)
    assert ended.is_set()


class Cutting:
    """A proxy that forwards requests and cuts off the first answers, as a lost connection does."""

    def __init__(self, url: str, cuts: int) -> None:
        self._to = ("127.0.0.1", int(url.rpartition(":")[2]))
        self.cuts = self.left = cuts
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client, socket.create_connection(self._to) as server:
                while request := message(client):
                    server.sendall(request)
                    answer = message(server)
                    if self.left:
                        self.left -= 1
                        break
                    client.sendall(answer)

    def close(self) -> None:
        self._socket.close()


def message(connection: socket.socket) -> bytes:
    """Return one message of HTTP, whose length is in its head; empty when the connection ends."""
    found = b""
    while b"\r\n\r\n" not in found:
        if not (piece := connection.recv(1 << 20)):
            return b""
        found += piece
    head, _, body = found.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    while len(body) < int(length[1] if length else 0):
        body += connection.recv(1 << 20)
    return head + b"\r\n\r\n" + body


def test_a_lost_answer_stores_nothing_twice(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_wire, "PAUSE", 0.0)
    with closing(Cutting(url, cuts=2)) as proxy, muisti.connect(proxy.url, space="cut") as memory:
        stored = memory.remember("Tea", on_conflict="keep")
        assert (proxy.left, [one.id for one in memory.list()]) == (0, [stored.id])


def test_without_an_answer_there_is_an_error(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_wire, "PAUSE", 0.0)
    with closing(Cutting(url, cuts=100)) as proxy, muisti.connect(proxy.url, attempts=2) as memory:
        with pytest.raises(muisti.Unreachable) as failed:
            memory.search("x")
        assert (failed.value.status, failed.value.code, proxy.left) == (0, "", 99)  # a search is not repeated


class Interrupted:
    """A sender whose streams break off after each event, and end when there are no more."""

    closed = False

    def __init__(self, *answers: bytes | Exception) -> None:
        self._answers, self.since = [*answers], list[str | None]()

    async def pieces(self, request: Call) -> AsyncGenerator[bytes, None]:
        self.since.append(request.params.get("since"))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield answer[:20]
        yield answer[20:]
        raise Unreachable("the connection broke off")


def event(number: int) -> bytes:
    fields = b'"memory_id":null,"version":null,"actor":null,"request":null'
    data = b'{"seq":%d,"at":"2026-11-24T09:00:00Z","change":"created",%b}' % (number, fields)
    return b"id: e:%d\nevent: created\ndata: %b\n\n" % (number, data)


def test_whoever_follows_goes_on_where_the_connection_broke_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_wire, "PAUSE", 0.0)
    end = b'event: end\ndata: {"code":"epoch_gone","detail":"made again"}\n\n'
    sender: Any = Interrupted(event(1), Unreachable("down"), event(2) + b": still here\n\n", end)

    async def follow() -> list[str]:
        points = list[str]()
        with pytest.raises(muisti.NotFound, match="made again"):
            async for change in AsyncSpace(sender, "default").changes(since="e:0", follow=True):
                points.append(change.point)
        return points

    assert asyncio.run(follow()) == ["e:1", "e:2"]
    assert sender.since == ["e:0", "e:1", "e:1", "e:2"]


def test_whoever_follows_gives_up_after_some_attempts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_wire, "PAUSE", 0.0)
    sender: Any = Interrupted(*[Unreachable("down")] * _wire.ATTEMPTS)

    async def follow() -> None:
        async for _ in AsyncSpace(sender, "default").changes(since="e:0", follow=True):
            pass

    with pytest.raises(Unreachable, match="down"):
        asyncio.run(follow())


def test_awaited_calls_run_together_and_close_cleanly(tmp_path: Path):
    async def work() -> int:
        async with muisti.open_async(tmp_path / "a.db") as memory:
            texts = (f"parcel {n}" for n in range(20))
            await asyncio.gather(*(memory.remember(text, on_conflict="keep") for text in texts))
            async for change in memory.changes(since=None):
                assert change.change == "created"
                break
            found = [one async for one in memory.list()]
            await memory.aclose()
        with pytest.raises(muisti.Unreachable, match="closed"):
            await memory.search("x")
        return len(found)

    assert asyncio.run(work()) == 20


def test_an_awaited_memory_opens_when_it_is_used(tmp_path: Path):
    async def work() -> None:
        memory = muisti.open_async(tmp_path / "a.db")
        assert not (tmp_path / "a.db").exists()
        await memory.remember("Tea")
        await memory.aclose()
        bad = muisti.open_async(tmp_path)
        with pytest.raises(muisti.MuistiError):
            await bad.remember("Tea")

    asyncio.run(work())


def test_a_memory_is_named_in_one_way(memory: muisti.Memory):
    for arguments in ({}, {"category": "rules"}, {"name": "x", "category": "rules", "key": "y"}):
        with pytest.raises(ValueError, match="name the memory"):
            memory.get(**arguments)


def test_results_are_read_easily(memory: muisti.Memory):
    stored = memory.remember("Tea " * 100, category="rules")
    assert f"content='{'Tea ' * 15}…'" in repr(stored) and "author" not in repr(stored)
    assert stored.created_at.utcoffset() is not None
    assert stored.to_dict()["created_at"] == stored.created_at.isoformat().replace("+00:00", "Z")
    refused = pytest.raises(muisti.Conflict, memory.remember, "Tea " * 100)
    assert refused.value.conflicts[0]["id"] == stored.id and refused.value.detail


def test_a_space_that_does_not_exist_yet_knows_nothing(memory: muisti.Memory):
    user = memory.space(f"user{time.time_ns()}")
    assert user.recall("hello") == [] == list(user.list()) == list(user.changes())
    found, context = user.search("hello"), user.context("hello", token_budget=500)
    assert (found.hits, found.evidence, context.text, context.evidence) == ([], "none", "", "none")
    assert context.token_budget == 500
    assert user.name in found.degraded[0] and user.name in context.degraded[0]
    with pytest.raises(muisti.NotFound):
        user.get("people/ann")
    user.remember("Ann prefers tea")
    assert [one.content for one in user.recall("what does Ann prefer?")] == ["Ann prefers tea"]
    with pytest.raises(muisti.NotFound):
        user.search(similar_to="01a22644-c18e-7e31-b9ca-91d18cd18ce4")
