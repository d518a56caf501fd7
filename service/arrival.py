"""What uvicorn leaves unbounded: how long a request may take to arrive, and how large its head may be.

Without that a client that sends a byte now and then keeps its connection for ever (slowloris), and one whose headers do
not end fills the memory.
"""

import asyncio

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_MAX = 1 << 18  # bytes of request line and headers


class Config(uvicorn.Config):
    """uvicorn's, with the seconds that a request may take to arrive."""

    request_seconds = 60.0


class Arrival(HttpToolsProtocol):
    """Closes a connection whose request is not there in time, head and body. Its answer may take any time."""

    _wait: asyncio.TimerHandle | None = None
    _arriving = True  # a connection that sends nothing is one that sends slowly
    _in_head = True
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        idle = self.cycle is not None and self.cycle.response_complete  # empty lines have ended uvicorn's own wait
        if not self._arriving and not idle:
            self._expect_nothing()
        elif not self.transport.is_closing():
            self._expect()
            self._head += len(data) if self._in_head else 0
            if self._head > HEAD_MAX:
                self.transport.close()

    def on_message_begin(self) -> None:
        self._arriving, self._in_head, self._head = True, True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._arriving = False
        super().on_message_complete()

    def _expect(self) -> None:
        if self._wait is None:
            assert isinstance(self.config, Config)
            self._wait = self.loop.call_later(self.config.request_seconds, self._late)

    def _expect_nothing(self) -> None:
        if self._wait is not None:
            self._wait.cancel()
            self._wait = None

    def _late(self) -> None:
        self._wait = None
        if self.flow.read_paused:  # it is we who are slow
            self._expect()
        else:
            self.transport.close()
