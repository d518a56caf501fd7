"""The request that handlers get: who asks, for which space, on what terms, how fresh, and its typed body."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import litestar

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, NotYetReplicated
from muisti.core.model.values import Address, IfMatch, Name, RequestKey, Seq
from muisti.core.views.memories import Memories
from muisti.service.asgi.header_names import FRESHNESS, MIN_SEQ
from muisti.service.auth.access import Access
from muisti.service.auth.middleware import access_of, seen
from muisti.service.http.decode import JSON, LINES, SLASH, decode
from muisti.service.http.parameters import etags, freshness, min_seq
from muisti.service.runtime.admission import LANE
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import WORKS_IN, HttpError

P = ParamSpec("P")
T = TypeVar("T")

_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class Request(litestar.Request[Any, Any, Any]):
    """A request with what its route declares. What `standard` parameters say is read here; see `parameters`."""

    @property
    def path_params(self) -> dict[str, Any]:
        return {name: value.replace(SLASH, "/") for name, value in super().path_params.items()}

    async def json(self) -> Any:
        field = self.route_handler.parsed_data_field
        assert field is not None
        media_type = self.content_type[0]
        of_lines = getattr(field.annotation, "of_lines", None)
        if media_type == LINES and of_lines is not None:
            return of_lines(await self.body())
        if media_type != JSON:
            accepted = JSON if of_lines is None else f"{JSON} or {LINES}"
            raise HttpError("unsupported_media_type", f"Content-Type is {media_type[:80]!r}; send {accepted}")
        return decode(await self.body(), field.annotation)

    @property
    def backend(self) -> Backend:
        return self.app.state.backend

    @property
    def engine(self) -> Engine:
        return self.backend.engine

    @property
    def space(self) -> str:
        return self.path_params["space"]

    @property
    def name(self) -> Name:
        """Return the memory in the path: its id, or its category and key."""
        given = self.path_params
        return given["memory_id"] if "memory_id" in given else Address(given["category"], given["key"])

    def works_in(self, space: str) -> None:
        """State the space that a request works in whose path names none."""
        LANE.set(LANE.get()._replace(space=space))
        cast(dict[str, Any], self.scope)[WORKS_IN] = space

    @property
    def access(self) -> Access:
        return access_of(self.scope)

    @property
    def caller(self) -> Caller:
        """Return the caller for parts of the core that are no view, without the id of the request."""
        return self.access.caller()

    @property
    def named_caller(self) -> Caller:
        """Return the caller with the id of the request, as reports of erasures and tasks name it."""
        return self.access.caller(cast(dict[str, Any], self.scope).get("request_id"))

    @property
    def memories(self) -> Memories:
        """Return the memories that the caller may see. In a dry run writes are reported and rolled back."""
        return seen(self.scope, self.backend, dry_run=self.dry_run)

    @property
    def dry_run(self) -> bool:
        """Return the parameter `dry_run`; False where the route has none.

        Raises:
            InvalidInput: it is neither true nor false.
        """
        if "dry_run" not in self.query_params or "dry_run" not in self.route_handler.opt.get("standard", ()):
            return False
        given = self.query_params["dry_run"]
        if given.lower() not in _FLAGS:
            raise InvalidInput.at("$.dry_run", f"{given[:40]!r} is not true or false")
        return _FLAGS[given.lower()]

    @property
    def if_match(self) -> IfMatch:
        """Return the tags of If-Match, one of which must be the memory's; None when any version may change.

        Raises:
            HttpError: If-None-Match is given, or If-Match is no list of tags.
        """
        if "if-none-match" in self.headers:
            raise HttpError(
                "malformed_header", "If-None-Match goes with GET; a POST with category and key never replaces"
            )
        header = self.headers.get("if-match")
        return None if header is None else etags(header)

    async def key(self) -> RequestKey | None:
        """Return the key by which a repeated request is recognised; None when the caller sent none.

        Raises:
            HttpError: the key is malformed.
        """
        header = self.headers.get("idempotency-key")
        return None if header is None else self.key_of(header, [await self.body()])

    def key_of(self, header: str, parts: Sequence[bytes]) -> RequestKey:
        """Return the key of a request whose body is recognised by `parts`.

        Raises:
            HttpError: the key is malformed.
        """
        if not _KEY.fullmatch(header):
            raise HttpError("malformed_header", "Idempotency-Key must have 1 to 255 visible ASCII characters")
        scope, digest = self.scope, blake2b(digest_size=32)
        for part in (scope["method"].encode(), scope["raw_path"], scope["query_string"], *parts):
            digest.update(len(part).to_bytes(8, "big") + part)
        return RequestKey(f"http {self.space} {self.access.actor}", header, digest.digest())

    async def conditions(self) -> dict[str, Any]:
        """Return If-Match and Idempotency-Key, as writes of one memory take them."""
        return {"if_match": self.if_match, "request": await self.key()}

    async def ask(self, ask: Callable[Concatenate[str, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Call a function of the core for the space of the request, on a thread that may wait for the database."""
        return await self.backend.store(ask, self.space, *args, **named)


async def on_threads(backend: Backend, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts of an answer, each made on a thread that waits for the database."""
    while (part := await backend.store(next, parts, b"")) != b"":
        yield part


# Read your own writes: a reader names a point of history that it has seen, and waits until this server reaches it

WAIT_SECONDS = 1.0
PAUSE_SECONDS = 0.02
_MIN_SEQ = MIN_SEQ.lower().encode()
_FRESHNESS = FRESHNESS.lower().encode()
_NAMES = frozenset({_MIN_SEQ, _FRESHNESS})


async def caught_up(request: Request) -> None:
    """Ask the primary when Muisti-Freshness says so, and wait for the point that Muisti-Min-Seq names, if any.

    Raises:
        NotYetReplicated: it was not reached in time.
        EpochGone: the space was deleted or emptied since, and has a new epoch.
    """
    found = {name: value.decode("latin-1") for name, value in request.scope["headers"] if name in _NAMES}
    if not found or "space" not in request.path_params:
        return
    strong = freshness(found.get(_FRESHNESS)).strong
    await reached(request.backend, request.space, strong=strong, at_least=found.get(_MIN_SEQ))


async def reached(backend: Backend, space: str, *, strong: bool, at_least: str | None) -> None:
    """Ask the primary if the read is `strong`, and wait for the point `at_least`, if any.

    Raises:
        NotYetReplicated: it was not reached in time.
        EpochGone: the space was deleted or emptied since, and has a new epoch.
    """
    if strong:
        await backend.store(backend.engines.of(space).spaces.catch_up, space)
    if at_least is not None:
        await _reached(backend, space, min_seq(at_least))


async def _reached(backend: Backend, space: str, at: Seq) -> None:
    clock = asyncio.get_running_loop().time
    deadline = clock() + WAIT_SECONDS
    while True:
        try:
            return await backend.store(backend.engines.of(space).spaces.require, space, at)
        except NotYetReplicated:
            if clock() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)
