"""Parameters and answers that the routes of sessions, conversations and topics share."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from litestar import Response
from litestar.params import QueryParameter

from muisti.core.model.conversations import CONVERSATION_SORTS, Change, Kept, Level, NewObject, Object, ObjectName
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.query.points import parse
from muisti.core.views.conversations import Wanted
from muisti.service.auth.middleware import memories
from muisti.service.http.decode import Request, decode
from muisti.service.http.headers import SEQ, expected, request_key
from muisti.service.http.respond import followed, planned, written_headers
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.conversation_requests import (
    ExchangeBody,
    ExchangesBody,
)
from muisti.service.schemas.conversations import EndedReply

CategoryParameter = Annotated[
    str | None,
    QueryParameter(
        description="The category of the names. Without it names without a category come first, then the one category "
        "that has the name. Keys of one category need none."
    ),
]
ObjectSortParameter = Annotated[
    str | None,
    QueryParameter(
        description="Order of the list; `-` turns it round. Without it that of the cursor, else `-last_at`.",
        enum=list(CONVERSATION_SORTS),
    ),
]
SessionParameter = Annotated[str | None, QueryParameter(description="Only those of this session.")]
UserParameter = Annotated[str | None, QueryParameter(description="Only those in which this user takes part.")]
StateParameter = Annotated[
    str | None,
    QueryParameter(name="state", description="Only those that are open, or closed.", enum=["open", "closed"]),
]
T = TypeVar("T")

decoder(ExchangeBody)  # items are read one by one


def turns_of(data: ExchangesBody, path: str = "$.items") -> list[ExchangeBody]:
    """Return the turns of a request.

    Raises:
        InvalidInput, HttpError: one of them is none.
    """
    return [decode(raw, ExchangeBody, f"{path}[{place}]") for place, raw in enumerate(data.items)]


async def listed(
    request: Request, backend: Backend, space: str, wanted: Wanted, as_of: str | None, reply: Callable[[Any], T]
) -> Response[T]:
    """Answer with a page of objects."""
    if wanted.state not in (None, "open", "closed"):
        raise InvalidInput.at("$.state", f"{str(wanted.state)[:40]!r} is none of open, closed")
    page = await backend.store(memories(request, backend).conversations.page, space, wanted, as_of=parse(as_of))
    return followed(request, Response(reply(page), headers={SEQ: str(page.seq)}), page.next_cursor)


async def shown(
    request: Request, backend: Backend, space: str, name: ObjectName, as_of: str | None, reply: Callable[[Object], T]
) -> Response[T]:
    """Answer with one object."""
    found, seq = await backend.store(memories(request, backend).conversations.get, space, name, as_of=parse(as_of))
    return Response(reply(found), headers={SEQ: str(seq), "ETag": found.memory.etag})


async def made(
    request: Request,
    backend: Backend,
    space: str,
    level: Level,
    new: NewObject,
    reply: Callable[[Object], T],
    idempotency_key: str | None,
    *,
    dry_run: bool,
    conversation: str | None = None,
) -> Response[T]:
    """Make an object, and answer with it."""
    key = await request_key(request, space, idempotency_key)
    create = memories(request, backend, dry_run=dry_run).conversations.create
    kept = await backend.store(create, space, level, new, conversation=conversation, request=key)
    return _kept(kept, reply, 201)


async def revised(
    request: Request,
    backend: Backend,
    space: str,
    name: ObjectName,
    change: Change,
    reply: Callable[[Object], T],
    if_match: str | None,
    idempotency_key: str | None,
    *,
    dry_run: bool,
) -> Response[T]:
    """Change an object, and answer with it."""
    kept = await backend.store(
        memories(request, backend, dry_run=dry_run).conversations.change,
        space,
        name,
        change,
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return _kept(kept, reply, 200)


async def ended(
    request: Request, backend: Backend, space: str, name: ObjectName, *, dry_run: bool
) -> Response[EndedReply]:
    """Delete an object with all that belongs to it."""
    done = await backend.store(memories(request, backend, dry_run=dry_run).conversations.delete, space, name)
    timing = {"Server-Timing": f"commit;dur={done.commit:.2f}"} if done.commit else {}
    return planned(done.plan, Response(EndedReply.of(done), headers={SEQ: str(done.seq)} | timing, status_code=200))


def _kept(kept: Kept, reply: Callable[[Object], T], status: int) -> Response[T]:
    headers = {**written_headers(kept.written), "ETag": kept.found.memory.etag}
    return planned(kept.written.plan, Response(reply(kept.found), status_code=status, headers=headers))
