"""Search, and contexts: texts for prompts, within a number of tokens."""

from collections.abc import Sequence

from litestar import Response
from litestar.params import JSONBody
from msgspec import UNSET

from muisti.core.conversations.context.counting import counter
from muisti.core.conversations.model import BUDGET_MAX
from muisti.core.model.errors import InvalidInput
from muisti.core.query.query import Part
from muisti.core.text.discourse.summarise import compress
from muisti.service.asgi.header_names import FRESHNESS, SEQ
from muisti.service.asgi.messages import PlainResponse
from muisti.service.auth.access import check
from muisti.service.auth.middleware import caller_of
from muisti.service.conversations.topic_schemas import OptimizeBody, OptimizedReply
from muisti.service.http import plain
from muisti.service.http.parameters import PAST, freshness
from muisti.service.http.request import Request, reached
from muisti.service.http.respond import whole
from muisti.service.http.routing import Routes
from muisti.service.observability.read_log import asked_now
from muisti.service.schemas.context import ContextBody, ContextReply, HandoffBody
from muisti.service.schemas.search import JointReply, SearchReply
from muisti.service.schemas.search_requests import JointSearchBody, PartBody, SearchBody

routes = Routes("search")
everywhere = Routes("search", "")


@routes.post("/search", status_code=200, needs="read", problems=["model_mismatch", *PAST])
async def search(request: Request, data: JSONBody[SearchBody]) -> Response[SearchReply]:
    """Find the memories that best answer a query.

    The filter applies before the ranking: the answer has up to `limit` hits, all of which pass the filter.
    """
    age = freshness(request.headers.get(FRESHNESS)).max_age
    return whole(await plain.search(request.scope, request.space, data, request.backend, age))


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
    with plain.reading(request.scope, backend, "search") as noted:
        answer = await backend.search_spaces(caller_of(request.scope), chosen, query, age)
        for one in answer.spaces:
            hits = sum(hit.memory.space == one.name for hit in answer.hits)
            noted.found(one.name, one.seq, hits, one.evidence, asked_now(query))
    timing = plain.server_timing(answer.timings)
    if answer.slowest is not None:
        space, ms = answer.slowest
        timing += f', slowest;desc="{backend.engines.home(space)}";dur={ms:.2f}'
    return whole(PlainResponse(JointReply.of(answer), {"Server-Timing": timing}))


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
    with plain.reading(scope, backend, "context") as noted:
        context = await backend.context(request.memories, space, asked)
        question = data.query if data.as_of is None else None
        noted.found(space, context.seq, len(context.citations), context.evidence, question)
        receipt = (
            await plain.kept(scope, space, backend, data, context, asked.reference_time) if data.receipt else UNSET
        )
        noted.receipt = receipt or None
    return whole(PlainResponse(ContextReply.of(context, receipt), {SEQ: str(context.seq)}))


@routes.post("/handoff", status_code=200, needs="read", problems=["model_mismatch", "not_yet_replicated"])
async def get_handoff(request: Request, data: JSONBody[HandoffBody]) -> Response[ContextReply]:
    """Make the text that hands work over to the next agent, within a number of tokens.

    It has what was decided, tried, failed and rejected, each with its reason, open ends, and the last turns of the last
    conversation. Lines name the code that they are about, and say when it has changed since. The text marks all as
    data; `citations` have the ids.
    """
    with plain.reading(request.scope, request.backend, "context") as noted:
        context = await request.ask(request.memories.context.handoff, data.about, data.token_budget, data.encoding)
        noted.found(request.space, context.seq, len(context.citations), context.evidence, data.about or None)
    return whole(PlainResponse(ContextReply.of(context), {SEQ: str(context.seq)}))


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
