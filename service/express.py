"""The short way of the two requests that agents make all the time: a plain search, and a plain memory to add.

They are answered by the handlers of the routes, and by the same bytes, without what Litestar does around a handler:
.3 ms of processor time, a third of a search of 10,000 memories. Whatever is not plain takes the long way: parameters,
other content types, bodies of unknown or forbidden size, and headers that change what a request means.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from litestar import Response
from litestar.types import ASGIApp, Receive, Scope, Send

from core.errors import MuistiError
from service.decode import JSON, SLASH, decode
from service.errors import MEDIA_TYPE, HttpError, crashed
from service.headers import FRESHNESS, MIN_SEQ
from service.routes.memories import add_memory
from service.routes.search import search
from service.schemas.requests import AddBody, SearchBody
from service.sending import send_body, send_problem
from service.workers import Backend

_PATH = re.compile(rf"/v1/spaces/(?P<space>[^/{SLASH}]+)(?P<end>/(?:search|memories))")
_TELLING = frozenset(
    name.lower().encode()
    for name in (MIN_SEQ, FRESHNESS, "Idempotency-Key", "If-Match", "If-None-Match", "Content-Encoding")
)

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Way:
    """A handler and the type of its body."""

    template: str
    body: type[Any]
    handle: Callable[[str, Any, Backend], Awaitable[Response[Any]]]


def _search(space: str, data: SearchBody, backend: Backend) -> Awaitable[Response[Any]]:
    return search.fn(space=space, data=data, backend=backend)


def _add(space: str, data: AddBody, backend: Backend) -> Awaitable[Response[Any]]:
    return add_memory.fn(request=None, space=space, data=data, backend=backend)


WAYS: Mapping[str, Way] = {
    "/search": Way("/v1/spaces/{space}/search", SearchBody, _search),
    "/memories": Way("/v1/spaces/{space}/memories", AddBody, _add),
}


class Express:
    """Stands before the application and leaves to it what is not plain. `backend` is given when that starts."""

    def __init__(self, app: ASGIApp, body_limit: int) -> None:
        """`body_limit` is in bytes."""
        self._app = app
        self._body_limit = body_limit
        self.backend: Backend | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if path is None or scope["query_string"] or not self._is_plain(scope["headers"]):
            await self._app(scope, receive, send)
            return
        way = WAYS[path["end"]]
        scope["path_template"], scope["path_params"] = way.template, {"space": path["space"]}
        try:
            await self._answer(way, path["space"], await _body(receive), send)
        except (MuistiError, HttpError) as error:
            await send_problem(send, error)
        except Exception as error:  # noqa: BLE001  # what Litestar does for handlers: no fault goes out bare
            found = crashed(scope, error)
            await send_body(send, found.status, {"Content-Type": MEDIA_TYPE}, found)

    async def _answer(self, way: Way, space: str, body: bytes, send: Send) -> None:
        if not body:
            raise HttpError("malformed_json", "the body is empty; send JSON")
        backend = self.backend
        assert backend is not None
        answer = await way.handle(space, decode(body, way.body), backend)
        headers = {"Content-Type": JSON, **answer.headers}
        await send_body(send, answer.status_code or 200, headers, answer.content)

    def _is_plain(self, headers: Iterable[Header]) -> bool:
        media_type, size = b"", self._body_limit + 1
        for name, value in headers:
            if name == b"content-type":
                media_type = value
            elif name == b"content-length" and value.isdigit():
                size = int(value)
            elif name in _TELLING:
                return False
        return media_type == b"application/json" and size <= self._body_limit


async def _body(receive: Receive) -> bytes:
    """The whole body.

    Raises:
        HttpError: the caller has gone.
    """
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise HttpError("malformed_request", "the client disconnected before its body was complete")
        body += message["body"]
        if not message["more_body"]:
            return body
