"""What every answer gets, errors included: an id, a time, safe headers, and one line in the log."""

import re
import secrets
from collections.abc import Iterable, Sequence
from time import perf_counter

import structlog
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from service.decode import routable, utf8
from service.errors import HttpError
from service.hosts import check_host
from service.sending import send_problem

Header = tuple[bytes, bytes]

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_QUIET = frozenset({"/healthz", "/readyz"})
TIMING = b"server-timing"


class Envelope:
    """Wraps the whole application, so that no answer goes out bare."""

    def __init__(self, app: ASGIApp, own_host: str | None) -> None:
        """`own_host` is the only name that requests may call, None when any will do."""
        self._app = app
        self._own_host = own_host
        self._log = structlog.get_logger("muisti.http").bind()  # once, not for every line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # a GET whose body the server drops
            scope = {**scope, "method": "GET"}
        began = perf_counter()
        request_id = request_id_of(scope["headers"])
        scope["request_id"] = request_id.decode()  # pyright: ignore[reportGeneralTypeIssues]  # for the crash log
        status = 0

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                elapsed = 1000 * (perf_counter() - began)
                message["headers"] = _dressed(message["headers"], elapsed, request_id)
            await send(message)

        try:
            if self._own_host is not None:
                check_host(scope["headers"], self._own_host)
            raw_path = scope["raw_path"].partition(b"?")[0]  # some servers leave the query string in it
            if b"%" in raw_path:
                scope["path"] = routable(raw_path)
            utf8(scope["query_string"], "query string")
            await self._app(scope, receive, dressed)
        except HttpError as error:
            await send_problem(dressed, error)
        finally:
            self._tell(scope, status, 1000 * (perf_counter() - began))

    def _tell(self, scope: Scope, status: int, elapsed: float) -> None:
        route = scope.get("path_template")
        tell = self._log.debug if route in _QUIET else self._log.info
        tell(
            "request",
            method=scope["method"],  # pyright: ignore[reportGeneralTypeIssues]  # HTTP scopes only come here
            route=route,
            status=status,
            ms=round(elapsed, 2),
            space=scope.get("path_params", {}).get("space"),
            request_id=scope["request_id"],  # pyright: ignore[reportGeneralTypeIssues]  # ours, set above
        )


def request_id_of(headers: Sequence[Header]) -> bytes:
    """The caller's id when it is well formed, else one of ours."""
    for name, value in headers:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value
    return secrets.token_hex(8).encode()


def _dressed(headers: Iterable[Header], elapsed: float, request_id: bytes) -> list[Header]:
    """The headers with `total` at the end of Server-Timing, an id, and nothing that a cache may keep by default."""
    given = list(headers)
    stages = [value for name, value in given if name == TIMING]
    dressed = [header for header in given if header[0] != TIMING]
    if not any(name == b"cache-control" for name, _ in given):
        dressed.append((b"cache-control", b"no-store"))
    timing = b", ".join([*stages, b"total;dur=%.2f" % elapsed])
    return [*dressed, (TIMING, timing), (b"x-content-type-options", b"nosniff"), (b"x-request-id", request_id)]
