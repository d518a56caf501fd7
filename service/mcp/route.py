"""MCP over streamable HTTP at /mcp: stateless, POST only, behind the auth middleware.

Nothing here imports the SDK, which takes as much time and memory as the rest of the server together. A server that gets
no MCP, or only plain calls, does without. The first request that is no plain call loads the SDK, on a thread.

A plain call of a tool takes the fast path: the functions that the SDK's handlers call and the same message, in half the
time. The SDK answers all other requests and refusals: progress, unknown tools, other methods, unnamed fields.
"""

import gc
import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import parse_qsl, unquote

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import ASGIApp, Receive, Scope, Send
from litestar.types.asgi_types import ReceiveMessage
from msgspec import Struct, field

from muisti.core.model.decoding import decoder
from muisti.core.model.errors import MuistiError
from muisti.core.support.lazy import Lazy
from muisti.service.asgi.header_names import RawHeader, plain_headers
from muisti.service.asgi.messages import Header, read_body, send_body
from muisti.service.auth.access import OWNER, Access, check
from muisti.service.auth.middleware import access_of
from muisti.service.http.decode import JSON
from muisti.service.mcp.messages import HANDSHAKE, MODERN, Unreadable, check_revision, message_of
from muisti.service.mcp.tools import run, tool_of
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError
from muisti.service.settings.tool_groups import TOOL_GROUPS, Group, groups_in
from muisti.service.terminal.project import choose, space_name
from muisti.service.tools.session import RESOURCE, Session
from muisti.service.version import installed_version

SERVER = {"name": "muisti", "title": "Muisti", "version": installed_version()}

_ACCEPTED = (b"application/json", b"text/event-stream")


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


_DECODER = decoder(_Call)


def plain(headers: Iterable[RawHeader], body_limit: int) -> Mapping[bytes, bytes] | None:
    """Return the headers by name; None when the SDK must answer. `body_limit` is in bytes."""
    found = plain_headers(headers, body_limit)
    accepted = b"" if found is None else found.get(b"accept", b"")
    return found if all(kind in accepted for kind in _ACCEPTED) else None


async def answered(session: Session, headers: Mapping[bytes, bytes], body: bytes, send: Send) -> bool:
    """Answer a plain call and return True; return False, and do nothing, for any other request."""
    call = _plain_call(body, headers)
    tool = None if call is None else tool_of(session.access, call.params.name)
    if call is None or tool is None or ("staged" in tool.traits and call.params.meta.capabilities):
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


def again(body: bytes, receive: Receive) -> Receive:
    """Replay a request body that was read already: return a `receive` that gives the body, then later messages."""
    bodies = [body]

    async def received() -> ReceiveMessage:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        return await receive()

    return received


def _plain_call(body: bytes, headers: Mapping[bytes, bytes]) -> _Call | None:
    """Decode a plain call; None when the body is no plain call, or contradicts the headers."""
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


if TYPE_CHECKING:
    from muisti.service.mcp import manager
else:  # a second: the SDK, loaded by the first request that is no plain call
    manager = Lazy("muisti.service.mcp.manager")

PATH = "/mcp"
MANAGER = "muisti.service.mcp.manager"


class State(Protocol):
    """Parts that the start of the application sets; `tasks` are cancelled at its end."""

    backend: Backend
    tasks: TaskGroup


