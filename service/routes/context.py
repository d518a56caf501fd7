"""Contexts: texts for prompts, within a number of tokens, and compression of a given text."""

import msgspec
from litestar import Response
from litestar.params import JSONBody
from msgspec import UNSET

from muisti.core.context.counting import counter
from muisti.core.discourse.summarise import compress
from muisti.core.model.context import Context
from muisti.core.model.errors import InvalidInput
from muisti.core.model.working import BUDGET_MAX
from muisti.service.asgi.sending import PlainResponse
from muisti.service.auth.middleware import seen
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import PAST
from muisti.service.http.request import Request, reading
from muisti.service.http.routing import Routes
from muisti.service.routes.search import opened
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.context import ContextBody, ContextReply
from muisti.service.schemas.discourse import OptimizeBody, OptimizedReply

routes = Routes("search")


@routes.post("/context", status_code=200, needs="read", problems=["model_mismatch", "not_yet_replicated", *PAST])
async def get_context(request: Request, data: JSONBody[ContextBody]) -> Response[ContextReply]:
    """Make a text for a prompt from what is remembered, within a number of tokens.

    The best memory is always there. Long memories are shown in pieces, short ones whole, in order of time. The text
    marks them as data; `citations` say where each is. `spaces` names further spaces to search, with weights; the key
    must open each of them.
    """
    asked = data.to_request()
    await opened(request, request.backend, data.spaces)
    with reading(request.scope, request.backend, "context") as noted:
        context = await request.backend.context(seen(request.scope, request.backend), request.space, asked)
        question = data.query if data.as_of is None else None
        noted.found(request.space, context.seq, len(context.citations), context.evidence, question)
        receipt = await _kept(request, request.space, request.backend, data, context) if data.receipt else UNSET
        noted.receipt = receipt or None
    return PlainResponse(ContextReply.of(context, receipt), {SEQ: str(context.seq)}).response()


async def _kept(request: Request, space: str, backend: Backend, data: ContextBody, context: Context) -> str:
    """Store a receipt of this context; return its id."""
    asked = data.to_request()
    now = backend.engine.now()
    return await backend.store(
        backend.engine.receipts.keep,
        space,
        msgspec.json.encode(data),
        context,
        now if asked.reference_time is None else asked.reference_time,
        request.caller,
        now,
    )


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
