"""The stages before the application: compression, web pages of other origins, the console, the caller."""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, cast

import msgspec

from muisti.core.model.errors import MuistiError
from muisti.service.asgi.header_names import decided, plain_headers
from muisti.service.asgi.messages import CODED, PlainResponse, compressed, read_body, send_body, send_problem
from muisti.service.auth.access import STATE, Access, Need, check
from muisti.service.auth.browser import PAGED, WebPages
from muisti.service.auth.middleware import AuthMiddleware
from muisti.service.http import plain
from muisti.service.http.decode import JSON, SLASH, decode
from muisti.service.mcp.cards import CARDS, Cards
from muisti.service.pages.mount import PATHS
from muisti.service.runtime.admission import LANE, Lane
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.asgi import ASGIApp, Receive, Scope, Send
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.requests import AddBody
from muisti.service.schemas.search_requests import SearchBody


class Entrance:
    """Passes a request through the stages that its headers and its path ask for, then to `inner`."""

    def __init__(
        self, inner: AuthMiddleware, pages: WebPages, console: ASGIApp | None, cards: Cards | None = None
    ) -> None:
        self._inner, self._pages, self._console, self._cards = inner, pages, console, cards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises HttpError when a body comes compressed, or a page calls that may not."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        given: Mapping[bytes, bytes] = dict(scope["headers"])
        if not CODED.isdisjoint(given):
            send = compressed(scope["headers"], send)
        if self._cards is not None and scope["path"] in CARDS:
            await self._cards(scope, given, send)
            return
        if not PAGED.isdisjoint(given):
            shown = await self._pages.shown(scope, given, send)
            if shown is None:
                return
            send = shown
        if self._console is not None and PATHS.fullmatch(scope["path"]):
            await self._console(scope, receive, send)
        else:
            await self._inner(scope, receive, send)


# Fast path for the two most frequent requests, a plain search and a plain memory to add, and for signs of life


_PATH = re.compile(rf"/v1/spaces/(?P<space>[^/{SLASH}]+)(?P<end>/(?:search|memories))")


class Way(msgspec.Struct, frozen=True):
    """Route on the fast path: the function that answers, the type of the body, and the scope that it needs."""

    template: str
    body: type[Any]
    answer: Callable[[Scope, str, Any, Backend], Awaitable[PlainResponse]]
    needs: Need


WAYS: Mapping[str, Way] = {
    "/search": Way("/v1/spaces/{space}/search", SearchBody, plain.search, "read"),
    "/memories": Way("/v1/spaces/{space}/memories", AddBody, partial(plain.add, reply=plain.stored), "append"),
}
PROBES: Mapping[str, Callable[[Scope, plain.State], Awaitable[Reply]]] = {
    "/healthz": plain.alive,
    "/readyz": plain.readiness,
}


def may_be_fast(path: str) -> bool:
    """Tell whether requests of a path may take the fast path."""
    return path in PROBES or _PATH.fullmatch(path) is not None


class FastPath:
    """Middleware that answers plain requests, and passes others to the application.

    It raises unexpected errors, which the request middleware answers. The functions that check and answer a plain
    request are those that the handlers of the routes call.
    """

    def __init__(self, app: ASGIApp, body_limit: int, state: plain.State) -> None:
        """`body_limit` is in bytes."""
        self._app = app
        self._body_limit = body_limit
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["query_string"]:
            await self._app(scope, receive, send)
        elif scope["method"] == "POST" and (path := _PATH.fullmatch(scope["path"])) is not None:
            if plain_headers(scope["headers"], self._body_limit) is None:
                await self._app(scope, receive, send)
            else:
                await self._answered(scope, path["space"], WAYS[path["end"]], receive, send)
        elif scope["method"] == "GET" and scope["path"] in PROBES and not decided(scope["headers"]):
            await self._probed(scope, send)
        else:
            await self._app(scope, receive, send)

    async def _answered(self, scope: Scope, space: str, way: Way, receive: Receive, send: Send) -> None:
        scope["path_template"], scope["path_params"] = way.template, {"space": space}
        try:
            access: Access = cast(dict[str, Any], scope)[STATE]
            check(access, way.needs, space)
            LANE.set(Lane(False, space, access.lane_key))
            body = await read_body(receive)
            if not body:
                raise HttpError("malformed_json", "the body is empty; send JSON")
            reply = await way.answer(scope, space, decode(body, way.body), self._state.backend)
        except (MuistiError, HttpError) as error:  # here, so that the middleware around sees a normal answer
            await send_problem(scope, send, error)
        else:
            await send_body(send, reply.status, {"Content-Type": JSON, **reply.headers}, reply.content)

    async def _probed(self, scope: Scope, send: Send) -> None:
        scope["path_template"], scope["path_params"] = scope["path"], {}
        try:
            reply = await PROBES[scope["path"]](scope, self._state)
        except (MuistiError, HttpError) as error:
            await send_problem(scope, send, error)
        else:
            await send_body(send, 200, {"Content-Type": JSON}, reply)
