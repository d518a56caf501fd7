"""Which path requests take, and what both paths must answer alike."""

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.types import Receive, Scope, Send

from muisti.service.mcp import route

# New each time, or dependent on ids and times.
VARYING = frozenset({"x-request-id", "server-timing", "ratelimit-remaining", "ratelimit-reset", "content-length"})
_SCRUBBED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
_DIGITS = re.compile(r"(\d\.\d{6})\d+")  # a score depends on the age of a memory in microseconds
_TINY = re.compile(r"\d\.\d+e-\d+")
_SAMPLES: Mapping[str, Any] = {
    "string": "2031-01-01T00:00:00Z", "integer": 1, "number": 0.5, "boolean": True, "object": {"type": "fact"},
    "array": ["a"],
}  # fmt: skip


def requests_taken(app: Litestar) -> list[bool | None]:
    """Note of each request whether it took the fast path; None when it was answered before both."""
    taken: list[bool | None] = []
    inner = app.asgi_handler

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        await inner(scope, receive, send)
        if scope["type"] == "http":
            routed = "route_handler" in scope  # Litestar's router leaves it there, the fast path leaves the template
            taken.append(None if not routed and "path_template" not in scope else not routed)

    app.asgi_handler = noted
    return taken


def calls_taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note of each request to MCP whether it took the fast path."""
    taken: list[bool] = []
    plain, answered = route.plain, route.answered

    def noted_plain(*args: Any) -> Any:
        headers = plain(*args)
        if headers is None:
            taken.append(False)
        return headers

    async def noted(*args: Any) -> bool:
        taken.append(await answered(*args))
        return taken[-1]

    monkeypatch.setattr(route, "plain", noted_plain)
    monkeypatch.setattr(route, "answered", noted)
    return taken


def told(answer: httpx.Response, space: str) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body of an answer without ids, times, and the name of the space."""
    headers = {name: scrubbed(value, space) for name, value in answer.headers.items() if name not in VARYING}
    return answer.status_code, headers, scrubbed(answer.text, space)


def scrubbed(text: str, space: str) -> str:
    return _DIGITS.sub(r"\1", _TINY.sub("0.0", _SCRUBBED.sub("…", text))).replace(space, "SPACE")


def samples(schema: Mapping[str, Any], known: Mapping[str, Any] = {}) -> list[Any]:
    """Return values that a schema allows, null where it does, and two that no field allows. `known`: by reference."""
    return [*_allowed(schema, known), [[]], {"no": {"such": 1}}]


def _allowed(schema: Mapping[str, Any], known: Mapping[str, Any]) -> list[Any]:
    if "$ref" in schema:
        return _allowed(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema or "oneOf" in schema:
        return [value for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) for value in _allowed(one, known)]
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    values = [*schema.get("enum", ()), *(None if kind == "null" else _SAMPLES[kind] for kind in kinds)]
    if "properties" in schema:
        inner = {name: _allowed(one, known) for name, one in schema["properties"].items()}
        values += [{name: value} for name, found in inner.items() for value in found]
    return list({json.dumps(value): value for value in values}.values())
