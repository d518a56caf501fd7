"""Limits that uvicorn lacks: the time for a request to arrive, the size of its head, the time to read its answer.

Without them, a client that sends or reads a byte now and then keeps its connection for ever (slowloris). A client whose
headers do not end would fill the memory.
"""

import asyncio
import socket
import struct
from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from typing import cast

import msgspec
import uvicorn
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from muisti.service.app.app import Front
from muisti.service.http.middleware import ids_of
from muisti.service.runtime.admission import EXEMPT, Admission
from muisti.service.schemas.errors import MEDIA_TYPE, headers_of, problem

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
            if self._wait is not None:
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


# Admission control: requests that would wait too long are refused as soon as their head has been read


class AdmittingProtocol(TimedProtocol):
    """Protocol that admits a request when its turn comes, or refuses it immediately. Health checks always pass."""

    _full = False  # the transport is full of refusals that the client does not read

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        assert isinstance(self.config, Config)
        self._too_many = len(self.connections) > self.config.connections  # with this one
        self._admission: Admission = cast(Front, self.app).state.admission

    def shutdown(self) -> None:
        """Stop the connection, and ask streams to end, because the server stops."""
        cast(Front, self.app).state.backend.stopping = True
        super().shutdown()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._full:
            self._full = False
            self.flow.resume_reading()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        method, path = cycle.scope["method"], cycle.scope["path"]
        if path in EXEMPT:
            super()._start_asgi_task(cycle, app)
        elif self._too_many or not self._admission.admits(method, path):
            self._refuse(cycle)
        else:
            self._admission.begin(method, path, partial(self._begin, cycle, app))

    def _begin(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if not cycle.disconnected:  # a disconnected client does not wait for the answer
            super()._start_asgi_task(cycle, app)

    def _refuse(self, cycle: RequestResponseCycle) -> None:
        """Answer that the server is busy. A body that still arrives is read and dropped."""
        unsure = cycle.waiting_for_100_continue  # whether its body will come
        keep = cycle.keep_alive and not self._too_many and not unsure
        self._say_busy(cycle.scope["method"], cycle.scope["headers"], b"" if keep else b"connection: close\r\n")
        cycle.response_started = cycle.response_complete = True
        if not keep:
            self.transport.close()
            return
        if self.pipeline:
            self.loop.call_soon(self.on_response_complete)  # later, because thousands may be pipelined
        else:
            self.on_response_complete()
        self._listen_to_readers()

    def _say_busy(self, method: str, headers: Iterable[tuple[bytes, bytes]], more_headers: bytes) -> None:
        self._admission.refuse(method)
        self.transport.write(
            BUSY_HEAD % (more_headers, ids_of(dict(headers))[0]) + (b"" if method == "HEAD" else BUSY_BODY)
        )

    def _listen_to_readers(self) -> None:
        """Stop reading from a client that does not read its answers."""
        if self.flow.write_paused:
            self._full = True
            self.flow.pause_reading()


def _busy() -> tuple[bytes, bytes]:
    """Return the answer to a refused request: its head, with places for more headers and for an id, and its body."""
    found = problem("busy", "too many requests are waiting to be answered in time; try again in a moment")
    body = msgspec.json.encode(found)
    headers = {
        "content-type": MEDIA_TYPE,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "server-timing": "total;dur=0.00",
        "x-content-type-options": "nosniff",
        **{name.lower(): value for name, value in headers_of(found.code).items()},
    }
    status = f"HTTP/1.1 {found.status} {HTTPStatus(found.status).phrase}\r\n"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{status}{lines}".encode() + b"%bx-request-id: %b\r\n\r\n", body


BUSY_HEAD, BUSY_BODY = _busy()
