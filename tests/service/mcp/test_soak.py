"""Many requests of every kind to a real server leave nothing behind. `--mcp-requests 10000` sends more than a few."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx
import pytest

from tests.service.app.test_server import serving

pytestmark = pytest.mark.prove


CLIENTS = 16
WARM = 100
GROWTH = 8_000_000  # bytes that memory may grow by: what the allocator keeps, not what a request leaves
LEGACY = {"MCP-Protocol-Version": "2025-06-18"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
CONTENT = "We deploy on Fridays"

Call = tuple[dict[str, str], dict[str, Any]]


def legacy(method: str, **params: Any) -> Call:
    return LEGACY, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def modern(method: str, named: str = "", **params: Any) -> Call:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} | ({"Mcp-Name": named} if named else {})
    return headers, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}


def tool(name: str, **arguments: Any) -> Call:
    return modern("tools/call", name, name=name, arguments=arguments)


def kinds(number: int) -> list[Call]:
    """A request of each kind, good ones and bad ones of both eras."""
    return [
        legacy("initialize", **ABOUT), legacy("tools/list"),
        legacy("tools/call", name="recall", arguments={"query": f"deploy {number % 100}"}, _meta={"progressToken": 1}),
        legacy("tools/call", name="nothing", arguments={}), modern("server/discover"), modern("resources/list"),
        modern("resources/read", "memory://default/categories", uri="memory://default/categories"), modern("no/method"),
        tool("recall", query=f"deploy {number % 100}"),
        tool("remember", content=CONTENT),  # refused: it is there
        tool("forget", id=f"{number}"),
        modern("subscriptions/listen", notifications={"resourcesListChanged": True}),
    ]  # fmt: skip


def calls(count: int) -> Iterator[Call]:
    every = len(kinds(0))
    return (kinds(number)[number % every] for number in range(count))


class Watch:
    """Reader of the server's stderr, so that the server never blocks on it; asks the server for its live objects."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if '"tasks"' in line:
                self._lines.put(line)

    def living(self) -> dict[str, int]:
        self._process.send_signal(signal.SIGUSR1)
        return json.loads(self._lines.get(timeout=60))


async def send(http: httpx.AsyncClient, call: Call) -> None:
    headers, body = call
    headers = {"Accept": "application/json, text/event-stream", **headers}
    async with http.stream("POST", "/mcp", json=body, headers=headers) as answer:
        assert answer.status_code < 500
        if body["method"] == "subscriptions/listen":
            await anext(answer.aiter_lines())  # and then the client goes away
        else:
            await answer.aread()


async def soak(url: str, requests: Iterable[Call]) -> None:
    waiting = iter(requests)
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:

        async def client() -> None:
            for call in waiting:
                await send(http, call)

        await asyncio.gather(*(client() for _ in range(CLIENTS)))


def test_no_memory_task_session_or_file_is_left_behind(tmp_path: Path, pytestconfig: pytest.Config):
    requests: int = pytestconfig.getoption("--mcp-requests")
    with serving(tmp_path, "tests.service.counted") as (process, url):
        watch = Watch(process)
        asyncio.run(soak(url, [tool("remember", content=CONTENT, category="c"), *calls(WARM)]))
        httpx.get(f"{url}/v1/spaces/default/graph/entities", timeout=60).raise_for_status()  # loads the recogniser
        before = watch.living()
        asyncio.run(soak(url, calls(requests)))
        for _ in range(20):  # connections that were closed take a moment to end
            after = watch.living()
            left = {name: count - before.get(name, 0) for name, count in after.items() if name != "resident"}
            if not any(count > 0 for count in left.values()):
                break
            time.sleep(0.2)
        compared = {name: (before[name], after[name]) for name in ("tasks", "files", "threads", "resident")}
        sys.stdout.write(f"{requests} requests: {compared}\n")  # pytest -s shows it
        assert {name: count for name, count in left.items() if count > 0} == {}
        assert after["resident"] - before["resident"] < GROWTH
