"""What uvicorn leaves unbounded: how long a request may take to arrive, how large its head may be, and how long its
answer may wait to be read.

Without that a client that sends or reads a byte now and then keeps its connection for ever (slowloris), and one whose
headers do not end fills the memory.
"""

import asyncio
import socket
import struct

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_MAX = 1 << 18  # bytes of request line and headers
GRACE_SECONDS = 0.01  # in which the event loop reads what came while it was busy


class Config(uvicorn.Config):
    """uvicorn's, with the seconds that a request may take to arrive, and the connections that are served."""

    request_seconds = 60.0
    connections = 4_096


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection whose request is not there in time, head and body, and one whose answer is not read.

    An answer may take any time to come; once more of it waits than the transport holds (64 KiB), its reader has as long
    as a request has until most of that is gone.
    """

    _wait: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _arriving = True  # a connection that sends nothing is one that sends slowly
    _begun = False  # a request, by what was received last
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
        # empty lines have ended uvicorn's own wait; a request may be answered by now
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
        """Close an idle connection, but no request that is there and has not been read yet: that stops what follows."""
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
        """Without lingering: the system, too, drops what it has taken over."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _late(self) -> None:
        self._wait = None
        if self.flow.read_paused:  # it is we who are slow
            self._expect()
        else:
            self.transport.close()
