"""Sending requests, again when that is safe. `_sync_transport` is made from this module by generate.py."""

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

import httpx

from muisti_client._wire import Call, Unreachable, again, pause, result


class AsyncTransport:
    """Close it, or use it as a context manager. Over an `http` client of your own, `url` and `key` are its affair."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8321",
        key: str | None = None,
        *,
        timeout: float = 60.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = http or httpx.AsyncClient(base_url=url.rstrip("/"), headers=headers, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _send(self, request: Call) -> Any:
        """Raises `MuistiError`, `Unreachable`."""
        attempt = 0
        while True:
            response: httpx.Response | None = None
            failed: httpx.TransportError | None = None
            try:
                response = await self._http.request(
                    request.method,
                    request.path,
                    params=request.params or None,
                    headers=request.headers,
                    json=request.body,
                    content=request.content,
                )
            except httpx.TransportError as error:
                failed = error
            if response is not None and not again(request, attempt, response):
                return result(response)
            if response is None and not again(request, attempt, None):
                raise Unreachable(f"{self._http.base_url} does not answer: {failed}") from failed
            await asyncio.sleep(pause(attempt, response))
            attempt += 1

    async def _pieces(self, request: Call) -> AsyncIterator[bytes]:
        """A long answer as it comes. Raises `MuistiError`; `Unreachable` also when it breaks off."""
        asked = {"params": request.params or None, "headers": request.headers}
        try:
            async with self._http.stream(request.method, request.path, **asked) as response:
                if not response.is_success:
                    await response.aread()
                    result(response)
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx.TransportError as error:
            raise Unreachable(f"{self._http.base_url} does not answer, or broke off: {error}") from error
