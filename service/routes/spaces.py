"""Spaces: isolated stores with a quota and a policy, and counts of what they hold."""

from litestar import Response
from litestar.params import JSONBody

from muisti.core.model.errors import InvalidInput
from muisti.core.model.spaces import check_name
from muisti.core.query.points import parse
from muisti.service.asgi.header_names import SEQ
from muisti.service.erasure.routes import reported
from muisti.service.erasure.schemas import ErasureReply
from muisti.service.http.parameters import DRY, PAST, AsOfParameter, ConfirmParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import planned, read, tried
from muisti.service.http.routing import Routes
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.policy import PolicyBody, PolicyReply, SpaceBody, SpaceReply, SpacesReply
from muisti.service.schemas.replies import CountsReply, StatsReply, WarmedReply

routes = Routes("spaces", "")


@routes.get("/v1/spaces", needs="key")
async def list_spaces(request: Request) -> SpacesReply:
    """List the spaces.

    The list has the spaces that the key may use, and their sizes by counters: it reads no memory.
    """
    access = request.access
    every = await request.backend.store(request.backend.engines.spaces)
    found = [(space, use) for space, use in every if access.grant.reaches(space.name)]
    uses = {space.epoch: use for space, use in found if use is not None} if access.caller().sees_all else {}
    return SpacesReply.of([space for space, _ in found], uses)


@routes.post("/v1/spaces", needs="admin", problems=["already_exists"], standard=DRY)
async def create_space(request: Request, data: JSONBody[SpaceBody]) -> Response[SpaceReply]:
    """Create a space.

    The grant of the key must include its name.
    """
    access = request.access
    check_name(data.name)
    if not access.grant.reaches(data.name):
        raise HttpError("forbidden", f"this key may only create the spaces {', '.join(access.grant.spaces)} only")
    settings = data.settings.settings(data.description)
    request.works_in(data.name)
    space = await request.backend.store(
        request.engine.spaces.create, data.name, settings, by=access.actor, dry_run=request.dry_run
    )
    headers = {SEQ: str(space.at), "Location": f"/v1/spaces/{space.name}"}
    return tried(request, Response(SpaceReply.of(space), status_code=201, headers=headers))


@routes.get("/v1/spaces/{space:str}", needs="read")
async def get_space(request: Request) -> Response[SpaceReply]:
    """Read a space."""
    found = await request.ask(request.engine.spaces.get)
    return read(SpaceReply.of(found), found.at)


@routes.delete("/v1/spaces/{space:str}", status_code=200, needs="admin", problems=["conflict"], standard=DRY)
async def delete_space(request: Request, confirm: ConfirmParameter) -> Response[ErasureReply]:
    """Erase a space with all that is in it.

    The answer is a signed report of the places that were searched. The default space always exists and can only be
    emptied: `POST …/purge` with `everything`.
    """
    if confirm != request.space:
        raise InvalidInput.at("$.confirm", f"is {confirm[:80]!r}; to erase the space send confirm={request.space}")
    eraser, caller = request.engine.eraser, request.caller
    if request.dry_run:
        return planned(await request.ask(eraser.plan_space, keep=False), Response(ErasureReply()))
    return await reported(request, lambda: eraser.space(request.space, caller, keep=False))


@routes.patch("/v1/spaces/{space:str}/policy", needs="admin", standard=DRY)
async def set_policy(request: Request, data: JSONBody[PolicyBody]) -> Response[PolicyReply]:
    """Set what a space does with secrets, personal data and echoes, and how long it keeps versions and memories.

    The first three apply to later writes. What is too old already is deleted by the next sweep: history within the
    hour, memories within the day. `POST …/purge?dry_run=true` with `older_than_days` shows which.
    """
    actor = request.access.actor
    found = await request.ask(request.engine.spaces.set_policy, data.changes(), by=actor, dry_run=request.dry_run)
    return tried(request, read(PolicyReply.of(found.policy), found.at))


@routes.post("/v1/spaces/{space:str}/warm", status_code=200, needs="read")
async def warm_space(request: Request) -> Response[WarmedReply]:
    """Load the index and the model of a space, so that the next search need not wait.

    Send it before a session begins, to the server that will answer it. It changes nothing.
    """
    found = await request.ask(request.memories.read.warm)
    return read(WarmedReply.of(found), found.seq)


# Facets: counts of a space's memories, and its sizes

facets = Routes("facets")


@facets.get("/categories", needs="read", problems=PAST)
async def list_categories(request: Request, as_of: AsOfParameter = None) -> Response[CountsReply]:
    """Count the active memories of each category."""
    counts = await request.ask(request.memories.read.categories, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@facets.get("/tags", needs="read", problems=PAST)
async def list_tags(request: Request, as_of: AsOfParameter = None) -> Response[CountsReply]:
    """Count the active memories of each tag."""
    counts = await request.ask(request.memories.read.tags, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@facets.get("/authors", needs="read", problems=PAST)
async def list_authors(request: Request, as_of: AsOfParameter = None) -> Response[CountsReply]:
    """Count the active memories of each author."""
    counts = await request.ask(request.memories.read.authors, as_of=parse(as_of))
    return read(CountsReply.of(counts), counts.seq)


@facets.get("/stats", needs="read", problems=PAST)
async def get_stats(request: Request, as_of: AsOfParameter = None) -> Response[StatsReply]:
    """Read the sizes and rates of a space."""
    stats = await request.ask(request.memories.read.stats, as_of=parse(as_of))
    use = request.engine.models.cache.use if request.access.may("admin") else None
    return read(StatsReply.of(stats, use), stats.seq)
