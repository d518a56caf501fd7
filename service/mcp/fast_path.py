"""The short way of what agents do all the time: a plain call of a tool.

It is answered by what answers the SDK's handlers, with the same message, without the SDK: 2 ms of processor time of a
call that takes 4, and a server that is only called never loads it. Whatever is not plain takes the long way, the
refusals among it: progress, unknown tools, other methods, fields that are not named here, headers that say otherwise
than the body.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from litestar.types import Receive, Scope, Send
from litestar.types.asgi_types import ReceiveMessage
from msgspec import Struct, field

from muisti.service.asgi.sending import send_body
from muisti.service.http.decode import JSON, prepare
from muisti.service.mcp.session import Session
from muisti.service.mcp.tools import run, tool_of
from muisti.service.version import installed_version

MODERN = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SERVER = {"name": "muisti", "title": "Muisti", "version": installed_version()}

_STREAM = b"text/event-stream"
_ONCE = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"content-type", b"content-length", b"accept"})

Header = tuple[bytes, bytes]


class _Client(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: str
    title: str | None = None


class _Meta(Struct, frozen=True, forbid_unknown_fields=True):
    version: str | None = field(default=None, name="io.modelcontextprotocol/protocolVersion")
    client: _Client | None = field(default=None, name="io.modelcontextprotocol/clientInfo")
    capabilities: dict[str, dict[str, Any]] | None = field(
        default=None, name="io.modelcontextprotocol/clientCapabilities"
    )
    trace: str | None = field(default=None, name="traceparent")


class _Params(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] = {}
    meta: _Meta = field(default=_Meta(), name="_meta")


class _Call(Struct, frozen=True, forbid_unknown_fields=True, tag_field="method", tag="tools/call"):
    jsonrpc: str
    id: int | str
    params: _Params


prepare(_Call)
_DECODER = msgspec.json.Decoder(_Call)


async def answered(session: Session, scope: Scope, body: bytes, send: Send) -> bool:
    """Answer a plain call. False: it is none, and nothing has happened."""
    headers = _headers(scope["headers"])
    call = None if headers is None else _call(body, headers)
    tool = None if call is None else tool_of(session.access, call.params.name)
    if headers is None or call is None or tool is None:
        return False
    outcome = await run(session, tool, call.params.arguments)
    result: dict[str, Any] = {
        "content": [{"type": "text", "text": outcome.text}],
        "structuredContent": outcome.structured,
        "isError": outcome.is_error,
    }
    if call.params.meta.version is not None:
        result |= {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}
    await send_body(send, 200, {"Content-Type": JSON}, {"jsonrpc": "2.0", "id": call.id, "result": result})
    return True


def may_be_plain(headers: Iterable[Header], body_limit: int) -> bool:
    """Whether the body is worth reading here; `body_limit` is in bytes."""
    size = next((value for name, value in headers if name == b"content-length"), b"")
    return size.isdigit() and int(size) <= body_limit


def again(body: bytes, receive: Receive) -> Receive:
    """What receives a body once more that was read already, and then what follows it."""
    bodies = [body]

    async def received() -> ReceiveMessage:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        return await receive()

    return received


def _headers(headers: Iterable[Header]) -> dict[bytes, bytes] | None:
    """Those that say something about a call; None when they are not plain."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name == b"content-encoding" or (name in _ONCE and name in found):
            return None
        found[name] = value
    accepted = found.get(b"accept", b"")
    plain = found.get(b"content-type") == JSON.encode() and JSON.encode() in accepted and _STREAM in accepted
    return found if plain else None


def _call(body: bytes, headers: dict[bytes, bytes]) -> _Call | None:
    """The call that a body holds, when headers and body agree."""
    try:
        call = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    version, meta = headers.get(b"mcp-protocol-version", HANDSHAKE[1].encode()).decode("latin-1"), call.params.meta
    if version == MODERN:
        agreed = meta.version == version and meta.capabilities is not None
        agreed &= headers.get(b"mcp-method") == b"tools/call" and headers.get(b"mcp-name") == call.params.name.encode()
    else:
        agreed = version in HANDSHAKE and meta.version is None
    return call if agreed and call.jsonrpc == "2.0" else None
