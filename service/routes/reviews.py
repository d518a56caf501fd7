"""Reviews: conflicts that wait for a decision, and promotion and pruning of candidates."""

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.service.auth.access import check
from muisti.service.http.parameters import DRY, CursorParameter, LimitParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, planned, read, written_headers
from muisti.service.http.routing import Routes
from muisti.service.schemas.reviews import (
    ConflictsReply,
    DecidedReply,
    DecisionBody,
    PromoteBody,
    PruneBody,
    ReviewReply,
)

routes = Routes("conflicts")


@routes.get("/conflicts", needs="read")
async def list_conflicts(
    request: Request, limit: LimitParameter = 50, cursor: CursorParameter = None
) -> Response[ConflictsReply]:
    """List the conflicts that wait for a decision, newest first.

    They come from writes with `on_conflict` `review`. A conflict closes by itself when the text of either memory
    changes, or either memory is no longer current.
    """
    found = await request.ask(request.memories.review.conflicts, limit=limit, cursor=cursor)
    return followed(request, read(ConflictsReply.of(found), found.seq), found.next_cursor)


@routes.post(
    "/conflicts/{conflict_id:str}",
    status_code=200,
    needs="write",
    problems=["address_taken", "quota_exceeded"],
    standard=DRY,
)
async def decide_conflict(
    request: Request, conflict_id: FromPath[str], data: JSONBody[DecisionBody]
) -> Response[DecidedReply]:
    """Decide a conflict.

    With `keep` both memories stay. With `supersede` the new one supersedes the existing one, and takes over its
    address when it has none. With `reject` the new one is deleted, which needs the scope `delete` too.
    """
    decision = data.decision
    if decision == "reject":
        check(request.access, "delete")
    seen = request.memories
    one, done = await request.ask(seen.review.decide, conflict_id, decision)
    reply = DecidedReply.of(one, decision=decision, seq=str(done.seq))
    return planned(done.plan, Response(reply, status_code=200, headers=written_headers(done)))


@routes.post("/promote", status_code=200, needs="write", standard=DRY, tag="memories")
async def promote(request: Request, data: JSONBody[PromoteBody]) -> Response[ReviewReply]:
    """Make candidates active that were retrieved often enough.

    One request takes up to 500, the oldest first; `more` says to call again.
    """
    seen = request.memories
    reviewed = await request.ask(seen.review.promote, **data.thresholds(request.app.state.settings))
    answer = Response(ReviewReply.of(reviewed), status_code=200, headers=written_headers(reviewed.written))
    return planned(reviewed.written.plan, answer)


@routes.post("/prune", status_code=200, needs="write", standard=DRY, tag="memories")
async def prune(request: Request, data: JSONBody[PruneBody]) -> Response[ReviewReply]:
    """Deprecate candidates that are old and were hardly retrieved.

    Guards and memories of high importance are never pruned, and nothing is deleted. One request takes up to 500, the
    oldest first; `more` says to call again.
    """
    seen = request.memories
    reviewed = await request.ask(seen.review.prune, **data.thresholds(request.app.state.settings))
    answer = Response(ReviewReply.of(reviewed), status_code=200, headers=written_headers(reviewed.written))
    return planned(reviewed.written.plan, answer)
