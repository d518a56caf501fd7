"""Lint: defects of the memories of a space."""

from typing import Annotated

from litestar import Response
from litestar.params import QueryParameter

from muisti.core.model.quality import AT_ONCE, AT_ONCE_MAX, Limits
from muisti.service.http.parameters import CursorParameter, between, query
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, read
from muisti.service.http.routing import Routes
from muisti.service.schemas.lint import LintReply, checks_of

routes = Routes("spaces")

ChecksParameter = Annotated[str | None, query("Checks to run, with commas; all, unless it is given.")]
MemoriesParameter = Annotated[int, between("Memories to check.", 1, AT_ONCE_MAX)]
TokensParameter = Annotated[int, QueryParameter(description="Larger memories are oversized.", ge=1, le=1_000_000)]
DaysParameter = Annotated[float, QueryParameter(description="Days without a retrieval.", ge=0, le=36_500)]
USUAL = Limits()


@routes.get("/lint", needs="read")
async def lint_space(
    request: Request,
    checks: ChecksParameter = None,
    oversized_tokens: TokensParameter = USUAL.tokens,
    never_recalled_days: DaysParameter = USUAL.never_recalled_days,
    stale_days: DaysParameter = USUAL.stale_days,
    limit: MemoriesParameter = AT_ONCE,
    cursor: CursorParameter = None,
) -> Response[LintReply]:
    """Report what is wrong with the memories of a space, and how to fix it.

    Lint finds duplicates, contradictions, secrets, broken references, and memories that are too large, never retrieved
    or no longer retrieved. A page checks `limit` memories, the oldest first, and may find nothing. `checked`, `found`
    and `score` are of all pages up to it. Nothing changes: each `fix` is a request, as a dry run.
    """
    limits = Limits(oversized_tokens, never_recalled_days, stale_days)
    ask = request.memories.review.lint
    report = await request.ask(ask, checks=checks_of(checks), limits=limits, limit=limit, cursor=cursor)
    return followed(request, read(LintReply.of_space(report, request.space), report.seq), report.next_cursor)
