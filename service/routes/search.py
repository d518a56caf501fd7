"""Search."""

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from litestar.types import Scope
from msgspec import UNSET

from muisti.core.model.hits import Answer, Timings
from muisti.service.asgi.sending import PlainResponse
from muisti.service.auth.middleware import access_of, seen
from muisti.service.http.decode import Request
from muisti.service.http.headers import FRESHNESS, SEQ, freshness
from muisti.service.http.parameters import PAST
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.requests import RecencyBody, SearchBody
from muisti.service.schemas.search import SearchReply


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

    The filter applies before the ranking: the answer has up to `limit` hits, all of which pass the filter.
    """
    age = freshness(request.headers.get(FRESHNESS)).max_age
    return (await answered(request.scope, space, data, backend, age)).response()


async def answered(scope: Scope, space: str, data: SearchBody, backend: Backend, max_age: float = 0.0) -> PlainResponse:
    """Search, and keep a receipt when the request asks for one."""
    query = data.to_query()
    answer = await backend.search(seen(scope, backend), space, query, max_age)
    receipt = await _kept(scope, space, backend, data, answer, query.reference_time) if data.receipt else UNSET
    headers = {SEQ: str(answer.seq), "Server-Timing": server_timing(answer.timings)}
    return PlainResponse(SearchReply.of(answer, receipt), headers)


async def _kept(
    scope: Scope, space: str, backend: Backend, data: SearchBody, answer: Answer, reference_time: int | None
) -> str:
    """Store a receipt of this answer; return its id."""
    now = backend.engine.now()
    if data.recency is None and answer.recency is not None:  # a default, which may change later
        data = msgspec.structs.replace(data, recency=RecencyBody.of(answer.recency))
    asked, caller = msgspec.json.encode(data), access_of(scope).caller()
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
    """Return the stages of a search as the header Server-Timing, in milliseconds.

    >>> server_timing(Timings(embed=0.1, rank=1.234))
    'embed;dur=0.10, filter;dur=0.00, rank;dur=1.23, fetch;dur=0.00'
    """
    return (
        f"embed;dur={timings.embed:.2f}, filter;dur={timings.filter:.2f}, "
        f"rank;dur={timings.rank:.2f}, fetch;dur={timings.fetch:.2f}"
    )


ROUTES = (search,)
