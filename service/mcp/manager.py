"""The SDK's session manager, which turns HTTP into messages, in front of our server."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from litestar.types import ASGIApp, Scope
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from muisti.service.mcp.server import Context, make_server
from muisti.service.mcp.session import Session


@asynccontextmanager
async def managed(session_of: Callable[[Scope], Session], body_limit: int) -> AsyncGenerator[ASGIApp]:
    """Yield an ASGI application that answers MCP. `session_of` gives a request's session; `body_limit` is in bytes."""

    def session(ctx: Context) -> Session:
        assert ctx.request is not None
        return session_of(ctx.request.scope)

    manager = StreamableHTTPSessionManager(make_server(session), stateless=True, max_request_body_size=body_limit)
    async with manager.run():
        yield cast(Any, manager.handle_request)  # the two libraries spell the types of ASGI differently
