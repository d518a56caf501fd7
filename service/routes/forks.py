"""Forks of a space: copied, compared, merged."""

from typing import Annotated

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import CursorParameter, DryRunParameter, LimitParameter
from muisti.service.http.respond import followed, planned, read, tried, written_headers
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.forks import ComparisonReply, ForkBody, MergeBody, MergedReply
from muisti.service.schemas.spaces import SpaceReply

OtherParameter = Annotated[str, QueryParameter(description="The space that would be merged.")]


@post("/fork", operation_id="forkSpace", tags=["spaces"], needs="admin", problems=["already_exists", "quota_exceeded"])
async def fork_space(
    request: Request,
    space: FromPath[str],
    data: JSONBody[ForkBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[SpaceReply]:
    """Copy a space.

    Each current memory is copied with its vectors, as version 1 under a new id. Earlier versions, keys and quotas are
    not copied. The copy has the policy of the space, which is not applied again to copied memories; its own quota
    counts.
    """
    access = access_of(request.scope)
    if not access.grant.reaches(data.name):
        raise HttpError("forbidden", f"this key may only create the spaces {', '.join(access.grant.spaces)} only")
    made = await backend.store(memories(request, backend, dry_run=dry_run).timeline.fork, space, data.name)
    headers = {SEQ: str(made.at), "Location": f"/v1/spaces/{made.name}"}
    return tried(dry_run, Response(SpaceReply.of(backend.engine.spaces.ruled(made)), status_code=201, headers=headers))


@get("/compare", operation_id="compareSpaces", tags=["spaces"], needs="read", problems=["conflict", "model_mismatch"])
async def compare_spaces(
    request: Request,
    space: FromPath[str],
    other: OtherParameter,
    backend: NamedDependency[Backend],
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[ComparisonReply]:
    """Preview a merge of another space into this one.

    The answer lists, memory by memory, what each side has changed since both were the same. The order is that of the
    ids in the other space.
    """
    check(access_of(request.scope), "read", other)
    found = await backend.store(memories(request, backend).timeline.compare, space, other, limit=limit, cursor=cursor)
    return followed(request, read(ComparisonReply.of(found), found.seq), found.next_cursor)


@post(
    "/merge",
    status_code=200,
    operation_id="mergeSpaces",
    tags=["spaces"],
    needs="delete",
    screens=True,
    problems=["merge_conflict", "conflict", "quota_exceeded", "echo", "sensitive_content"],
)
async def merge_spaces(
    request: Request,
    space: FromPath[str],
    data: JSONBody[MergeBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[MergedReply]:
    """Take over the changes of another space since it was forked from this one, or last merged into it.

    A merge is atomic. Different changes of both sides to a memory are refused unless there is a `strategy`. Memories of
    a space that is no fork are added, without duplicates. A repeated merge takes over only what is new. Incoming text
    passes the policy of this space as if it were new. When the policy refuses some of it, nothing is merged, and
    `errors` names the memories by their ids in the other space.
    Needs the scopes `write` and `delete`, and `read` in the other space.
    """
    access = access_of(request.scope)
    check(access, "write")
    check(access, "admin" if data.drop else "read", data.source)
    seen = memories(request, backend, dry_run=dry_run)
    done = await backend.store(seen.timeline.merge, data.source, space, data.strategy, drop=data.drop)
    return planned(done.plan, Response(MergedReply.of(done), status_code=200, headers=written_headers(done)))


ROUTES = (fork_space, compare_spaces, merge_spaces)
