"""Answers of the most frequent requests, and of those that watch a server, which load neither Litestar nor a route."""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Protocol, TypeVar, cast

import msgspec
from msgspec import UNSET

from muisti.core.engine import Engine
from muisti.core.model.context import Context
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.generations import without_place
from muisti.core.model.hits import Answer, Timings
from muisti.core.model.outcomes import Written
from muisti.core.model.values import RequestKey
from muisti.core.placement.directory import MAIN_NAME
from muisti.service.asgi.header_names import FLAGS, REPLAYED, SEQ
from muisti.service.asgi.messages import PlainResponse
from muisti.service.auth.access import STATE, Access, check
from muisti.service.auth.middleware import AuthMiddleware, access_of, seen
from muisti.service.observability.read_log import Operation, Reading, asked_now
from muisti.service.runtime.looks import Seen, look
from muisti.service.runtime.looks import seen as seen_by_database
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.asgi import Scope
from muisti.service.schemas.health import AliveReply, EmbeddingsReply, FailingReply, ReadyReply
from muisti.service.schemas.replies import AddedReply
from muisti.service.schemas.requests import AddBody, on_conflict_of
from muisti.service.schemas.search import SearchReply
from muisti.service.schemas.search_requests import RecencyBody, SearchBody
from muisti.service.version import installed_version

PATIENCE_SECONDS = 2.0
R = TypeVar("R")


def reading(scope: Scope, backend: Backend, operation: Operation) -> Reading:
    """Begin a read of a request, for the log."""
    http = cast(dict[str, Any], scope)
    access: Access = http[STATE]
    return Reading(backend.reads, operation, access.actor, http.get("request_id"))


async def search(scope: Scope, space: str, data: SearchBody, backend: Backend, max_age: float = 0.0) -> PlainResponse:
    """Search, and keep a receipt when the request asks for one."""
    query = data.to_query()
    with reading(scope, backend, "search") as noted:
        answer = await backend.search(seen(scope, backend), space, query, max_age)
        noted.found(space, answer.seq, len(answer.hits), answer.evidence, asked_now(query))
        if data.receipt and data.recency is None and answer.recency is not None:  # a default, which may change later
            data = msgspec.structs.replace(data, recency=RecencyBody.of(answer.recency))
        receipt = await kept(scope, space, backend, data, answer, query.reference_time) if data.receipt else UNSET
        noted.receipt = receipt or None
    headers = {SEQ: str(answer.seq), "Server-Timing": server_timing(answer.timings)}
    return PlainResponse(SearchReply.of(answer, receipt), headers)


async def kept(
    scope: Scope,
    space: str,
    backend: Backend,
    data: msgspec.Struct,
    answer: Answer | Context,
    reference_time: int | None,
) -> str:
    """Store a receipt of this answer; return its id."""
    now, asked, caller = backend.engine.now(), msgspec.json.encode(data), access_of(scope).caller()
    at = now if reference_time is None else reference_time
    return await backend.store(backend.engine.receipts.keep, space, asked, answer, at, caller, now)


def server_timing(timings: Timings) -> str:
    """Return the stages of a search as the header Server-Timing, in milliseconds.

    >>> server_timing(Timings(embed=0.1, rank=1.234))
    'embed;dur=0.10, filter;dur=0.00, rank;dur=1.23, fetch;dur=0.00'
    """
    return (
        f"embed;dur={timings.embed:.2f}, filter;dur={timings.filter:.2f}, "
        f"rank;dur={timings.rank:.2f}, fetch;dur={timings.fetch:.2f}"
    )


# Adds


async def add(
    scope: Scope,
    space: str,
    data: AddBody,
    backend: Backend,
    on_conflict: str | None = None,
    key: RequestKey | None = None,
    *,
    dry_run: bool = False,
    reply: Callable[[Written], R],
) -> R:
    """Add a memory, and return the `reply` to what was written."""
    choice = on_conflict_of(data.on_conflict, on_conflict, "reject")
    if choice == "supersede":
        check(access_of(scope), "write")
    return reply(await backend.add(seen(scope, backend, dry_run=dry_run), space, data.draft(), choice, key))


