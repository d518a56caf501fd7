"""Connections to a server. `_sync_connecting` is made from this module by generate.py."""

import os

import httpx

from ._async_space import AsyncSpace
from ._async_transport import AsyncTransport
from ._wire import ATTEMPTS

URL, KEY = "MUISTI_URL", "MUISTI_KEY"
USUAL = "http://127.0.0.1:8321"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def connect_async(
    url: str | None = None,
    key: str | None = None,
    *,
    space: str = "default",
    timeout: float = 60.0,
    attempts: int = ATTEMPTS,
    http: httpx.AsyncClient | None = None,
) -> AsyncSpace:
    """Return a handle on a space of a server; nothing is sent yet.

    `url` and `key` are those of the variables MUISTI_URL and MUISTI_KEY unless they are given. `timeout` is in seconds,
    `attempts` how often a request is sent at most, and `http` a client of your own in place of both.

    Raises:
        ValueError: the URL is no http or https URL.
    """
    if http is None:
        url = url or os.environ.get(URL) or USUAL
        key = key or os.environ.get(KEY) or None
        try:
            parsed = httpx.URL(url.rstrip("/").removesuffix("/v1"))
        except httpx.InvalidURL as error:
            raise ValueError(f"{url!r} is no URL: {error}") from error
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError(f"{url!r} is no URL of a server, such as {USUAL}")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # A proxy of the environment cannot reach this machine's loopback address.
        trusted = parsed.host not in LOOPBACK
        http = httpx.AsyncClient(base_url=parsed, headers=headers, timeout=timeout, trust_env=trusted)
    return AsyncSpace(AsyncTransport(http=http, attempts=attempts), space)
