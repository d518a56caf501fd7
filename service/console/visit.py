"""One visit of a page: who looks, at which space, at which time, and the API as that visitor may use it."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode

import httpx
from litestar import Request
from litestar.datastructures import FormMultiDict
from litestar.types import ASGIApp

from muisti.client import AsyncMuisti, Call, MuistiError
from muisti.client.types import AccessReply
from muisti.service.auth.browser import SESSION, cookie_of
from muisti.service.console import ROOT

SECONDS = 60.0


@asynccontextmanager
async def api_of(app: ASGIApp, host: str, key: str | None) -> AsyncIterator[AsyncMuisti]:
    """Open a client that calls the application without a network, with the key of a session if there is one.

    `host` is the Host header of the browser: the application checks it as it checks every other request.
    """
    headers = {b"Host": host.encode("latin-1", "replace")}
    if key:
        headers[b"Authorization"] = b"Bearer " + key.encode("utf-8", "surrogateescape")
    # The two libraries spell the types of ASGI differently.
    transport = httpx.ASGITransport(app=cast(Any, app), raise_app_exceptions=False)
    http = httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers, timeout=SECONDS, trust_env=False
    )
    async with AsyncMuisti(http=http, attempts=1) as client:
        yield client


AS_OF = "as_of"
OF_NOW = frozenset({AS_OF, "cursor", "said", "undo", "back"})  # parameters that are those of one time alone


class NotSignedIn(Exception):
    """Signal that the server needs a key and the browser has no session that works."""


class Sent(NamedTuple):
    """An answer of the API. `request` is the id that undoes what it did."""

    data: Any
    request: str


class Visit:
    """`access` says what the visitor may do. `space` is the one of the page's path, None on pages of no space."""

    def __init__(
        self, request: Request[Any, Any, Any], api: AsyncMuisti, access: AccessReply, space: str | None
    ) -> None:
        self.request, self.api, self.access, self.space = request, api, access, space
        self.form = FormMultiDict([])  # what was sent, to a page that takes forms

    def field(self, name: str) -> str:
        """Return the text of a field of the form; empty when it is absent."""
        return str(self.form.get(name, ""))

    def other(self, key: str) -> AbstractAsyncContextManager[AsyncMuisti]:
        """Open a client with another key than that of the session."""
        return api_of(self.request.app.state["api"], host_of(self.request), key)

    async def send(self, call: Call) -> "Sent":
        """Send a request of `muisti.client.calls`, and keep the id by which it can be undone.

        Raises:
            MuistiError: the API refuses.
        """
        reply = await self.api.send(call)
        return Sent(reply.data, reply.headers["x-request-id"])

    @property
    def asked(self) -> dict[str, Any]:
        """The parameters of the URL, the first of each name."""
        given = self.request.query_params
        return {name: given[name] for name in given}

    @property
    def as_of(self) -> str | None:
        """The time that the whole console shows, in UTC unless it says otherwise; None for now."""
        return zoned(self.request.query_params.get(AS_OF, "")) or None

    @property
    def at(self) -> dict[str, Any]:
        """The time as arguments of reads of the API: empty for now."""
        return {} if self.as_of is None else {AS_OF: self.as_of}

    @property
    def is_fragment(self) -> bool:
        """Whether htmx asks for a part of the page alone."""
        return "hx-request" in self.request.headers

    def may(self, scope: str) -> bool:
        """Return whether the visitor's key has a scope."""
        return scope in self.access["scopes"]

    def may_change(self, scope: str = "write") -> bool:
        """Return whether to offer a change: the key has the scope, and the page shows the present."""
        return self.as_of is None and self.may(scope)

    def to(self, path: str = "", /, space: str | None = None, **params: Any) -> str:
        """Return the URL of a page below the space, at the time that is shown. None leaves a parameter out."""
        return link(path, space or self.space, {AS_OF: self.as_of, **params})


def link(path: str, space: str | None, params: Mapping[str, Any]) -> str:
    """Return the URL of a page of the console.

    >>> link("ask", "notes/ann", {"q": "tea?", "as_of": None})
    '/console/spaces/notes%2Fann/ask?q=tea%3F'
    """
    base = ROOT if space is None else f"{ROOT}/spaces/{quote(space, safe='')}"
    given = {name: value for name, value in params.items() if value is not None}
    return f"{base}/{path}".rstrip("/") + (f"?{urlencode(given, doseq=True)}" if given else "")


def zoned(at: str) -> str:
    """Return a time with its zone: UTC when it has none. Points of history that are no times remain as they are.

    >>> zoned("2026-05-01T12:00"), zoned("2026-05-01T12:00:00+03:00"), zoned("41")
    ('2026-05-01T12:00:00Z', '2026-05-01T12:00:00+03:00', '41')
    """
    try:
        read = datetime.fromisoformat(at) if "T" in at else None
    except ValueError:
        return at
    return at if read is None or read.tzinfo is not None else f"{read.isoformat()}Z"


def cookie(request: Request[Any, Any, Any], name: str) -> str | None:
    """Return the value of a cookie of a request; None when it is absent."""
    return cookie_of(list(request.scope["headers"]), name)


def host_of(request: Request[Any, Any, Any]) -> str:
    """Return the Host header of a request, for the API to check."""
    return request.headers.get("host", "localhost")


def visiting(api: ASGIApp) -> Any:
    """Return the dependency that opens a visit for each request of a page."""

    async def visit(request: Request[Any, Any, Any]) -> AsyncGenerator[Visit]:
        async with visited(request, api) as opened:
            yield opened

    return visit


@asynccontextmanager
async def visited(request: Request[Any, Any, Any], api: ASGIApp) -> AsyncIterator[Visit]:
    """Open the visit of a request.

    Raises:
        NotSignedIn: the server needs a key, and the browser has no session that works.
    """
    async with api_of(api, host_of(request), cookie(request, SESSION)) as client:
        try:
            access = await client.get_access()
        except MuistiError as error:
            if error.status == 401:
                raise NotSignedIn from error
            raise
        yield Visit(request, client, access, request.path_params.get("space"))
