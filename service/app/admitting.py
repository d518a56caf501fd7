"""Admission control: requests that would wait too long are refused as soon as their head has been read.

A refused request costs no task, no key lookup, no decoding and no log line, and its answer is prepared bytes. So a
server with ten times the load that it can handle spends a small part of its time on refusals.
"""

import asyncio
from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from typing import cast

import msgspec
from litestar import Litestar
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from muisti.service.app.protocol import Config, TimedProtocol
from muisti.service.http.middleware import request_id_of
from muisti.service.runtime.admission import EXEMPT, Admission
from muisti.service.schemas.errors import MEDIA_TYPE, headers_of, problem


class AdmittingProtocol(TimedProtocol):
    """Protocol that admits a request when its turn comes, or refuses it immediately. Health checks always pass."""

    _full = False  # the transport is full of refusals that the client does not read

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        assert isinstance(self.config, Config)
        self._too_many = len(self.connections) > self.config.connections  # with this one
        self._admission: Admission = cast(Litestar, self.app).state.admission

    def shutdown(self) -> None:
        """Stop the connection, and ask streams to end, because the server stops."""
        cast(Litestar, self.app).state.backend.stopping = True
        super().shutdown()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._full:
            self._full = False
            self.flow.resume_reading()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        method, path = cycle.scope["method"], cycle.scope["path"]
        if not self._lets_in(method, path):
            self._refuse(cycle)
        elif path in EXEMPT:
            super()._start_asgi_task(cycle, app)
        else:
            self._admission.begin(method, path, partial(self._begin, cycle, app))

    def _begin(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if not cycle.disconnected:  # a disconnected client does not wait for the answer
            super()._start_asgi_task(cycle, app)

    def _lets_in(self, method: str, path: str) -> bool:
        """Decide whether to admit a request."""
        return path in EXEMPT or (not self._too_many and self._admission.admits(method, path))

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
            BUSY_HEAD % (more_headers, request_id_of(headers)) + (b"" if method == "HEAD" else BUSY_BODY)
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
