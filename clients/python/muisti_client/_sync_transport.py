"""Sends requests, and retries where that is safe. Made from `_async_transport` by generate.py."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import httpx

from ._errors import Unreachable
from ._wire import ATTEMPTS, Call, Reply, again, arguments, pause, refusal


class Transport:
    """A connection to a server. Close it, or use it as a context manager. An `http` client replaces `url` and `key`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8321",
        key: str | None = None,
        *,
        timeout: float = 60.0,
        attempts: int = ATTEMPTS,
        http: httpx.Client | None = None,
    ) -> None:
        """`attempts`: how often a request is sent at most; with 1, no `Idempotency-Key` is added."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = http or httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout)
        self._attempts = attempts
        self.closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Do nothing: the first request connects."""

    def close(self) -> None:
        self.closed = True
        self._http.close()

    def send(self, request: Call) -> Reply:
        """Return the answer as it came. Raises `MuistiError`, `Unreachable`."""
        if self._attempts > 1:
            request = request.with_key()
        attempt = 1
        while True:
            response: httpx.Response | None = None
            failed: httpx.RequestError | None = None
            try:
                response = self._http.request(**arguments(request))
            except httpx.RequestError as error:
                failed = error
            if attempt >= self._attempts or not again(request, response):
                break
            time.sleep(pause(attempt, response))
            attempt += 1
        if response is None:
            raise Unreachable(f"{self._http.base_url} does not answer: {failed}") from failed
        if not response.is_success:
            raise refusal(response)
        return Reply(response.content, response.headers)

    @contextmanager
    def stream(self, request: Call) -> Iterator[httpx.Response]:
        """Open an answer whose content is streamed.

        Raises:
            MuistiError: the request is refused.
            Unreachable: no answer came, or it broke off while it was read.
        """
        try:
            with self._http.stream(**arguments(request)) as response:
                if not response.is_success:
                    response.read()
                    raise refusal(response)
                yield response
        except httpx.RequestError as error:
            raise Unreachable(f"{self._http.base_url} does not answer, or broke off: {error}") from error

    def pieces(self, request: Call) -> Generator[bytes, None, None]:
        """Yield a long answer in pieces as it arrives. Raises `MuistiError`, `Unreachable`."""
        with self.stream(request) as response:
            for piece in response.iter_bytes():
                yield piece
