"""Calls of MCP tools in tests: one POST each, as a client without the SDK sends them."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

VERSION = "2025-06-18"
PATH = "/mcp?tools=all"  # every group of tools
PLAIN, LONG = "application/json", "application/json; charset=utf-8"  # the second takes the way through the SDK


def message_of(answer: httpx.Response) -> Any:
    """Return the JSON-RPC message of an answer, which may be a stream of events."""
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json()
    return json.loads([line[6:] for line in answer.text.split("\n") if line.startswith("data: ")][-1])


def rpc(
    client: httpx.Client, method: str, *, content_type: str = PLAIN, headers: Mapping[str, str] = {}, **params: Any
) -> Any:
    """Return the result of a request, or its error."""
    about = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": content_type,
        "MCP-Protocol-Version": VERSION,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = client.post(PATH, content=json.dumps(body), headers={**about, **headers})
    assert answer.status_code == 200, answer.text
    found = message_of(answer)
    return found.get("result") or found["error"]


def call(
    client: httpx.Client, tool: str, headers: Mapping[str, str] = {}, content_type: str = PLAIN, **arguments: Any
) -> Any:
    """Return the result of a call of a tool."""
    return rpc(client, "tools/call", content_type=content_type, headers=headers, name=tool, arguments=arguments)


def answer(client: httpx.Client, tool: str, headers: Mapping[str, str] = {}, **arguments: Any) -> Any:
    """Return the structured answer of a call that succeeds."""
    found = call(client, tool, headers, **arguments)
    assert not found["isError"], found
    return found["structuredContent"]


def text_of(found: Any) -> str:
    """Return the text of a result."""
    return found["content"][0]["text"]


def schemas(client: httpx.Client, headers: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return the input schema of each tool by its name."""
    return {tool["name"]: tool["inputSchema"] for tool in rpc(client, "tools/list", headers=headers)["tools"]}


MODERN = "2026-07-28"
TASKS: Mapping[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
ASKS: Mapping[str, Any] = {"elicitation": {"form": {}}}


def modern(
    client: httpx.Client, method: str, able: Mapping[str, Any], headers: Mapping[str, str] = {}, **params: Any
) -> Any:
    """Return the result of a request in the newest revision, or its error. `able` are the client's capabilities."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": able,
    }
    about = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        "Mcp-Name": str(next((params[one] for one in ("name", "uri", "taskId") if one in params), "")),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    found = message_of(client.post(PATH, json=body, headers={**about, **headers}))
    return found.get("result") or found["error"]
