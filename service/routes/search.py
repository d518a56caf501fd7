"""Search."""

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from msgspec import UNSET

from core.hits import Answer, Timings
from service.decode import Request
from service.gate import access_of, memories
from service.headers import FRESHNESS, SEQ, freshness
from service.parameters import PAST
from service.schemas.replies import SearchReply
from service.schemas.requests import SearchBody
from service.workers import Backend


@post(
    "/search", status_code=200, operation_id="search", tags=["search"], needs="read", problems=["model_mismatch", *PAST]
)
async def search(
    request: Request,
    space: FromPath[str],
    data: JSONBody[SearchBody],
    backend: NamedDependency[Backend],
) -> Response[SearchReply]:
    """Find the memories that best answer a query.

    The filter acts before the ranking: up to `limit` hits, all of which pass it.
    """
    age = freshness(request.headers.get(FRESHNESS)).max_age
    query = data.to_query()
    answer = await backend.search(memories(request, backend), space, query, age)
    receipt = await _kept(request, space, backend, data, answer, query.reference_time) if data.receipt else UNSET
    headers = {SEQ: str(answer.seq), "Server-Timing": server_timing(answer.timings)}
    return Response(SearchReply.of(answer, receipt), headers=headers)


async def _kept(
    request: Request, space: str, backend: Backend, data: SearchBody, answer: Answer, reference_time: int | None
) -> str:
    """The id of a receipt of this answer."""
    now = backend.engine.now()
    asked, caller = msgspec.json.encode(data), access_of(request.scope).caller()
    return await backend.store(
        backend.engine.receipts.keep,
        space,
        asked,
        answer,
        now if reference_time is None else reference_time,
        caller,
        now,
    )


def server_timing(timings: Timings) -> str:
    """The stages as a header, in milliseconds.

    >>> server_timing(Timings(embed=0.1, rank=1.234))
    'embed;dur=0.10, filter;dur=0.00, rank;dur=1.23, fetch;dur=0.00'
    """
    stages = {name: getattr(timings, name) for name in ("embed", "filter", "rank", "fetch")}
    return ", ".join(f"{name};dur={milliseconds:.2f}" for name, milliseconds in stages.items())


ROUTES = (search,)
