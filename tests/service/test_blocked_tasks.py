"""A task whose batch never ends keeps no read waiting, in its own space or another; all routes and tools are tried."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.tasks.claim import UNFENCED, FencedCommit
from muisti.service.app.app import create_app
from muisti.service.mcp.tools import TOOLS
from muisti.service.settings import Settings
from tests.service import mcp_client
from tests.service.fakes import draft
from tests.service.keyed import BODIES, QUERIES

pytestmark = pytest.mark.one_store

BLOCKED, OTHER = "large", "small"
PATIENCE = 60.0  # seconds until a read counts as one that waits for the task
SOURCE = "def run():\n    return 1\n\n\ndef walk():\n    return run()\n"
STREAMS = {"followTask"}
PARTS = {
    "entity": "Ann Lee", "conversation": "talk", "path": "main.py", "category": "rules", "key": "deploy",
    "session": "default",
}  # fmt: skip
ARGUMENTS: dict[str, Any] = {
    "query": "Who is Ann Lee?", "name": "Ann Lee", "symbol": "run", "path": "main.py", "entity": "Ann Lee",
    "first": "Ann Lee", "second": "Acme", "other": OTHER, "text": "Ann Lee works at Acme.", "conversation": "talk",
    "since": "0", "to": "Acme", "from": "Ann Lee", "spaces": [OTHER], "content": "Ann Lee works at Acme.",
}  # fmt: skip

Asked = tuple[str, str, str, dict[str, Any] | None]


@pytest.fixture
def app(engine: Engine) -> Litestar:
    return create_app(Settings(queue_seconds=PATIENCE, request_timeout=PATIENCE, tasks=0), engine=engine)


@pytest.fixture
def client(app: Litestar) -> Iterator[httpx.Client]:
    with TestClient(app) as opened:
        for space in (BLOCKED, OTHER):
            opened.post("/v1/spaces", json={"name": space})
            for text in ("Ann Lee works at Acme Corp in Helsinki.", "Bob Reed is the CTO of Acme Corp."):
                assert opened.post(f"/v1/spaces/{space}/memories", json=draft(text)).status_code == 201
            body = {"items": [{"turn": 1, "author": "Ann Lee", "content": "Where do we deploy?"}]}
            assert opened.post(f"/v1/spaces/{space}/conversations/talk/exchanges", json=body).status_code == 200
            body = {"path": "main.py", "content": SOURCE}
            assert opened.post(f"/v1/spaces/{space}/documents", json=body).status_code == 201
        yield opened


def reads(app: Litestar, space: str, memory: str) -> Iterator[Asked]:
    """Yield a request of every route that only reads: its operation, method, path and body."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler, _ in route.route_handler_map.values():
            operation, method = handler.operation_id, next(iter(handler.http_methods))
            if operation in STREAMS or not (method == "GET" or (method == "POST" and handler.opt["needs"] == "read")):
                continue
            path = route.path_format
            for name, value in {**PARTS, "space": space}.items():
                path = path.replace(f"{{{name}}}", value)
            yield str(operation), method, path.replace("{memory}", memory), BODIES.get(str(operation))


@contextmanager
def blocked(engine: Engine, threads: ThreadPoolExecutor) -> Iterator[None]:
    """Hold a batch of the graph and a batch of the code of a space, as a task does that takes for ever."""
    graph, code, free = threading.Event(), threading.Event(), threading.Event()

    def in_batch(through: int, versions: int) -> FencedCommit:
        graph.set()
        assert free.wait(10 * PATIENCE)
        return UNFENCED

    def between_batches() -> None:
        code.set()
        assert free.wait(10 * PATIENCE)

    parts = engine.owner
    work = [
        threads.submit(parts.graph.index.extend, BLOCKED, None, lambda: None, in_batch),
        threads.submit(parts.code.index.resolve, BLOCKED, between_batches),
    ]
    assert graph.wait(PATIENCE) and code.wait(PATIENCE)
    try:
        yield
    finally:
        free.set()
        for one in work:
            one.result(PATIENCE)


def test_no_read_waits_for_a_task(app: Litestar, client: httpx.Client, engine: Engine):
    with ThreadPoolExecutor(4) as threads, blocked(engine, threads):
        for space in (OTHER, BLOCKED):
            client.post(f"/v1/spaces/{space}/memories", json=draft("Carl Stone joined Nokia."))
            memory = client.get(f"/v1/spaces/{space}/memories").json()["items"][0]["id"]
            asked = [*reads(app, space, memory)]
            assert len(asked) > 50
            for operation, method, path, body in asked:
                answer = threads.submit(client.request, method, path, json=body, params=QUERIES.get(operation)).result(
                    PATIENCE
                )
                assert answer.status_code < 500, (operation, answer.text)
            for tool in TOOLS:
                if tool.read_only:
                    threads.submit(call_tool, client, tool.name, space).result(PATIENCE)
        waiting = client.get(f"/v1/spaces/{BLOCKED}/graph/entities").json()
        assert waiting["pending"] and client.get(f"/v1/spaces/{OTHER}/graph/entities").json()["pending"] == 0
        files = client.get(f"/v1/spaces/{BLOCKED}/code/symbols", params={"name": "run"}).json()
        assert files["pending"] and "being read now" in files["degraded"][0]
    assert client.get(f"/v1/spaces/{BLOCKED}/graph/entities").json()["pending"] == 0
    assert client.get(f"/v1/spaces/{BLOCKED}/code/symbols", params={"name": "run"}).json()["total"] == 1


def call_tool(client: httpx.Client, tool: str, space: str) -> None:
    schema = mcp_client.schemas(client)[tool]
    known = {**ARGUMENTS, "space": space}
    given = {name: known[name] for name in schema["properties"] if name in schema.get("required", ()) and name in known}
    mcp_client.call(client, tool, **({"space": space} if "space" in schema["properties"] else {}), **given)
