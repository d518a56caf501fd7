"""The review as an app: offered to clients that show apps, self-contained, and deciding what was seen."""

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.service.mcp import review
from tests.service.fakes import draft
from tests.service.keyed import with_mode
from tests.service.mcp_client import MODERN, message_of, modern, rpc

pytestmark = pytest.mark.one_store

MEMORIES = "/v1/spaces/default/memories"
UI = {"extensions": {review.UI: {"mimeTypes": [review.MEDIA]}}}


def usual(client: httpx.Client, able: Any, method: str = "tools/list", **headers: str) -> Any:
    """Return the answer to a client that names no groups of tools."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": able,
    }
    about = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    return message_of(client.post("/mcp", json=body, headers={**about, **headers}))["result"]


def candidate(client: httpx.Client, content: str = "Ann may like jazz") -> dict[str, Any]:
    return client.post(MEMORIES, json=draft(content, status="candidate")).json()


def conflict(client: httpx.Client) -> None:
    client.post(MEMORIES, json=draft("The server listens on port 9000")).raise_for_status()
    found = client.post(f"{MEMORIES}?on_conflict=review", json=draft("The server listens on port 9001"))
    found.raise_for_status()


def call(client: httpx.Client, tool: str, headers: dict[str, str] | None = None, **arguments: Any) -> Any:
    return modern(client, "tools/call", UI, headers or {}, name=tool, arguments=arguments)


def test_only_a_client_that_shows_apps_is_offered_the_review(client: httpx.Client):
    without, found = ({one["name"]: one for one in usual(client, able)["tools"]} for able in ({}, UI))
    assert found.keys() - without.keys() == {"review", "decide"}
    assert all(without[name] == found[name] for name in without)
    assert found["review"]["_meta"]["ui"] == {"resourceUri": review.URI, "visibility": ["model", "app"]}
    assert found["decide"]["_meta"]["ui"] == {"resourceUri": review.URI, "visibility": ["app"]}
    listed = [{one["uri"] for one in usual(client, able, "resources/list")["resources"]} for able in ({}, UI)]
    assert listed[1] - listed[0] == {review.URI}
    assert modern(client, "server/discover", UI)["capabilities"]["extensions"][review.UI] == {}
    assert "review" in {one["name"] for one in rpc(client, "tools/list")["tools"]}, "whoever asks for its group has it"


def test_the_page_is_one_file_that_loads_nothing(client: httpx.Client):
    (found,) = modern(client, "resources/read", UI, uri=review.URI)["contents"]
    html: str = found["text"]
    assert (found["mimeType"], len(html) < 60_000) == ("text/html;profile=mcp-app", True)
    assert found["_meta"]["ui"]["csp"] == {}
    assert not re.search(r"https?://|\bsrc=|\bhref=|@import|url\(|innerHTML|eval\(|\son\w+=|style=", html)
    policy = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)[0]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "*" not in policy
    for name in ("style", "script"):
        (inner,) = re.findall(f"<{name}>(.*?)</{name}>", html, re.DOTALL)
        assert f"{name}-src 'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'" in policy


def test_what_waits_is_shown_and_decided(client: httpx.Client):
    made = [candidate(client, f"Ann may like {what}") for what in ("jazz", "tea")]
    conflict(client)
    found = call(client, "review")["structuredContent"]
    assert {one["id"] for one in found["candidates"]} == {one["id"] for one in made}
    (open_,) = found["conflicts"]
    assert (open_["existing"]["content"][-4:], open_["new"]["content"][-4:]) == ("9000", "9001") and open_["differs"]
    assert found["may"] == ["write", "delete"]
    for one, decision in zip(made, ("accept", "reject"), strict=True):
        assert not call(client, "decide", candidate=one["id"], if_version=one["version"], decision=decision)["isError"]
    assert not call(client, "decide", conflict=open_["id"], decision="accept")["isError"]
    assert client.get(f"{MEMORIES}/{made[0]['id']}").json()["status"] == "active"
    assert client.get(f"{MEMORIES}/{made[1]['id']}").status_code == 404
    left = call(client, "review")["structuredContent"]
    assert left["candidates"] == left["conflicts"] == []
    assert client.post("/v1/spaces/default/undo", json={}).status_code == 200, "a decision can be taken back"


@pytest.mark.parametrize("decision", ["keep", "reject"])
def test_a_conflict_is_closed_in_each_way(client: httpx.Client, decision: str):
    conflict(client)
    (one,) = call(client, "review")["structuredContent"]["conflicts"]
    assert not call(client, "decide", conflict=one["id"], decision=decision)["isError"]
    assert len(client.get(MEMORIES).json()["items"]) == (2 if decision == "keep" else 1)
    assert call(client, "decide", conflict=one["id"], decision=decision)["structuredContent"]["code"] == "not_found"


def test_what_has_changed_since_it_was_seen_is_not_decided(client: httpx.Client):
    made = candidate(client)
    client.patch(f"{MEMORIES}/{made['id']}", json={"content": "Ann may hate jazz"}).raise_for_status()
    for decision in ("accept", "reject"):
        refused = call(client, "decide", candidate=made["id"], if_version=made["version"], decision=decision)
        assert refused["isError"]
        refused = call(client, "decide", candidate=made["id"], decision=decision)
        assert refused["structuredContent"]["code"] == "invalid_input"
    assert client.get(f"{MEMORIES}/{made['id']}").json()["status"] == "candidate"


def test_a_key_decides_what_it_may(client: httpx.Client, engine: Engine):
    made = candidate(client)
    reader, keeper = with_mode(engine, "read-only", "default"), with_mode(engine, "no-delete", "default")
    assert call(client, "review", reader.headers)["structuredContent"]["may"] == []
    refused = call(client, "decide", reader.headers, candidate=made["id"], if_version=1, decision="accept")
    assert refused["message"] == "Unknown tool: decide"
    assert call(client, "review", keeper.headers)["structuredContent"]["may"] == ["write"]
    refused = call(client, "decide", keeper.headers, candidate=made["id"], if_version=1, decision="reject")
    assert refused["structuredContent"]["code"] == "forbidden"
    narrow = with_mode(engine, "full", "default", category="other")
    assert call(client, "review", narrow.headers)["structuredContent"]["candidates"] == []


def test_long_contents_and_long_lists_are_cut(client: httpx.Client):
    for number in range(review.PAGE + 3):
        candidate(client, f"Number {number} " + "tea " * 2_000)
    found = call(client, "review")["structuredContent"]
    assert (len(found["candidates"]), found["more"]) == (review.PAGE, True)
    assert max(len(one["content"]) for one in found["candidates"]) == review.CONTENT
