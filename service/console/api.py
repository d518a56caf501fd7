"""The public API in this process, as one visitor may use it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
from litestar.types import ASGIApp

from muisti.client import AsyncMuisti

SECONDS = 60.0


@asynccontextmanager
async def api_of(app: ASGIApp, host: str, key: str | None) -> AsyncIterator[AsyncMuisti]:
    """Open a client that calls the application without a network, with the key of a session if there is one.

    `host` is the Host header of the browser: the application checks it as it checks every other request.
    """
    headers = {b"Host": host.encode("latin-1", "replace")}
    if key:
        headers[b"Authorization"] = b"Bearer " + key.encode("utf-8", "surrogateescape")
    # The two libraries spell the types of ASGI differently.
    transport = httpx.ASGITransport(app=cast(Any, app), raise_app_exceptions=False)
    http = httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers, timeout=SECONDS, trust_env=False
    )
    async with AsyncMuisti(http=http, attempts=1) as client:
        yield client
