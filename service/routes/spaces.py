"""Spaces: isolated stores."""

from litestar import Response, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.model.errors import InvalidInput
from muisti.core.model.spaces import check_name
from muisti.service.auth.administration import check_everywhere
from muisti.service.auth.middleware import access_of
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import ConfirmParameter, DryRunParameter
from muisti.service.http.respond import planned, read, tried
from muisti.service.routes.erasure import reported
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.erasure import ErasureReply
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.policy import PolicyBody, PolicyReply
from muisti.service.schemas.quotas import QuotaBody, QuotaReply
from muisti.service.schemas.spaces import SpaceBody, SpaceReply, SpacesReply


@get("/v1/spaces", operation_id="listSpaces", tags=["spaces"], needs="key")
async def list_spaces(request: Request, backend: NamedDependency[Backend]) -> SpacesReply:
    """List the spaces.

    The list has the spaces that the key may use, and their sizes by counters: it reads no memory.
    """
    access, registry = access_of(request.scope), backend.engine.spaces
    found = [space for space in await backend.store(registry.list) if access.grant.reaches(space.name)]
    return SpacesReply.of(found, await backend.store(registry.uses) if access.caller().sees_all else {})


@post("/v1/spaces", operation_id="createSpace", tags=["spaces"], needs="admin", problems=["already_exists"])
async def create_space(
    request: Request,
    data: JSONBody[SpaceBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[SpaceReply]:
    """Create a space.

    The grant of the key must include its name.
    """
    access = access_of(request.scope)
    check_name(data.name)
    if not access.grant.reaches(data.name):
        raise HttpError("forbidden", f"this key may only create the spaces {', '.join(access.grant.spaces)} only")
    settings = data.settings.settings(data.description)
    space = await backend.store(backend.engine.spaces.create, data.name, settings, by=access.actor, dry_run=dry_run)
    headers = {SEQ: str(space.at), "Location": f"/v1/spaces/{space.name}"}
    return tried(dry_run, Response(SpaceReply.of(space), status_code=201, headers=headers))


@get("/v1/spaces/{space:str}", operation_id="getSpace", tags=["spaces"], needs="read")
async def get_space(space: FromPath[str], backend: NamedDependency[Backend]) -> Response[SpaceReply]:
    """Read a space."""
    found = await backend.store(backend.engine.spaces.get, space)
    return read(SpaceReply.of(found), found.at)


@delete(
    "/v1/spaces/{space:str}",
    status_code=200,
    operation_id="deleteSpace",
    tags=["spaces"],
    needs="admin",
    problems=["conflict"],
)
async def delete_space(
    request: Request,
    space: FromPath[str],
    confirm: ConfirmParameter,
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[ErasureReply]:
    """Erase a space with all that is in it.

    The answer is a signed report of the places that were searched. The default space always exists and can only be
    emptied: `POST …/purge` with `everything`.
    """
    if confirm != space:
        raise InvalidInput.at("$.confirm", f"is {confirm[:80]!r}; to erase the space send confirm={space}")
    eraser, caller = backend.engine.eraser, access_of(request.scope).caller()
    if dry_run:
        return planned(await backend.store(eraser.plan_space, space, keep=False), Response(ErasureReply()))
    return await reported(request, backend, lambda: eraser.space(space, caller, keep=False))


@patch("/v1/spaces/{space:str}/quota", operation_id="setQuota", tags=["spaces"], needs="admin")
async def set_quota(
    request: Request,
    space: FromPath[str],
    data: JSONBody[QuotaBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[QuotaReply]:
    """Set how much a space may hold.

    Memories that it holds already stay. Needs a key of all spaces. The quota belongs to the name of the space, and
    remains when the space is deleted.
    """
    access = access_of(request.scope)
    check_everywhere(access, "quotas are given")
    usage, seq = await backend.store(
        backend.engine.spaces.set_quota, space, data.changes(), by=access.actor, dry_run=dry_run
    )
    return tried(dry_run, read(QuotaReply.of(usage), seq))


@patch("/v1/spaces/{space:str}/policy", operation_id="setPolicy", tags=["spaces"], needs="admin")
async def set_policy(
    request: Request,
    space: FromPath[str],
    data: JSONBody[PolicyBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[PolicyReply]:
    """Set what a space does with secrets, personal data and echoes, and how long it keeps versions and memories.

    The first three apply to later writes. What is too old already is deleted by the next sweep: history within the
    hour, memories within the day. `POST …/purge?dry_run=true` with `older_than_days` shows which.
    """
    actor = access_of(request.scope).actor
    found = await backend.store(backend.engine.spaces.set_policy, space, data.changes(), by=actor, dry_run=dry_run)
    return tried(dry_run, read(PolicyReply.of(found.policy), found.at))


ROUTES = (list_spaces, create_space, get_space, delete_space, set_quota, set_policy)
