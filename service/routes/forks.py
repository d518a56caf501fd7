"""Forks of a space: copied, compared, merged."""

from typing import Annotated

from litestar import Response
from litestar.params import JSONBody, QueryParameter

from muisti.service.auth.access import check
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import DRY, CursorParameter, LimitParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, planned, read, tried, written_headers
from muisti.service.http.routing import Routes
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.forks import ComparisonReply, ForkBody, MergeBody, MergedReply
from muisti.service.schemas.spaces import SpaceReply

routes = Routes("spaces")

OtherParameter = Annotated[str, QueryParameter(description="The space that would be merged.")]


@routes.post("/fork", needs="admin", problems=["already_exists", "quota_exceeded"], standard=DRY)
async def fork_space(request: Request, data: JSONBody[ForkBody]) -> Response[SpaceReply]:
    """Copy a space.

    Each current memory is copied with its vectors, as version 1 under a new id. Earlier versions, keys and quotas are
    not copied. The copy has the policy of the space, which is not applied again to copied memories; its own quota
    counts.
    """
    access = request.access
    if not access.grant.reaches(data.name):
        raise HttpError("forbidden", f"this key may only create the spaces {', '.join(access.grant.spaces)} only")
    made = await request.ask(request.memories.timeline.fork, data.name)
    headers = {SEQ: str(made.at), "Location": f"/v1/spaces/{made.name}"}
    return tried(
        request, Response(SpaceReply.of(request.backend.engine.spaces.ruled(made)), status_code=201, headers=headers)
    )


@routes.get("/compare", needs="read", problems=["conflict", "model_mismatch"])
async def compare_spaces(
    request: Request, other: OtherParameter, limit: LimitParameter = 50, cursor: CursorParameter = None
) -> Response[ComparisonReply]:
    """Preview a merge of another space into this one.

    The answer lists, memory by memory, what each side has changed since both were the same. The order is that of the
    ids in the other space.
    """
    check(request.access, "read", other)
    found = await request.ask(request.memories.timeline.compare, other, limit=limit, cursor=cursor)
    return followed(request, read(ComparisonReply.of(found), found.seq), found.next_cursor)


@routes.post(
    "/merge",
    status_code=200,
    needs="delete",
    screens=True,
    problems=["merge_conflict", "conflict", "quota_exceeded", "echo", "sensitive_content"],
    standard=DRY,
)
async def merge_spaces(request: Request, data: JSONBody[MergeBody]) -> Response[MergedReply]:
    """Take over the changes of another space since it was forked from this one, or last merged into it.

    A merge is atomic. Different changes of both sides to a memory are refused unless there is a `strategy`. Memories of
    a space that is no fork are added, without duplicates. A repeated merge takes over only what is new. Incoming text
    passes the policy of this space as if it were new. When the policy refuses some of it, nothing is merged, and
    `errors` names the memories by their ids in the other space.
    Needs the scopes `write` and `delete`, and `read` in the other space.
    """
    access = request.access
    check(access, "write")
    check(access, "admin" if data.drop else "read", data.source)
    seen = request.memories
    done = await request.backend.store(seen.timeline.merge, data.source, request.space, data.strategy, drop=data.drop)
    return planned(done.plan, Response(MergedReply.of(done), status_code=200, headers=written_headers(done)))
