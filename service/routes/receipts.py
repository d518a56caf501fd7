"""Receipts: stored searches with their answers, which can be read and repeated."""

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.hits import Recency
from muisti.core.model.receipts import Receipt
from muisti.core.model.times import from_us, to_us
from muisti.core.query.points import AsOf
from muisti.service.auth.middleware import access_of
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import PAST, ThenParameter
from muisti.service.http.respond import read
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.receipts import ReceiptReply, ReplayReply
from muisti.service.schemas.requests import SearchBody


@get(
    "/v1/receipts/{receipt_id:str}",
    operation_id="getReceipt",
    tags=["search"],
    needs="read",
    problems=["not_found"],
)
async def get_receipt(
    request: Request, receipt_id: FromPath[str], backend: NamedDependency[Backend]
) -> Response[ReceiptReply]:
    """Read the request and the answer of a search."""
    one = await _found(request, receipt_id, backend)
    return read(ReceiptReply.of(one), one.at)


@post(
    "/v1/receipts/{receipt_id:str}/replay",
    status_code=200,
    operation_id="replayReceipt",
    tags=["search"],
    needs="read",
    problems=["not_found", "model_mismatch", *PAST],
)
async def replay_receipt(
    request: Request, receipt_id: FromPath[str], backend: NamedDependency[Backend], then: ThenParameter = False
) -> Response[ReplayReply]:
    """Repeat a search, and read what differs and why.

    Ages count from now, unless the request named a `reference_time`. With `then` the search sees the space as the first
    search saw it, but uses the current model. Memories that it finds do not count as retrieved.
    """
    engine = backend.engine
    one = await _found(request, receipt_id, backend)
    query = replace(_asked(one.parameters).to_query(), no_touch=True)
    if query.recency is None and query.mode != "recent":  # none was in effect then; the default may differ now
        query = replace(query, recency=Recency(weight=0.0))
    if then and query.as_of is None:
        seen_at = AsOf(number=one.at.number, epoch=one.at.epoch)
        query = replace(query, as_of=seen_at, reference_time=to_us(one.reference_time))
    caller = _caller(request)
    seen = engine.seen_by(caller if one.category is None else replace(caller, category=one.category))
    now = engine.now()
    answer = await backend.search(seen, one.space, query)
    moved = await backend.store(engine.receipts.compared, one, answer, query.reference_time or now)
    return Response(ReplayReply.of(moved, answer, from_us(now)), headers={SEQ: str(answer.seq)})


async def _found(request: Request, receipt_id: str, backend: Backend) -> Receipt:
    engine, grant = backend.engine, access_of(request.scope).grant
    return await backend.store(engine.receipts.get, receipt_id, grant.reaches, _caller(request), engine.now())


def _caller(request: Request) -> Caller:
    return access_of(request.scope).caller()


_asked = msgspec.json.Decoder(SearchBody).decode

ROUTES = (get_receipt, replay_receipt)