class McpApp:
    """The route, with the session manager of the process, which the first request that needs it starts."""

    def __init__(self, state: State, body_limit: int, groups: frozenset[Group], citation: str = RESOURCE) -> None:
        """`body_limit` is in bytes.

        `groups` are the groups of tools that clients are offered whose URL names none. `citation` is the form of the
        URLs by which `search` and `fetch` cite memories.
        """
        self._body_limit = body_limit
        self._groups = groups
        self._citation = citation
        self._state = state
        self._starting = anyio.Lock()
        self._manager: ASGIApp | None = None

    def route(self) -> ASGIRouteHandler:
        @asgi(PATH, copy_scope=True)
        async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
            await self.serve(scope, receive, send)

        return mcp

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            HttpError: it is no POST, or has no valid key. Or its URL names an unknown group of tools.
        """
        http = cast(dict[str, Any], scope)
        if http["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", b"OPTIONS, POST")]})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        if http["method"] != "POST":
            raise HttpError("method_not_allowed", f"{PATH} takes POST only; this server keeps no streams", ALLOW)
        check(access_of(scope), "key")
        # HTTP allows spaces around a value.
        http["headers"] = [(name, value.strip(b" \t")) for name, value in http["headers"]]
        session = self._session(scope)
        headers = plain(http["headers"], self._body_limit)
        body = await read_body(receive, self._body_limit)
        if headers is not None and await answered(session, headers, body, send):
            return
        if _is_json(http["headers"]):
            try:
                message = message_of(body)
                http["headers"] = _spoken(http["headers"], message)
            except Unreadable as error:
                answers = error.answers()
                return await send_body(send, 400, {"Content-Type": JSON}, answers if answers[1:] else answers[0])
            body = json.dumps(message).encode()
        http["headers"] = sized(http["headers"], len(body))
        manager = self._manager or await self._started()
        await manager(scope, again(body, receive), send)

    async def _started(self) -> ASGIApp:
        async with self._starting:
            if self._manager is not None:  # others asked first
                return self._manager
            manager: ASGIApp = await self._state.tasks.start(self._manage)
            self._manager = manager
            return manager

    async def _manage(self, *, task_status: TaskStatus[ASGIApp]) -> None:
        """Run the session manager in its own task, which outlives requests: it must end in the task that began it."""
        loads = MANAGER not in sys.modules
        managed = await to_thread.run_sync(lambda: manager.managed)
        if loads and gc.get_freeze_count():  # the server froze what it had loaded; this stays as well
            gc.freeze()
        async with managed(self._session, self._body_limit) as app:
            task_status.started(app)
            try:
                await anyio.sleep_forever()
            finally:
                self._manager = None

    def _session(self, scope: Scope) -> Session:
        groups = groups_of(scope["query_string"]) or self._groups
        request_id = cast(dict[str, Any], scope).get("request_id")
        return Session(self._state.backend, access_of(scope), groups, request_id, self._citation, project_of(scope))


ALLOW = {"Allow": "OPTIONS, POST"}
PROJECT, FOLDER = b"muisti-project", b"muisti-folder"


def _spoken(headers: Iterable[Header], message: dict[str, Any]) -> list[Header]:
    """Return the headers without a blank revision, or an unknown one of `initialize`, which agrees on one.

    Raises:
        Unreadable: the revision is not spoken here.
    """
    found: list[Header] = []
    for name, value in headers:
        if name == b"mcp-protocol-version":
            if not value:
                continue
            try:
                check_revision(message, value.decode("latin-1"))
            except Unreadable:
                if message.get("method") == "initialize":
                    continue
                raise
        found.append((name, value))
    return found


def _is_json(headers: Iterable[Header]) -> bool:
    """Tell whether a body is said to be JSON; any other is the SDK's to refuse."""
    return any(name == b"content-type" and value.lower().startswith(JSON.encode()) for name, value in headers)


def sized(headers: Iterable[Header], size: int) -> list[Header]:
    """Return the headers of a request whose body was read and has this many bytes."""
    gone = (b"content-length", b"transfer-encoding")
    return [*(one for one in headers if one[0] not in gone), (b"content-length", str(size).encode())]


def groups_of(query: bytes) -> frozenset[Group] | None:
    """Return the groups of tools that a query string names; None when it names none.

    Raises:
        HttpError: a name is no group.
    """
    named = _values(query, "tools")
    if not named:
        return None
    try:
        return groups_in(",".join(named))
    except ValueError:
        raise HttpError("invalid_input", f"`tools` takes {TOOL_GROUPS.expected}") from None


def project_of(scope: Scope) -> str | None:
    """Return the space that a request names as that of the project: in a header, in the URL, or by a folder."""
    http = cast(dict[str, Any], scope)
    named = [value.decode("latin-1") for name, value in http["headers"] if name == PROJECT]
    folders = [unquote(value.decode("latin-1")) for name, value in http["headers"] if name == FOLDER]
    asked = http["query_string"]
    places = (space_of(folder, access_of(scope)) for folder in (*folders, *_values(asked, "folder")))
    return next((one for one in (*named, *_values(asked, "project"), *places) if one), None)


def space_of(folder: str, access: Access) -> str | None:
    """Return the space of a folder. Only for callers without a key the server looks into it; else its name counts.

    Of what is no absolute path, such as a variable that a client has not filled in, there is none.
    """
    path = Path(folder)
    if not path.is_absolute() or "\0" in folder:
        return None
    if access is not OWNER and not access.open:
        return space_name([path.name]) if path.name else None
    with suppress(MuistiError, OSError, ValueError):
        return choose(None, {}, path).space
    return None


def _values(query: bytes, name: str) -> list[str]:
    return [value for one, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if one == name]
