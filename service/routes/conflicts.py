"""Reviews: conflicts that wait for a decision, and promotion and pruning of candidates."""

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.parameters import CursorParameter, DryRunParameter, LimitParameter
from muisti.service.http.respond import followed, planned, read, written_headers
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.conflicts import (
    ConflictsReply,
    DecidedReply,
    DecisionBody,
    PromoteBody,
    PruneBody,
    ReviewReply,
)


@get("/conflicts", operation_id="listConflicts", tags=["conflicts"], needs="read")
async def list_conflicts(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[ConflictsReply]:
    """List the conflicts that wait for a decision, newest first.

    They come from writes with `on_conflict` `review`. A conflict closes by itself when the text of either memory
    changes, or either memory is no longer current.
    """
    found = await backend.store(memories(request, backend).review.conflicts, space, limit=limit, cursor=cursor)
    return followed(request, read(ConflictsReply.of(found), found.seq), found.next_cursor)


@post(
    "/conflicts/{conflict_id:str}",
    status_code=200,
    operation_id="decideConflict",
    tags=["conflicts"],
    needs="write",
    problems=["address_taken", "quota_exceeded"],
)
async def decide_conflict(
    request: Request,
    space: FromPath[str],
    conflict_id: FromPath[str],
    data: JSONBody[DecisionBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[DecidedReply]:
    """Decide a conflict.

    With `keep` both memories stay. With `supersede` the new one supersedes the existing one, and takes over its
    address when it has none. With `reject` the new one is deleted, which needs the scope `delete` too.
    """
    decision = data.decision
    if decision == "reject":
        check(access_of(request.scope), "delete")
    seen = memories(request, backend, dry_run=dry_run)
    one, done = await backend.store(seen.review.decide, space, conflict_id, decision)
    answer = Response(DecidedReply.of(one, decision, done.seq), status_code=200, headers=written_headers(done))
    return planned(done.plan, answer)


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


ROUTES = (list_conflicts, decide_conflict, promote, prune)
