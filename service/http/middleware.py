"""The request middleware: gives every answer, errors included, an id, a time, safe headers and one line in the log."""

import logging
import re
import secrets
from collections.abc import Iterable, Mapping
from time import perf_counter

from muisti.core.model.errors import MuistiError
from muisti.core.support.waiting import Urgent
from muisti.service.asgi.messages import send_problem
from muisti.service.http.decode import routable, utf8
from muisti.service.observability.meters import Meters
from muisti.service.observability.tracing import Tracing
from muisti.service.schemas.asgi import ASGIApp, Message, Receive, Scope, Send
from muisti.service.schemas.errors import PROBLEM, HttpError, crash

Header = tuple[bytes, bytes]

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_TRACE = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
TIMING, TRACE = b"server-timing", b"traceparent"
_NO_STORE, _NOSNIFF = ((b"cache-control", b"no-store"),), (b"x-content-type-options", b"nosniff")
_LOG = logging.getLogger("muisti.http")


class RequestMiddleware:
    """Wraps the whole application, so that no answer goes out without its headers, its log line and its count.

    `tracing` is set when the application starts, if the settings ask for traces.
    """

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app = app
        self._meters = meters
        self.tracing: Tracing | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # a GET whose body the server drops
            scope = {**scope, "method": "GET"}
        began = perf_counter()
        given = dict(scope["headers"])
        request_id, trace = ids_of(given)
        scope["request_id"] = request_id.decode()  # pyright: ignore[reportGeneralTypeIssues]  # for the crash log
        span = None
        if self.tracing is not None and scope["path"] not in _QUIET:
            span = self.tracing.begin(scope["headers"])
            trace = span.trace_id
        self._meters.running += 1
        urgent = Urgent()
        status = 0

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                urgent.end()  # a stream may go on for ever
                status = message["status"]
                elapsed = 1000 * (perf_counter() - began)
                message["headers"] = _dressed(message["headers"], elapsed, request_id)
            await send(message)

        try:
            _read_url(scope)
            await self._app(scope, receive, dressed)
        except (HttpError, MuistiError) as error:
            await send_problem(scope, dressed, error)
        except Exception as error:  # a fault outside of Litestar, which answers to its own in the same way
            if status:  # the answer has begun
                raise
            found = crash(error, request_id.decode())
            await send_problem(scope, dressed, HttpError(found.code, found.detail))
        finally:
            self._meters.running -= 1
            urgent.end()
            self._tell(scope, status, 1000 * (perf_counter() - began), trace)
            if span is not None:
                span.end(scope["method"], scope.get("path_template"), status)

    def _tell(self, scope: Scope, status: int, elapsed: float, trace: str | None) -> None:
        route = scope.get("path_template")
        method: str = scope["method"]  # pyright: ignore[reportGeneralTypeIssues]  # HTTP scopes only come here
        self._meters.answered(method, route, status, elapsed / 1000, scope.get(PROBLEM))
        level = logging.DEBUG if route in _QUIET else logging.INFO
        if _LOG.isEnabledFor(level):
            fields = {
                "method": method,
                "route": route,
                "status": status,
                "ms": round(elapsed, 2),
                "space": scope.get("path_params", {}).get("space"),
                "request_id": scope["request_id"],  # pyright: ignore[reportGeneralTypeIssues]  # ours, set above
            }
            _LOG.log(level, "request", extra=fields if trace is None else {**fields, "trace_id": trace})


def _read_url(scope: Scope) -> None:
    """Decode the path by which routes are found, and check the query string. Raises HttpError."""
    raw_path = scope["raw_path"].partition(b"?")[0]  # some servers leave the query string in it
    if b"%" in raw_path:
        scope["path"] = routable(raw_path)
    if scope["query_string"]:
        utf8(scope["query_string"], "query string")


def trace_of(given: bytes) -> str | None:
    """Return the id of the trace that the header `traceparent` names (W3C trace context); None when malformed."""
    match = _TRACE.fullmatch(given)
    return match[1].decode() if match and match[1].strip(b"0") and match[2].strip(b"0") else None


def ids_of(given: Mapping[bytes, bytes]) -> tuple[bytes, str | None]:
    """Return the id of a request by its headers, and that of its trace: its caller's where well formed, else a new one.

    No trace is begun for a request that belongs to none.
    """
    named = given.get(b"x-request-id")
    request_id = named if named and _REQUEST_ID.fullmatch(named) else secrets.token_hex(8).encode()
    return request_id, trace_of(given[TRACE]) if TRACE in given else None


def _dressed(headers: Iterable[Header], elapsed: float, request_id: bytes) -> list[Header]:
    """Return the headers with a request id, the total in Server-Timing, and `no-store` where nothing else is said."""
    timing, dressed, is_kept = b"total;dur=%.2f" % elapsed, list[Header](), False
    for header in headers:
        if header[0] == TIMING:
            timing = b"%b, %b" % (header[1], timing)
        else:
            dressed.append(header)
            is_kept = is_kept or header[0] == b"cache-control"
    return [*dressed, *(() if is_kept else _NO_STORE), (TIMING, timing), _NOSNIFF, (b"x-request-id", request_id)]
