"""Search, and contexts: texts for prompts, within a number of tokens."""

from collections.abc import Sequence

import msgspec
from litestar import Response
from litestar.params import JSONBody
from litestar.types import Scope
from msgspec import UNSET

from muisti.core.conversations.context.counting import counter
from muisti.core.conversations.model import BUDGET_MAX
from muisti.core.model.context import Context
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Answer, Timings
from muisti.core.query.query import Part
from muisti.core.text.discourse.summarise import compress
from muisti.service.asgi.messages import PlainResponse
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, caller_of, seen
from muisti.service.conversations.topic_schemas import OptimizeBody, OptimizedReply
from muisti.service.http.parameters import FRESHNESS, PAST, SEQ, freshness
from muisti.service.http.request import Request, reached, reading
from muisti.service.http.routing import Routes
from muisti.service.observability.read_log import asked_now
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.context import ContextBody, ContextReply, HandoffBody
from muisti.service.schemas.search import JointReply, SearchReply
from muisti.service.schemas.search_requests import JointSearchBody, PartBody, RecencyBody, SearchBody

routes = Routes("search")
everywhere = Routes("search", "")


@routes.post("/search", status_code=200, needs="read", problems=["model_mismatch", *PAST])
async def search(request: Request, data: JSONBody[SearchBody]) -> Response[SearchReply]:
    """Find the memories that best answer a query.

    The filter applies before the ranking: the answer has up to `limit` hits, all of which pass the filter.
    """
    age = freshness(request.headers.get(FRESHNESS)).max_age
    return (await answered(request.scope, request.space, data, request.backend, age)).response()


@everywhere.post(
    "/v1/search", status_code=200, needs="read", problems=["not_found", "model_mismatch", "not_yet_replicated", *PAST]
)
async def search_spaces(request: Request, data: JSONBody[JointSearchBody]) -> Response[JointReply]:
    """Find the memories of several spaces that best answer a query.

    The key must open each of them, inherited ones too. The score of a memory is that in its own space, times the weight
    of the space. An error of one space is an error of all. `spaces` of the answer tells the point in the history of
    each.
    """
    data.check()
    backend, query = request.backend, data.to_query()
    parents: tuple[str, ...] = ()
    if data.inherit_from is not None:
        check(request.access, "read", data.inherit_from)
        home = backend.engines.of(data.inherit_from)
        parents = (await backend.store(home.spaces.get, data.inherit_from)).policy.inherits or ()
    parts = data.parts(parents)
    await opened(request, parts)
    chosen = [Part(part.name, part.weight) for part in parts]
    age = freshness(request.headers.get(FRESHNESS)).max_age
    with reading(request.scope, backend, "search") as noted:
        answer = await backend.search_spaces(caller_of(request.scope), chosen, query, age)
        for one in answer.spaces:
            hits = sum(hit.memory.space == one.name for hit in answer.hits)
            noted.found(one.name, one.seq, hits, one.evidence, asked_now(query))
    timing = server_timing(answer.timings)
    if answer.slowest is not None:
        space, ms = answer.slowest
        timing += f', slowest;desc="{backend.engines.home(space)}";dur={ms:.2f}'
    return PlainResponse(JointReply.of(answer), {"Server-Timing": timing}).response()


async def opened(request: Request, parts: Sequence[PartBody]) -> None:
    """Check that the key may read each space, and wait for the point that is named of each.

    Raises:
        NotFound: the key does not open one of them, or there is none of that name.
        Forbidden: the key may not read.
        NotYetReplicated, EpochGone: as `reached`.
    """
    for part in parts:
        check(request.access, "read", part.name)
    strong = freshness(request.headers.get(FRESHNESS)).strong
    for part in parts:
        await reached(request.backend, part.name, strong=strong, at_least=part.min_seq)


async def answered(scope: Scope, space: str, data: SearchBody, backend: Backend, max_age: float = 0.0) -> PlainResponse:
    """Search, and keep a receipt when the request asks for one."""
    query = data.to_query()
    with reading(scope, backend, "search") as noted:
        answer = await backend.search(seen(scope, backend), space, query, max_age)
        noted.found(space, answer.seq, len(answer.hits), answer.evidence, asked_now(query))
        if data.receipt and data.recency is None and answer.recency is not None:  # a default, which may change later
            data = msgspec.structs.replace(data, recency=RecencyBody.of(answer.recency))
        receipt = await _kept(scope, space, backend, data, answer, query.reference_time) if data.receipt else UNSET
        noted.receipt = receipt or None
    headers = {SEQ: str(answer.seq), "Server-Timing": server_timing(answer.timings)}
    return PlainResponse(SearchReply.of(answer, receipt), headers)


async def _kept(
    scope: Scope,
    space: str,
    backend: Backend,
    data: SearchBody | ContextBody,
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


# Contexts: texts for prompts, within a number of tokens, and compression of a given text


@routes.post("/context", status_code=200, needs="read", problems=["model_mismatch", "not_yet_replicated", *PAST])
async def get_context(request: Request, data: JSONBody[ContextBody]) -> Response[ContextReply]:
    """Make a text for a prompt from what is remembered, within a number of tokens.

    The best memory is always there. Long memories are shown in pieces, short ones whole, in order of time. The text
    marks them as data; `citations` say where each is. `spaces` names further spaces to search, with weights; the key
    must open each of them.
    """
    scope, space, backend, asked = request.scope, request.space, request.backend, data.to_request()
    await opened(request, data.spaces)
    with reading(scope, backend, "context") as noted:
        context = await backend.context(request.memories, space, asked)
        question = data.query if data.as_of is None else None
        noted.found(space, context.seq, len(context.citations), context.evidence, question)
        receipt = await _kept(scope, space, backend, data, context, asked.reference_time) if data.receipt else UNSET
        noted.receipt = receipt or None
    return PlainResponse(ContextReply.of(context, receipt), {SEQ: str(context.seq)}).response()


@routes.post("/handoff", status_code=200, needs="read", problems=["model_mismatch", "not_yet_replicated"])
async def get_handoff(request: Request, data: JSONBody[HandoffBody]) -> Response[ContextReply]:
    """Make the text that hands work over to the next agent, within a number of tokens.

    It has what was decided, tried, failed and rejected, each with its reason, open ends, and the last turns of the last
    conversation. Lines name the code that they are about, and say when it has changed since. The text marks all as
    data; `citations` have the ids.
    """
    with reading(request.scope, request.backend, "context") as noted:
        context = await request.ask(request.memories.context.handoff, data.about, data.token_budget, data.encoding)
        noted.found(request.space, context.seq, len(context.citations), context.evidence, data.about or None)
    return PlainResponse(ContextReply.of(context), {SEQ: str(context.seq)}).response()


@routes.post("/context/optimize", status_code=200, needs="read", tag="conversations")
async def optimize_text(request: Request, data: JSONBody[OptimizeBody]) -> Response[OptimizedReply]:
    """Compress a text to a number of tokens, by leaving out sentences and blocks of code. Nothing is stored.

    A text that fits comes back as it is.
    """
    if not 1 <= data.token_budget <= BUDGET_MAX:
        raise InvalidInput.at("$.token_budget", f"{data.token_budget:,} is not between 1 and {BUDGET_MAX:,}")
    return Response(await request.backend.store(_optimized, data), status_code=200)


def _optimized(data: OptimizeBody) -> OptimizedReply:
    found = compress(data.text, data.token_budget, counter(data.encoding).count, data.query)
    return OptimizedReply(
        text=found.text,
        tokens=found.tokens,
        token_budget=data.token_budget,
        encoding=data.encoding,
        tokens_before=found.before,
    )
