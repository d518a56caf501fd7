"""The change feed."""

from typing import Annotated, cast, get_args

from litestar import Response
from litestar.params import HeaderParameter, QueryParameter

from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import CHANGES_MAX, ChangeKind, Show
from muisti.core.model.values import Seq
from muisti.core.query import changes
from muisti.core.query.changes import Wanted
from muisti.core.query.filters import parse_params
from muisti.service.auth.access import check
from muisti.service.auth.middleware import memories
from muisti.service.feed.stream import MEDIA_TYPE, EventStream, SeqWatcher, Source
from muisti.service.http.headers import SEQ, point
from muisti.service.http.parameters import between
from muisti.service.http.request import Request
from muisti.service.http.respond import read
from muisti.service.http.routing import Routes
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.changes import ChangesReply
from muisti.service.schemas.errors import HttpError

routes = Routes("changes")

OWN = ("since", "limit", "change", "show")

SinceParameter = Annotated[
    str | None, QueryParameter(description="A point, `{epoch}:{number}`: only changes after it.")
]
ChangeParameter = Annotated[
    str | None,
    QueryParameter(description=f"Only these kinds of changes, a,b,c of {', '.join(get_args(ChangeKind))}."),
]
ShowParameter = Annotated[
    str,
    QueryParameter(
        description="Only `ids`, the memory as it is `after` the change, or `both`, also as it was before.",
        enum=list(get_args(Show)),
    ),
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
    changes.check(wanted)
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

    source = Source(backend, seq_watcher, memories(request, backend).read, space, wanted, allowed, access.key_id)
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
