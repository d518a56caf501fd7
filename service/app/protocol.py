"""Limits that uvicorn lacks: the time for a request to arrive, the size of its head, the time to read its answer.

Without them, a client that sends or reads a byte now and then keeps its connection for ever (slowloris). A client whose
headers do not end would fill the memory.
"""

import asyncio
import socket
import struct

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_MAX = 1 << 18  # bytes of request line and headers
GRACE_SECONDS = 0.01  # time for the event loop to read bytes that arrived while it was busy


class Config(uvicorn.Config):
    """Configuration of uvicorn, with the seconds that a request may take to arrive, and the most open connections."""

    request_seconds = 60.0
    connections = 4_096


class TimedProtocol(HttpToolsProtocol):
    """Protocol that closes a connection whose request, head and body, is late, or whose answer is not read.

    The server may take any time to answer. When more of the answer waits than the transport holds (64 KiB), a timer
    starts. The client must then read most of it within the time limit of a request.
    """

    _wait: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _arriving = True  # a new connection counts as one that sends slowly
    _begun = False  # the bytes received last began a request
    _in_head = True
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        self._expect_no_reading()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._begun = False
        super().data_received(data)
        # Empty lines have ended uvicorn's own timeout; a request may be answered by now.
        idle = not self._begun and self.cycle is not None and self.cycle.response_complete
        if not self._arriving and not idle:
            self._expect_nothing()
        elif not self.transport.is_closing():
            self._expect()
            self._head += len(data) if self._in_head else 0
            if self._head > HEAD_MAX:
                self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._seconds, self._not_read)

    def resume_writing(self) -> None:
        self._expect_no_reading()
        super().resume_writing()

    def on_message_begin(self) -> None:
        self._arriving, self._begun, self._in_head, self._head = True, True, True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._arriving = False
        super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection later: a request that has arrived but is not yet read cancels the timer."""
        self.timeout_keep_alive_task = self.loop.call_later(GRACE_SECONDS, super().timeout_keep_alive_handler)

    @property
    def _seconds(self) -> float:
        assert isinstance(self.config, Config)
        return self.config.request_seconds

    def _expect(self) -> None:
        if self._wait is None:
            self._wait = self.loop.call_later(self._seconds, self._late)

    def _expect_nothing(self) -> None:
        if self._wait is not None:
            self._wait.cancel()
            self._wait = None

    def _expect_no_reading(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _not_read(self) -> None:
        """Abort the connection without lingering, so that the operating system drops its buffered bytes too."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _late(self) -> None:
        self._wait = None
        if self.flow.read_paused:  # the server is slow, not the client
            self._expect()
        else:
            self.transport.close()
