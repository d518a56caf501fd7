"""The SDK's session manager, which turns HTTP into messages, in front of our server."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from litestar.types import ASGIApp, Receive, Scope, Send
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from muisti.service.asgi.receiving import Header
from muisti.service.mcp.server import Context, make_server
from muisti.service.mcp.session import Session

STREAM = b"text/event-stream"


@asynccontextmanager
async def managed(session_of: Callable[[Scope], Session], body_limit: int) -> AsyncGenerator[ASGIApp]:
    """Yield an ASGI application that answers MCP. `session_of` gives a request's session; `body_limit` is in bytes."""

    def session(ctx: Context) -> Session:
        assert ctx.request is not None
        return session_of(ctx.request.scope)

    server = make_server(session)
    streaming, plain = (
        StreamableHTTPSessionManager(server, json_response=one, stateless=True, max_request_body_size=body_limit)
        for one in (False, True)
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as a stream of events if the request names these, else as JSON. No `Accept` is refused."""
        headers = cast(list[Header], scope["headers"])
        streams = any(name == b"accept" and STREAM in value.lower() for name, value in headers)
        rest = [one for one in headers if one[0] != b"accept"]
        scope["headers"] = [*rest, (b"accept", b"application/json, " + STREAM)]
        manager = cast(Any, streaming if streams else plain)  # the two libraries spell the types of ASGI differently
        await manager.handle_request(scope, receive, send)

    async with streaming.run(), plain.run():
        yield answer