def stored(one: Written) -> PlainResponse:
    """Answer with the memory that was stored and the memories like it."""
    memory = one.memories[0]
    location = f"/v1/spaces/{memory.space}/memories/{memory.id}"
    return PlainResponse(
        AddedReply.of_written(one), {**written_headers(one), "ETag": memory.etag, "Location": location}, 201
    )


def written_headers(one: Written) -> dict[str, str]:
    headers = {SEQ: str(one.seq)} | ({REPLAYED: "true"} if one.replayed else {})
    if one.flags:
        headers[FLAGS] = ", ".join(sorted({flag.code for flag in one.flags}))
    return headers | ({"Server-Timing": f"commit;dur={one.commit:.2f}"} if one.commit else {})


# Signs of life


class State(Protocol):
    """Parts of the application that answers take; its start sets `backend`."""

    backend: Backend
    gate: AuthMiddleware


async def alive(scope: Scope, state: State) -> AliveReply:
    """Say that the process answers."""
    return AliveReply()


async def readiness(scope: Scope, state: State) -> ReadyReply:
    """Say whether the service can do its work. Of several databases, one that is down takes only its spaces with it.

    Raises:
        MuistiError, HttpError: it cannot, or the key of the request is not valid.
    """
    backend, until = state.backend, monotonic() + PATIENCE_SECONDS
    looks = backend.looks.begin()
    main: Seen | StoreUnavailable
    try:
        main = await asyncio.wait_for(backend.vital(look, backend.main), PATIENCE_SECONDS)
    except TimeoutError:
        main = StoreUnavailable(f"the database has not answered for {PATIENCE_SECONDS:g} s")
    except StoreUnavailable as error:
        main = error
    found = await seen_by_database(looks, until - monotonic())
    if isinstance(main, StoreUnavailable) and not any(found.values()):
        raise main
    try:
        access = await asyncio.wait_for(state.gate.recognise(list(scope["headers"]), "/readyz"), PATIENCE_SECONDS)
    except (TimeoutError, StoreUnavailable):
        if not looks:
            raise StoreUnavailable(f"the database has not answered for {PATIENCE_SECONDS:g} s") from None
        return ReadyReply()  # keys are in the first database
    if not access.known:
        return ReadyReply()
    each = {MAIN_NAME: None if isinstance(main, StoreUnavailable) else main, **found}
    return _ready(backend, access, each)


def _ready(backend: Backend, access: Access, found: Mapping[str, Seen | None]) -> ReadyReply:
    """Return what the caller may see of the databases that answered."""
    engine, reaches = backend.main, access.grant.reaches
    there = [one for one in found.values() if one is not None]
    obstacle = next((one.engine.tasks.obstacle for one in there if one.engine.tasks.obstacle is not None), None)
    failing = [each for one in there for each in one.failing if reaches(each.space)]
    return ReadyReply(
        version=installed_version(),
        store=engine.store,
        spaces=sum(reaches(space.name) for one in there for space in one.spaces),
        loading=[name for one in there for name in one.engine.indexes_loading if reaches(name)],
        embeddings=_embeddings(engine),
        index_bytes=sum(one.engine.index_bytes for one in there),
        indexes_evicted=sum(one.engine.indexes_evicted for one in there),
        tasks_blocked=UNSET if obstacle is None else obstacle.code,
        tasks_failing=[FailingReply(task=one.task, kind=one.kind, space=one.space, tries=one.tries) for one in failing]
        or UNSET,
        databases={name: "down" if one is None else "ready" for name, one in found.items()}
        if len(found) > 1
        else UNSET,
    )


def _embeddings(engine: Engine) -> EmbeddingsReply:
    seconds = engine.models.seconds
    return EmbeddingsReply(
        enabled=engine.model is not None,
        model=engine.model,
        second=without_place(seconds.default),
        unusable=[without_place(name) for name in sorted(seconds.problems)] or UNSET,
    )
