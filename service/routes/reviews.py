"""Reviews of candidates: promotion and pruning."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.service.auth.middleware import memories
from muisti.service.http.decode import Request
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import planned, written_headers
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.reviews import PromoteBody, PruneBody, ReviewReply


@post("/promote", status_code=200, operation_id="promote", tags=["memories"], needs="write")
async def promote(
    request: Request,
    space: FromPath[str],
    data: JSONBody[PromoteBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[ReviewReply]:
    """Make candidates active that were retrieved often enough.

    One request takes up to 500, the oldest first; `more` says to call again.
    """
    seen = memories(request, backend, dry_run=dry_run)
    reviewed = await backend.store(seen.review.promote, space, **data.thresholds(request.app.state.settings))
    answer = Response(ReviewReply.of(reviewed), status_code=200, headers=written_headers(reviewed.written))
    return planned(reviewed.written.plan, answer)


@post("/prune", status_code=200, operation_id="prune", tags=["memories"], needs="write")
async def prune(
    request: Request,
    space: FromPath[str],
    data: JSONBody[PruneBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[ReviewReply]:
    """Deprecate candidates that are old and were hardly retrieved.

    Guards and memories of high importance are never pruned, and nothing is deleted. One request takes up to 500, the
    oldest first; `more` says to call again.
    """
    seen = memories(request, backend, dry_run=dry_run)
    reviewed = await backend.store(seen.review.prune, space, **data.thresholds(request.app.state.settings))
    answer = Response(ReviewReply.of(reviewed), status_code=200, headers=written_headers(reviewed.written))
    return planned(reviewed.written.plan, answer)


ROUTES = (promote, prune)
