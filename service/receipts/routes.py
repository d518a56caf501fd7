"""Receipts: stored searches with their answers, which can be read and repeated; and their replies."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

import msgspec
from litestar import Response
from litestar.params import FromPath
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from muisti.core.model.context import Context
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.hits import Answer, Evidence, Mode, Recency
from muisti.core.model.quality import Moved, Receipt, Why
from muisti.core.model.times import from_us, to_us
from muisti.core.query.filter_fields import moment
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.views.read import Request as ContextRequest
from muisti.service.asgi.header_names import SEQ
from muisti.service.http.parameters import PAST, CursorParameter, LimitParameter, ThenParameter, query
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, read
from muisti.service.http.routing import Routes
from muisti.service.schemas import fields
from muisti.service.schemas.context import ContextBody, ContextReply
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc
from muisti.service.schemas.replies import Cursor
from muisti.service.schemas.search import SearchReply
from muisti.service.schemas.search_requests import SearchBody

ReceiptId = Annotated[
    str, doc("Id of a receipt, a UUIDv7.", format="uuid", examples=["0197a3c0-5f4e-7000-8000-0123456789af"])
]


class ReceiptHitReply(Reply, frozen=True, kw_only=True):
    """A hit of the recorded search, in its version then. `rank` counts from 1; `ranks` has its rank in each ranking."""

    named = {"id": "memory_id"}

    rank: int
    id: fields.MemoryId
    version: int
    score: float
    ranks: dict[str, int]


class ReceiptReply(Reply, frozen=True, kw_only=True):
    """A recorded search: its request, the state of the space, and its hits."""

    within = ("told",)
    named = {"seq": "at"}

    id: ReceiptId
    space: fields.SpaceName
    made_at: fields.Time
    actor: str
    parameters: Annotated[dict[str, Any], doc("The request, with the defaults of what it left out.")]
    reference_time: fields.Time
    generation: Annotated[str | None, doc("The model that had embedded the space.")]
    seq: fields.SeqText
    total: int
    evidence: Evidence
    strategy: Mode
    degraded: list[str]
    hits: list[ReceiptHitReply]

    @classmethod
    def of(cls, value: Receipt, /, **more: Any) -> Self:
        return super().of(value, parameters=msgspec.json.decode(value.parameters), **more)


class ListedReceiptReply(Reply, frozen=True, kw_only=True):
    """A receipt in a list, without its memories: `hits` is their number."""

    named = {"seq": "at"}

    id: ReceiptId
    made_at: fields.Time
    actor: Annotated[str, doc("Who asked, as in the audit log.")]
    kind: Literal["search", "context"]
    query: str
    evidence: Evidence
    strategy: Mode
    total: Annotated[int, doc("Memories that could have been hits.", ge=0)]
    hits: Annotated[int, doc("Memories in the answer.", ge=0)]
    seq: fields.SeqText


class ReceiptsReply(Reply, frozen=True, kw_only=True):
    """Receipts, newest first."""

    items: list[ListedReceiptReply]
    next_cursor: Cursor


class MovedReply(Reply, frozen=True, kw_only=True):
    """A memory whose rank changed; null where it is not in the answer."""

    named = {"id": "memory_id"}

    id: fields.MemoryId
    before: int | None
    after: int | None
    why: Annotated[
        str,
        doc(
            "Reason; `status`: it is not active any more; `model`: the space was embedded again; "
            "`others`: only the ranks of other memories changed.",
            enum=list(get_args(Why)),
        ),
    ]
    superseded_by: fields.MemoryId | UnsetType = UNSET


class ReplayReply(Struct, frozen=True, kw_only=True):
    """The search or context made again, and its differences from the receipt: first memories of the receipt."""

    same: Annotated[bool, doc("Whether the same memories have the same ranks.")]
    differences: list[MovedReply]
    answer: Annotated[SearchReply, doc("Of a search.")] | UnsetType = UNSET
    context: Annotated[ContextReply, doc("Of a context.")] | UnsetType = UNSET
    at: datetime

    @classmethod
    def of(cls, moved: tuple[Moved, ...], answer: Answer | Context, at: datetime) -> "ReplayReply":
        is_context = isinstance(answer, Context)
        return cls(
            same=not moved,
            differences=[MovedReply.of(one) for one in moved],
            answer=UNSET if is_context else SearchReply.of(answer),
            context=ContextReply.of(answer) if is_context else UNSET,
            at=at,
        )


routes = Routes("search")
everywhere = Routes("search", "")

Asked = TypeVar("Asked", Query, ContextRequest)


ActorParameter = Annotated[str | None, query("Only of this caller, by its name in the audit log: the id of a key.")]
SinceTime = Annotated[str | None, query("Only made at this time or later.")]
UntilTime = Annotated[str | None, query("Only made before this time.")]
EvidenceParameter = Annotated[str | None, query("Only with this evidence.", enum=get_args(Evidence))]


@routes.get("/receipts", needs="read")
async def list_receipts(
    request: Request,
    actor: ActorParameter = None,
    since: SinceTime = None,
    until: UntilTime = None,
    evidence: EvidenceParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[ReceiptsReply]:
    """List receipts of a space, newest first.

    A key with a category sees only receipts of keys with that category, as it does one by one.
    """
    engine = request.engine
    page = await request.ask(
        engine.receipts.list,
        request.caller,
        engine.now(),
        actor=actor,
        since=_moment("since", since),
        until=_moment("until", until),
        evidence=evidence,
        limit=limit,
        cursor=cursor,
    )
    return followed(request, read(ReceiptsReply.of(page), page.seq), page.next_cursor)


def _moment(name: str, text: str | None) -> int | None:
    """Return a time of the query string in microseconds.

    Raises:
        InvalidInput: the text is no time.
    """
    try:
        return None if text is None else moment(text)
    except ValueError as problem:
        raise InvalidInput.at(f"$.{name}", str(problem)) from None


@everywhere.get("/v1/receipts/{receipt_id:str}", needs="read", problems=["not_found"])
async def get_receipt(request: Request, receipt_id: FromPath[str]) -> Response[ReceiptReply]:
    """Read the request and the answer of a search."""
    one = await _found(request, receipt_id)
    return read(ReceiptReply.of(one), one.at)


@everywhere.post(
    "/v1/receipts/{receipt_id:str}/replay",
    status_code=200,
    needs="read",
    problems=["not_found", "model_mismatch", *PAST],
)
async def replay_receipt(
    request: Request, receipt_id: FromPath[str], then: ThenParameter = False
) -> Response[ReplayReply]:
    """Repeat a search or a context, and read what differs and why.

    Ages count from now, unless the request named a `reference_time`. With `then` the search sees the space as the first
    search saw it, but uses the current model. Memories that it finds do not count as retrieved.
    """
    engine = request.engine
    one = await _found(request, receipt_id)
    caller = request.caller
    seen = engine.seen_by(caller if one.category is None else replace(caller, category=one.category))
    now = engine.now()
    seen_at = AsOf(number=one.at.number, epoch=one.at.epoch) if then else None
    answer: Answer | Context
    if one.is_context:
        asked = _at(replace(_context(one.parameters).to_request(), no_touch=True), seen_at, one)
        answer = await request.backend.context(seen, one.space, asked)
    else:
        query = replace(_asked(one.parameters).to_query(), no_touch=True)
        if query.recency is None and query.mode != "recent":  # none was in effect then; the default may differ now
            query = replace(query, recency=Recency(weight=0.0))
        asked = _at(query, seen_at, one)
        answer = await request.backend.search(seen, one.space, asked)
    moved = await request.backend.store(engine.receipts.compared, one, answer, asked.reference_time or now)
    return Response(ReplayReply.of(moved, answer, from_us(now)), headers={SEQ: str(answer.seq)})


def _at(asked: Asked, seen_at: AsOf | None, one: Receipt) -> Asked:
    """Return a request as of the point that a receipt saw, unless it names a point itself."""
    if seen_at is None or asked.as_of is not None:
        return asked
    return replace(asked, as_of=seen_at, reference_time=to_us(one.reference_time))


async def _found(request: Request, receipt_id: str) -> Receipt:
    grant, caller, engines = request.access.grant, request.caller, request.backend.engines

    def sought() -> Receipt:
        for _, engine in engines.each():
            with suppress(NotFound):
                return engine.receipts.get(receipt_id, grant.reaches, caller, engine.now())
        raise NotFound("receipt", receipt_id[:80])

    found = await request.backend.store(sought)
    request.works_in(found.space)
    return found


_asked = msgspec.json.Decoder(SearchBody).decode
_context = msgspec.json.Decoder(ContextBody).decode
