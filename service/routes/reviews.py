"""Reviews: conflicts that wait for a decision, and promotion and pruning of candidates."""

from datetime import datetime
from typing import Annotated, Any, get_args

from litestar import Response
from litestar.params import FromPath, JSONBody
from msgspec import UNSET, Struct, UnsetType

from muisti.core.model.choices import Decision
from muisti.core.model.outcomes import ReviewKind
from muisti.service.auth.access import check
from muisti.service.http.parameters import DRY, CursorParameter, LimitParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, planned, read, written_headers
from muisti.service.http.routing import Routes
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc
from muisti.service.schemas.likeness import DifferenceReply
from muisti.service.schemas.replies import MemoryReply
from muisti.service.settings import Settings

ConflictId = Annotated[str, doc("Number of the conflict.", examples=["12"])]
DecisionName = Annotated[
    Decision,
    doc(
        "`keep` both, let the new one `supersede` the existing one, or `reject` the new one: delete it.",
        type="string",
        enum=list(get_args(Decision)),
    ),
]


class DecisionBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Decision on the two memories of a conflict."""

    decision: DecisionName


class ConflictReply(Reply, frozen=True, kw_only=True):
    """Two current memories: `new` was stored although it says what `existing` says, or the contrary."""

    id: ConflictId
    kind: Annotated[
        ReviewKind,
        doc(
            "`duplicate` says the same, `conflict` the contrary or another value, `possible_conflict` "
            "perhaps the contrary."
        ),
    ]
    similarity: Annotated[float | None, doc("Cosine of both texts when they were compared.")]
    differs: Annotated[list[DifferenceReply], doc("Their differences.")]
    opened_at: datetime
    actor: Annotated[str, doc("Caller that stored the new one, as in the audit log.")]
    existing: MemoryReply
    new: MemoryReply


class ConflictsReply(Reply, frozen=True, kw_only=True):
    """A page of open conflicts, newest first."""

    items: list[ConflictReply]
    next_cursor: str | None


class DecidedReply(Reply, frozen=True, kw_only=True):
    """The decision, and the ids of both memories."""

    named = {"existing_id": "existing.id", "new_id": "new.id"}

    id: ConflictId
    decision: DecisionName
    existing_id: fields.MemoryId
    new_id: fields.MemoryId
    seq: fields.SeqText


Counts = Annotated[dict[str, int], doc("Memories by status.")]


class PromoteBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Least number of retrievals of a candidate; the default is that of the settings."""

    retrievals: Annotated[int, doc("MUISTI_PROMOTE_RETRIEVALS", ge=0)] | UnsetType = UNSET

    def thresholds(self, settings: Settings) -> dict[str, Any]:
        usual = settings.promote_retrievals
        return {"retrievals": usual if self.retrievals is UNSET else self.retrievals}


class PruneBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits below which candidates are deprecated: older and retrieved less often. The settings have the defaults."""

    retrievals: Annotated[int, doc("MUISTI_PRUNE_RETRIEVALS", ge=0)] | UnsetType = UNSET
    days: Annotated[float, doc("MUISTI_PRUNE_DAYS", ge=0)] | UnsetType = UNSET

    def thresholds(self, settings: Settings) -> dict[str, Any]:
        return {
            "retrievals": settings.prune_retrievals if self.retrievals is UNSET else self.retrievals,
            "days": settings.prune_days if self.days is UNSET else self.days,
        }


class ReviewReply(Reply, frozen=True, kw_only=True):
    """The memories whose status changed, and how many memories there are of each before and after."""

    within = ("written",)
    named = {"items": "written.memories"}

    items: list[MemoryReply]
    before: Counts
    after: Counts
    more: Annotated[bool, doc("There may be more: call again.")]
    seq: fields.SeqText


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
