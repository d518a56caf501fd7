"""A plain call is answered as the SDK would answer it, and what is not plain is left to the SDK."""

import json
import re
import subprocess
import sys
from typing import Any

import httpx
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from muisti.service.mcp import route
from tests.service.fakes import API, draft
from tests.service.mcp_client import LONG, call, message_of, schemas
from tests.service.mcp_client import PLAIN as SHORT
from tests.service.paths import calls_taken, samples

pytestmark = pytest.mark.one_store

NEW_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}")  # a dry run gives each new memory another
MODERN = MODERN_PROTOCOL_VERSIONS[-1]
VERSIONS = (*HANDSHAKE_PROTOCOL_VERSIONS, MODERN, None)
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("recall", {"query": "deploy on friday"}), ("recall", {"query": "deploy", "min_evidence": "strong", "limit": 1}),
    ("recall", {"query": "x", "limit": 0}), ("recall", {"quary": "x"}), ("recall", {"query": "x", "space": "nowhere"}),
    ("remember", {"content": "Never deploy on a Friday."}),
    ("get_memory", {"id": "0190b5a0-0000-7000-8000-000000000000"}), ("get_memory", {}), ("list_memories", {}),
    ("overview", {"since": "2026-01-01"}),
]  # fmt: skip


# What each tool needs to do something; a dry run, so that both ways meet the same.
NEEDED: dict[str, dict[str, Any]] = {
    "remember": {"content": "We deploy on Mondays", "dry_run": True},
    "recall": {"query": "deploy"},
    "get_memory": {"category": "rules", "key": "deploy"},
    "update_memory": {"category": "rules", "key": "deploy", "dry_run": True},
    "memory_history": {"category": "rules", "key": "deploy"},
    "undo": {"category": "rules", "key": "deploy", "dry_run": True},
    "forget": {"category": "rules", "key": "deploy", "dry_run": True},
    "add_exchanges": {"conversation": "c", "items": [{"author": "Ann", "content": "Hi"}], "dry_run": True},
    "conversations": {"action": "list"},
    "import_memories": {"ndjson": "", "dry_run": True},
    "search": {"query": "deploy"},
}


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call took the fast path."""
    return calls_taken(monkeypatch)


def called(name: str, arguments: Any, version: str | None = MODERN, **changes: Any) -> dict[str, Any]:
    meta = {"_meta": META} if version == MODERN else {}
    params = {"name": name, "arguments": arguments, **meta}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params} | changes


def headers_of(version: str | None, name: str, **changes: str) -> dict[str, str]:
    found = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if version is not None:
        found["MCP-Protocol-Version"] = version
    if version == MODERN:
        found |= {"Mcp-Method": "tools/call", "Mcp-Name": name}
    return found | changes


def test_it_knows_the_revisions_that_the_sdk_knows():
    assert (route.HANDSHAKE, (route.MODERN,)) == (HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS)


@pytest.mark.parametrize("version", VERSIONS)
def test_both_ways_answer_alike(client: httpx.Client, ways: list[bool], version: str | None):
    client.post(f"{API}/memories", json=draft("Never deploy on a Friday."))
    for name, arguments in CALLS:
        answers = [
            client.post(
                "/mcp",
                json=called(name, arguments, version),
                headers=headers_of(version, name, **{"Content-Type": kind}),
            )
            for kind in ("application/json", "application/json; charset=utf-8")  # the same, and not plain
        ]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert message_of(answers[0]) == message_of(answers[1])
    assert ways == [True, False] * len(CALLS)


def test_both_ways_answer_alike_to_every_argument(client: httpx.Client, ways: list[bool]):
    client.post(f"{API}/memories", json=draft("We deploy on Fridays", category="rules", key="deploy"))
    asked = 0
    for tool, schema in schemas(client).items():
        for name, declared in schema["properties"].items():
            for value in samples(declared):
                arguments = {**NEEDED.get(tool, {}), name: value} | ({"dry_run": True} if name != "dry_run" else {})
                if "dry_run" not in schema["properties"]:
                    arguments.pop("dry_run", None)
                short, long = (call(client, tool, content_type=kind, **arguments) for kind in (SHORT, LONG))
                replies = [NEW_ID.sub("", json.dumps(one, sort_keys=True)) for one in (short, long)]
                assert replies[0] == replies[1], (tool, arguments)
                asked += 1
    assert asked > 250 and [way for way in ways if way] and ways.count(True) == asked


PLAIN = called("recall", {"query": "x"})
PROGRESS = called("recall", {"query": "x"}, params=PLAIN["params"] | {"_meta": META | {"progressToken": 1}})


@pytest.mark.parametrize(("body", "changes"), [
    (PROGRESS, {}), (called("no_such_tool", {}), {"Mcp-Name": "no_such_tool"}),
    (called("recall", {"query": "x"}, jsonrpc="1.0"), {}), (called("recall", {"query": "x"}, id=None), {}),
    (called("recall", {"query": "x"}, id=1.5), {}), (called("recall", ["x"]), {}),
    (called("recall", {"query": "x"}, method="tools/list"), {}), (called("recall", {"query": "x"}, extra=1), {}),
    ([PLAIN], {}), (PLAIN, {"Mcp-Name": "remember"}), (PLAIN, {"Mcp-Method": "tools/list"}),
    (PLAIN, {"MCP-Protocol-Version": "2025-11-25"}), (PLAIN, {"MCP-Protocol-Version": "2031-01-01"}),
    (called("recall", {"query": "x"}, "2025-11-25"), {}), (PLAIN, {"Accept": "application/json"}),
    (PLAIN, {"Accept": "*/*"}), (PLAIN, {"Content-Type": "text/plain"}),
])  # fmt: skip
def test_what_is_not_plain_takes_the_long_way(
    client: httpx.Client, ways: list[bool], body: Any, changes: dict[str, str]
):
    answer = client.post("/mcp", content=json.dumps(body), headers=headers_of(MODERN, "recall", **changes))
    assert ways == [False] and answer.status_code < 500


def test_a_header_that_comes_twice_takes_the_long_way_and_is_refused(client: httpx.Client, ways: list[bool]):
    twice = [*headers_of(MODERN, "recall").items(), ("Mcp-Name", "recall")]
    answer = client.post("/mcp", content=json.dumps(PLAIN), headers=twice)
    assert (answer.status_code, ways) == (400, [False])


def test_a_server_that_is_only_called_does_without_the_sdk(tmp_path: Any):
    code = f"""
import sys
from litestar.testing import TestClient
from muisti.service.app.app import create_app
from muisti.service.settings import Settings

with TestClient(create_app(Settings(database_url={f"file:{tmp_path}/m.db"!r}))) as client:
    answer = client.post("/mcp", json={PLAIN!r}, headers={headers_of(MODERN, "recall")!r})
    print(answer.json()["result"]["isError"], {{"mcp", "mcp_types", "pydantic"}} & sys.modules.keys())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "False set()"  # lines of the log come before
