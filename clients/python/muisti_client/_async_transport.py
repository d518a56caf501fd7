"""Sends requests, and retries where that is safe. `_sync_transport` is made from this module by generate.py."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

import httpx

from ._errors import Unreachable
from ._wire import ATTEMPTS, Call, Reply, again, arguments, pause, refusal


class AsyncTransport:
    """A connection to a server. Close it, or use it as a context manager. An `http` client replaces `url` and `key`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8321",
        key: str | None = None,
        *,
        timeout: float = 60.0,
        attempts: int = ATTEMPTS,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """`attempts`: how often a request is sent at most; with 1, no `Idempotency-Key` is added."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = http or httpx.AsyncClient(base_url=url.rstrip("/"), headers=headers, timeout=timeout)
        self._attempts = attempts
        self.closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Do nothing: the first request connects."""

    async def aclose(self) -> None:
        self.closed = True
        await self._http.aclose()

    async def send(self, request: Call) -> Reply:
        """Return the answer as it came. Raises `MuistiError`, `Unreachable`."""
        if self._attempts > 1:
            request = request.with_key()
        attempt = 1
        while True:
            response: httpx.Response | None = None
            failed: httpx.RequestError | None = None
            try:
                response = await self._http.request(**arguments(request))
            except httpx.RequestError as error:
                failed = error
            if attempt >= self._attempts or not again(request, response):
                break
            await asyncio.sleep(pause(attempt, response))
            attempt += 1
        if response is None:
            raise Unreachable(f"{self._http.base_url} does not answer: {failed}") from failed
        if not response.is_success:
            raise refusal(response)
        return Reply(response.content, response.headers)

    @asynccontextmanager
    async def stream(self, request: Call) -> AsyncIterator[httpx.Response]:
        """Open an answer whose content is streamed.

        Raises:
            MuistiError: the request is refused.
            Unreachable: no answer came, or it broke off while it was read.
        """
        try:
            async with self._http.stream(**arguments(request)) as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                yield response
        except httpx.RequestError as error:
            raise Unreachable(f"{self._http.base_url} does not answer, or broke off: {error}") from error

    async def pieces(self, request: Call) -> AsyncGenerator[bytes, None]:
        """Yield a long answer in pieces as it arrives. Raises `MuistiError`, `Unreachable`."""
        async with self.stream(request) as response:
            async for piece in response.aiter_bytes():
                yield piece
