"""MCP over streamable HTTP at /mcp: stateless, POST only, behind the gate."""

from collections.abc import Sequence
from typing import Any, cast

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from service.access import check
from service.errors import HttpError
from service.gate import access_of
from service.hosts import host_of, is_address
from service.mcp.server import Context, make_server
from service.mcp.session import Session
from service.workers import Backend

PATH = "/mcp"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class McpApp:
    """The session manager of a process, and the route in front of it. Give it a backend before it runs."""

    def __init__(self, origins: Sequence[str], body_limit: int) -> None:
        """`origins`: those of web pages that may call; `*` is every one."""
        self._origins = frozenset(origins)
        self.backend: Backend | None = None
        self.manager = StreamableHTTPSessionManager(
            make_server(self._session), stateless=True, max_request_body_size=body_limit
        )

    def route(self) -> ASGIRouteHandler:
        @asgi(PATH, copy_scope=True)
        async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
            await self.serve(scope, receive, send)

        return mcp

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            HttpError: it is no POST, comes from a strange page, or from nobody known.
        """
        http = cast(dict[str, Any], scope)
        if http["method"] != "POST":
            raise HttpError("method_not_allowed", f"{PATH} takes POST only; this server keeps no streams", ALLOW)
        headers = {name: value.decode("latin-1") for name, value in http["headers"] if name in (b"origin", b"host")}
        check_origin(headers.get(b"origin"), headers.get(b"host", ""), self._origins)
        check(access_of(scope), "key")
        http["headers"] = [
            (name, value.strip(b" \t")) for name, value in http["headers"]
        ]  # HTTP lets spaces stand there
        # The two libraries spell the types of ASGI differently.
        await self.manager.handle_request(cast(Any, scope), cast(Any, receive), cast(Any, send))

    def _session(self, ctx: Context) -> Session:
        assert self.backend is not None and ctx.request is not None
        return Session(self.backend, access_of(ctx.request.scope))


ALLOW = {"Allow": "POST"}


def check_origin(origin: str | None, host: str, allowed: frozenset[str]) -> None:
    """A web page may call when its origin is allowed, or when page and server are both of this machine.

    Raises:
        HttpError: it may not.
    """
    if origin is None or "*" in allowed or origin in allowed:
        return
    page = host_of(origin.partition("://")[2])
    if page in LOOPBACK and (host_of(host) in LOOPBACK or is_address(host_of(host))):
        return
    raise HttpError("forbidden_origin", f"pages of {origin[:80]!r} may not call; MUISTI_ORIGINS names those that may")
