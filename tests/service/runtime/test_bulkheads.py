"""No kind of request, no space and no key takes all threads; those who wait beyond their share are refused."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.errors import Busy
from muisti.service.app.app import create_app
from muisti.service.mcp.tools import TOOLS
from muisti.service.runtime.admission import (
    BY_SIZE,
    LANE,
    QUICK_OPERATIONS,
    SLOW_OPERATIONS,
    SLOW_TOOLS,
    SMALL,
    Lane,
    Line,
    is_slow,
    is_slow_tool,
)
from muisti.service.runtime.workers import Pool
from muisti.service.settings import Settings
from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

THREADS, WAITING = 32, 16
PATIENCE = 60.0


@pytest.fixture
def client(engine: Engine) -> Iterator[TestClient[Litestar]]:
    settings = Settings(database_threads=THREADS, queue_limit=WAITING, queue_seconds=PATIENCE)
    with TestClient(create_app(settings, engine=engine)) as opened:
        for space in ("large", "small"):
            opened.post("/v1/spaces", json={"name": space})
            assert opened.post(f"/v1/spaces/{space}/memories", json=draft("Ann Lee works at Acme.")).status_code == 201
        yield opened


@contextmanager
def occupied(client: TestClient[Litestar], lane: Lane) -> Iterator[list[Future[bool]]]:
    """Send calls of a lane that do not end, until one is refused."""
    gate, backend = threading.Event(), client.app.state.backend

    async def call() -> bool:
        LANE.set(lane)
        return await backend.store(gate.wait)

    with client.portal() as portal:
        calls = list[Future[bool]]()
        while not any(one.done() for one in calls):
            calls.append(portal.start_task_soon(call))
            portal.call(asyncio.sleep, 0)
        try:
            yield calls
        finally:
            gate.set()
            refused = [one.exception(PATIENCE) for one in calls]
            assert [type(one) for one in refused if one is not None] == [Busy]


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("labels", [{"space": "large"}, {"key": "greedy"}, {"space": "large", "key": "greedy"}])
def test_a_space_or_a_key_leaves_threads_to_others(client: TestClient[Litestar], slow: bool, labels: dict[str, str]):
    with occupied(client, Lane(slow, **labels)):
        for path in (
            "/healthz", "/readyz", "/v1/spaces/small/memories", "/v1/spaces/small/graph/entities", "/v1/spaces",
        ):  # fmt: skip
            assert client.get(path).status_code == 200, path
        assert client.post("/v1/spaces/small/search", json={"query": "Acme"}).status_code == 200
        assert client.post("/v1/spaces/small/context", json={"query": "Acme"}).status_code == 200
        if "space" in labels:
            path = "graph/entities" if slow else "memories"
            refused = client.get(f"/v1/spaces/large/{path}")
            assert (refused.status_code, refused.json()["code"]) == (503, "busy")
            assert int(refused.headers["Retry-After"]) > 0


def test_slow_kinds_of_all_spaces_leave_threads_to_fast_ones(client: TestClient[Litestar]):
    with occupied(client, Lane(slow=True)):
        assert client.get("/readyz").status_code == 200
        assert client.get("/v1/spaces/large/memories").status_code == 200
        assert client.post(f"{API}/memories", json=draft("A new one.")).status_code == 201
        assert client.get("/v1/spaces/large/graph/entities").json()["code"] == "busy"


def test_what_is_held_is_done_in_its_turn_and_what_is_given_up_is_not():
    gate, pool = threading.Event(), Pool("shared", 4, 8, Line(), 0.5)
    done = list[str]()

    def work(name: str) -> None:
        assert gate.wait(PATIENCE)
        done.append(name)

    async def call(lane: Lane, act: Callable[[str], None], name: str) -> None:
        LANE.set(lane)
        await pool.run(act, name)

    async def scenario() -> list[Any]:
        large, small = Lane(space="large", key="one"), Lane(space="small", key="two")
        calls = [asyncio.create_task(call(large, work, f"large {number}")) for number in range(6)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await call(large, work, "one too many")
        await call(small, done.append, "small")
        calls[3].cancel()
        await asyncio.gather(calls[3], return_exceptions=True)
        gate.set()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.gather(*(call(large, done.append, f"again {number}") for number in range(4)))
        return done

    try:
        found = asyncio.run(scenario())
    finally:
        pool.close()
    assert found[0] == "small" and pool.calls == 0
    assert {*found[1:6]} == {f"large {number}" for number in (0, 1, 2, 4, 5)} and len(found) == 10


def test_what_is_slow_is_there(client: TestClient[Litestar]):
    operations = {
        handler.operation_id for route in client.app.routes for handler in getattr(route, "route_handlers", ())
    }
    tools = {tool.name for tool in TOOLS}
    assert operations >= SLOW_OPERATIONS | QUICK_OPERATIONS
    assert tools >= SLOW_TOOLS
    assert operations | tools >= BY_SIZE


def test_a_document_is_slow_when_it_is_large():
    assert [is_slow("putDocument", ["documents"], size) for size in (1, SMALL, SMALL + 1, None)] == [0, 0, 1, 1]
    assert [is_slow_tool("add_document", size) for size in (1, SMALL, SMALL + 1)] == [0, 0, 1]
    assert is_slow("syncDocuments", ["documents"], 1) and is_slow_tool("graph", 1)
