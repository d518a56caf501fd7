"""Contexts: texts for prompts, within a number of tokens, and compression of a given text."""

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from msgspec import UNSET

from muisti.core.conversations.context.counting import counter
from muisti.core.model.context import Context
from muisti.core.model.errors import InvalidInput
from muisti.core.model.working import BUDGET_MAX
from muisti.core.text.discourse.summarise import compress
from muisti.service.asgi.sending import PlainResponse
from muisti.service.auth.middleware import access_of, seen
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import PAST
from muisti.service.http.reading import reading
from muisti.service.routes.search import opened
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.context import ContextBody, ContextReply
from muisti.service.schemas.discourse import OptimizeBody, OptimizedReply


@post(
    "/context",
    status_code=200,
    operation_id="getContext",
    tags=["search"],
    needs="read",
    problems=["model_mismatch", "not_yet_replicated", *PAST],
)
async def get_context(
    request: Request,
    space: FromPath[str],
    data: JSONBody[ContextBody],
    backend: NamedDependency[Backend],
) -> Response[ContextReply]:
    """Make a text for a prompt from what is remembered, within a number of tokens.

    The best memory is always there. Long memories are shown in pieces, short ones whole, in order of time. The text
    marks them as data; `citations` say where each is. `spaces` names further spaces to search, with weights; the key
    must open each of them.
    """
    asked = data.to_request()
    await opened(request, backend, data.spaces)
    with reading(request.scope, backend, "context") as noted:
        context = await backend.context(seen(request.scope, backend), space, asked)
        question = data.query if data.as_of is None else None
        noted.found(space, context.seq, len(context.citations), context.evidence, question)
        receipt = await _kept(request, space, backend, data, context) if data.receipt else UNSET
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
        access_of(request.scope).caller(),
        now,
    )


@post("/context/optimize", status_code=200, operation_id="optimizeText", tags=["conversations"], needs="read")
async def optimize_text(
    request: Request, space: FromPath[str], data: JSONBody[OptimizeBody], backend: NamedDependency[Backend]
) -> Response[OptimizedReply]:
    """Compress a text to a number of tokens, by leaving out sentences and blocks of code. Nothing is stored.

    A text that fits comes back as it is.
    """
    if not 1 <= data.token_budget <= BUDGET_MAX:
        raise InvalidInput.at("$.token_budget", f"{data.token_budget:,} is not between 1 and {BUDGET_MAX:,}")
    return Response(await backend.store(_optimized, data), status_code=200)


def _optimized(data: OptimizeBody) -> OptimizedReply:
    found = compress(data.text, data.token_budget, counter(data.encoding).count, data.query)
    return OptimizedReply(
        text=found.text,
        tokens=found.tokens,
        token_budget=data.token_budget,
        encoding=data.encoding,
        tokens_before=found.before,
    )


ROUTES = (get_context, optimize_text)
