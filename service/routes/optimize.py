"""Compression of a given text to a number of tokens."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.context.counting import counter
from muisti.core.discourse.summarise import compress
from muisti.core.model.errors import InvalidInput
from muisti.core.model.working import BUDGET_MAX
from muisti.service.http.decode import Request
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.discourse import OptimizeBody, OptimizedReply


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


ROUTES = (optimize_text,)
