"""The change feed, and the read log of this process."""

from collections.abc import AsyncGenerator
from itertools import islice
from typing import Annotated, cast, get_args

from litestar import Response
from litestar.params import HeaderParameter

from muisti.core.model.choices import CHANGES_MAX, ChangeKind, Show
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import LIMIT_MAX, Seq
from muisti.core.query import points
from muisti.core.query.filters import parse_params
from muisti.core.query.points import Wanted
from muisti.service.asgi.header_names import SEQ
from muisti.service.auth.access import check
from muisti.service.feed.stream import MEDIA_TYPE, EventStream, SeqWatcher, Source, read_blocks
from muisti.service.http.parameters import CursorParameter, LimitParameter, between, point, query
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, read
from muisti.service.http.routing import Routes
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.changes import ChangesReply
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.health import QuestionsReply, ReadsReply

routes = Routes("changes")

OWN = ("since", "limit", "change", "show")

SinceParameter = Annotated[str | None, query("A point, `{epoch}:{number}`: only changes after it.")]
ChangeParameter = Annotated[
    str | None, query(f"Only these kinds of changes, a,b,c of {', '.join(get_args(ChangeKind))}.")
]
ShowParameter = Annotated[
    str,
    query("Only `ids`, the memory as it is `after` the change, or `both`, also as it was before.", enum=get_args(Show)),
]
ChangesLimit = Annotated[int, between("Largest number.", 1, CHANGES_MAX)]
LastEventId = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="To resume a stream: the id of the last event received."),
]


@routes.get(
    "/changes", needs="read", filters=True, streams=True, problems=["malformed_header", "past_retention", "point_ahead"]
)
async def list_changes(
    request: Request,
    since: SinceParameter = None,
    limit: ChangesLimit = 100,
    change: ChangeParameter = None,
    show: ShowParameter = "after",
    last_event_id: LastEventId = None,
) -> Response[ChangesReply]:
    """Read the changes of a space, oldest first, or listen to them.

    Every other parameter is a filter, as in a list; a change passes when its memory passes, before or after the change.
    With `Accept: text/event-stream` the answer is a stream of changes until the client disconnects. Without a point to
    resume from, the stream begins now.
    """
    filters = {name: texts for name, texts in request.query_params.dict().items() if name not in OWN}
    wanted = Wanted(
        since=None if since is None else _since(since),
        kinds=cast(tuple[ChangeKind, ...], () if change is None else tuple(change.split(","))),
        filter=parse_params(filters),
        show=cast(Show, show),
        limit=limit,
    )
    points.check(wanted)
    if MEDIA_TYPE in request.headers.get("accept", ""):
        return cast(
            Response[ChangesReply], await _stream(request, request.space, request.backend, wanted, last_event_id)
        )
    page = await request.ask(request.memories.read.changes, wanted)
    return read(ChangesReply.of(page, wanted.show), page.reached)


async def _stream(request: Request, space: str, backend: Backend, wanted: Wanted, last: str | None) -> EventStream:
    access = request.access
    seq_watcher: SeqWatcher = request.app.state.seq_watcher

    async def allowed() -> None:
        """Check the key again: it may be revoked, or expire, while the stream runs."""
        now = await request.app.state.gate.enter(request.scope["headers"], request.scope["path"])
        check(now, "read", space)

    source = Source(backend, seq_watcher, lambda: request.memories.read, space, wanted, allowed, access.key_id)
    seq_watcher.check(access.key_id)
    since = wanted.since if last is None else point(last, "Last-Event-ID")
    if since is None:
        since = (await backend.store(backend.engine.spaces.get, space)).at
    return EventStream(source.blocks(await source.page(since)), {SEQ: str(since)})


def _since(text: str) -> Seq:
    try:
        return point(text, "since")
    except HttpError as error:
        raise InvalidInput.at("$.since", error.detail.removeprefix("since ")) from None


# The read log of this process, and the questions that found nothing

AfterParameter = Annotated[str | None, query("The id of a read: only reads after it.")]


@routes.get("/reads", needs="admin", streams=True)
async def list_reads(
    request: Request,
    after: AfterParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
    last_event_id: LastEventId = None,
) -> Response[ReadsReply]:
    """List the reads of a space in this process, newest first, or listen to them.

    The log has no content: no text of a query or a memory. It is off unless `MUISTI_READ_LOG` turns it on, which `mode`
    tells. Each process has its own, which ends with it. With `Accept: text/event-stream` the answer is a stream of
    reads, oldest first, which begins now or behind `Last-Event-ID`.
    """
    at, log = await _place(request.space, request.backend), request.backend.reads
    if MEDIA_TYPE in request.headers.get("accept", ""):
        return cast(
            Response[ReadsReply], await _stream_reads(request, request.space, request.backend, at, last_event_id)
        )
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    behind = 0 if after is None else log.number("after", after)
    before = None if cursor is None else log.number("cursor", cursor)
    found = [*islice(log.entries(request.space, at.epoch, behind, before), limit + 1)]
    items = [entry.read for entry in found[:limit]]
    next_cursor = items[-1].id if len(found) > limit else None
    reply = ReadsReply(
        mode=log.mode, process=log.process, since=log.since, size=log.size, items=items, next_cursor=next_cursor
    )
    return followed(request, read(reply, at), next_cursor)


@routes.get("/reads/unanswered", needs="admin")
async def list_unanswered(request: Request, limit: LimitParameter = 50) -> Response[QuestionsReply]:
    """List the questions of a space that found nothing, the most frequent first.

    They are those whose `evidence` was `none`, in this process, since it began or they were cleared. They are kept in
    the mode `questions` of `MUISTI_READ_LOG` alone, because what people ask may be personal.
    """
    at, log = await _place(request.space, request.backend), request.backend.reads
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    items = log.questions(request.space, at.epoch)[:limit]
    return read(QuestionsReply(mode=log.mode, process=log.process, since=log.since, items=items), at)


@routes.delete("/reads", status_code=204, needs="admin")
async def forget_reads(request: Request) -> Response[None]:
    """Forget the reads of a space in this process, and its questions that found nothing."""
    at = await _place(request.space, request.backend)
    request.backend.reads.forget(request.space)
    return Response(None, status_code=204, headers={SEQ: str(at)})


async def _place(space: str, backend: Backend) -> Seq:
    return (await backend.store(backend.engine.spaces.get, space)).at


async def _stream_reads(request: Request, space: str, backend: Backend, at: Seq, last: str | None) -> EventStream:
    access, log = request.access, backend.reads
    seq_watcher: SeqWatcher = request.app.state.seq_watcher
    seq_watcher.check(access.key_id)
    after = log.newest if last is None else log.number("last_event_id", last)

    async def allowed() -> None:
        """Check the key again: it may be revoked, or expire, while the stream runs."""
        now = await request.app.state.gate.enter(request.scope["headers"], request.scope["path"])
        check(now, "admin", space)

    async def counted() -> AsyncGenerator[bytes]:
        with seq_watcher.watching(space, access.key_id):
            async for block in read_blocks(log, space, at.epoch, after, allowed, lambda: backend.stopping):
                yield block

    return EventStream(counted(), {SEQ: str(at)})
