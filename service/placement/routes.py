"""The databases that hold spaces, and moves between them: list, add, plan, move, promote, drain, check."""

import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from litestar import Response
from litestar.params import JSONBody

from muisti.core.databases import open_database
from muisti.core.model.buckets import BUCKETS, in_unit
from muisti.core.model.errors import Conflict, InvalidInput, MuistiError
from muisti.core.model.location import base_url, database_path, is_remote
from muisti.core.operations.whole_database import schema_of
from muisti.core.placement.directory import Move, Target, Why
from muisti.core.placement.mover import Mover
from muisti.core.placement.planning import MOST_MOVES, Size, misplaced, plan, sizes_of
from muisti.service.auth.access import OWNER, Access, check_everywhere
from muisti.service.http.parameters import DRY
from muisti.service.http.request import Request
from muisti.service.http.respond import tried
from muisti.service.http.routing import Routes
from muisti.service.placement.schemas import (
    UNITS_MAX,
    DatabaseBody,
    DatabaseReply,
    DrainBody,
    MisplacedReply,
    MovesBody,
    MovesReply,
    PlacedSpaceBody,
    PlacementCheckReply,
    PlacementMoveReply,
    PlacementReply,
    PlanReply,
    ProposedReply,
)
from muisti.service.runtime.databases import location_of
from muisti.service.runtime.engines import Engines
from muisti.service.schemas.errors import HttpError

WAIT_SECONDS = 0.1  # between looks at a move that another process does

routes = Routes("operations", "")


def _checked(access: Access) -> None:
    check_everywhere(access, "databases are managed")


@routes.get("/v1/placement", needs="admin")
async def get_placement(request: Request) -> PlacementReply:
    """List the databases that hold spaces, their sizes, and the moves between them."""
    _checked(request.access)
    return await request.backend.store(_placement, request.backend.engines)


def _placement(engines: Engines) -> PlacementReply:
    known = engines.directory.load()
    sizes = _sizes(engines)
    moves = engines.directory.moves(ended=10)
    return PlacementReply(
        epoch=known.epoch,
        exceptions=len(known.exceptions),
        databases=[_database(one, known.buckets.count(id_), sizes.get(id_)) for id_, one in known.targets.items()],
        moves=[PlacementMoveReply.made(move, engines) for move in moves],
    )


def _database(target: Target, buckets: int, size: dict[str, Size] | None) -> DatabaseReply:
    total = Size() if size is None else sum_of(size)
    return DatabaseReply(
        name=target.name,
        state="down" if size is None else "draining" if target.draining else "ready",
        buckets=buckets,
        spaces=None if size is None else total.spaces,
        memories=None if size is None else total.memories,
        bytes=None if size is None else total.bytes,
        most_bytes=target.most_bytes,
    )


def sum_of(sizes: dict[str, Size]) -> Size:
    found = Size()
    for one in sizes.values():
        found = found.plus(one)
    return found


def _sizes(engines: Engines) -> dict[int, dict[str, Size]]:
    """Return the sizes of the units of each database that answers."""
    found: dict[int, dict[str, Size]] = {}
    for id_ in engines.directory.map.targets:
        try:
            found[id_] = sizes_of(engines.database(id_).primary, engines.directory.map)
        except MuistiError:
            engines.failed(id_)
    return found


@routes.post(
    "/v1/placement/databases", status_code=201, needs="admin", problems=["already_exists", "conflict"], standard=DRY
)
async def add_database(request: Request, data: JSONBody[DatabaseBody]) -> Response[PlacementReply]:
    """Add an empty database, which then holds what is moved to it.

    Only on the machine of the server, since the server opens what the URL and the token's file name.
    """
    if request.access is not OWNER:
        raise HttpError("forbidden", "databases are added on the machine of the server itself: muisti placement add")
    backend, settings = request.backend, request.app.state.settings
    target = Target(
        id=-1,
        name=data.name,
        url=_url(data.url),
        namespace=data.namespace,
        replica_url=data.replica_url,
        token_file=data.token_file,
        most_bytes=data.most_bytes,
    )
    await backend.store(_refuse_used, target, backend.engines, location_of(settings))
    if not request.dry_run:
        made = await backend.store(backend.engines.directory.add, target, request.access.actor, backend.main.now())
        await backend.store(backend.engines.opened, made.id)
    return tried(request, Response(await backend.store(_placement, backend.engines), status_code=201))


def _url(url: str) -> str:
    try:
        (base_url if is_remote(url) else database_path)(url)
    except ValueError:
        raise InvalidInput.at("$.url", f"{url[:200]!r} is neither file:PATH nor the URL of a server") from None
    return url if is_remote(url) else f"file:{database_path(url)}"


def _refuse_used(target: Target, engines: Engines, home: Any) -> None:
    """Raise unless the database answers and is new."""
    if any(one.name == target.name for one in engines.directory.load().targets.values()):
        raise Conflict(f"a database {target.name!r} exists already")
    with closing(open_database(target.location(home))) as database:
        if schema_of(database).found is not None:
            raise Conflict("the database is in use; add an empty one, and import what the other has")


@routes.get("/v1/placement/plan", needs="admin", problems=["conflict"])
async def plan_moves(request: Request) -> PlanReply:
    """Propose moves that even out the databases by their sizes. Nothing moves by itself."""
    _checked(request.access)
    return await request.backend.store(_planned, request.backend.engines)


def _planned(engines: Engines) -> PlanReply:
    known = engines.directory.load()
    sizes = _sizes(engines)
    if lacking := [one.name for id_, one in known.targets.items() if id_ not in sizes]:
        raise Conflict(f"{', '.join(lacking)} did not answer, and a plan needs the sizes of all")
    return PlanReply(
        items=[
            ProposedReply(
                unit=one.unit, source=engines.name(one.source), target=engines.name(one.target), bytes=one.bytes
            )
            for one in plan(known, sizes, MOST_MOVES)
        ]
    )


@routes.post("/v1/placement/moves", status_code=202, needs="admin", problems=["not_found", "conflict"], standard=DRY)
async def move_units(request: Request, data: JSONBody[MovesBody]) -> Response[MovesReply]:
    """Move buckets or spaces to another database while they are used.

    Writes to each are refused with 503 for less than a second. A move that is killed goes on, or back.
    """
    return await _asked(request, data.units, data.target, "moved", wait=data.wait)


@routes.post("/v1/placement/promote", status_code=202, needs="admin", problems=["not_found", "conflict"], standard=DRY)
async def promote_space(request: Request, data: JSONBody[PlacedSpaceBody]) -> Response[MovesReply]:
    """Move a large or busy space to a database apart from its bucket."""
    return await _asked(request, [data.name], data.target, "promoted", wait=data.wait)


@routes.post("/v1/placement/drain", status_code=202, needs="admin", problems=["not_found", "conflict"], standard=DRY)
async def drain_database(request: Request, data: JSONBody[DrainBody]) -> Response[MovesReply]:
    """Let a database take no more spaces, and move what it holds to the others, by their room."""
    _checked(request.access)
    backend = request.backend
    return tried(request, await backend.store(_drained, backend.engines, data.name, request.access, request.dry_run))


def _drained(engines: Engines, name: str, access: Access, dry_run: bool) -> Response[MovesReply]:
    directory, now = engines.directory, engines.main.now()
    known = directory.load()
    target = known.named(name)
    if len([one for one in known.targets.values() if not one.draining and one.id != target.id]) == 0:
        raise Conflict("no other database takes spaces")
    if dry_run:
        return Response(MovesReply(items=[]), status_code=202)
    directory.drain(name, access.actor, now)
    known = directory.load()
    asked: list[Move] = []
    by_target: dict[int, list[str]] = {}
    for one in plan(known, _sizes(engines), BUCKETS):
        if one.source == target.id:
            by_target.setdefault(one.target, []).append(one.unit)
    for id_, units in by_target.items():
        asked += directory.ask(units, known.targets[id_], "drained", access.actor, now)
    return Response(MovesReply(items=[PlacementMoveReply.made(one, engines) for one in asked]), status_code=202)


async def _asked(request: Request, units: Sequence[str], target: str, why: Why, *, wait: bool) -> Response[MovesReply]:
    _checked(request.access)
    if not 1 <= len(units) <= UNITS_MAX:
        raise InvalidInput.at("$.units", f"{len(units):,} are not between 1 and {UNITS_MAX:,}")
    for place, unit in enumerate(units):
        if not _is_unit(unit):
            raise InvalidInput.at(f"$.units[{place}]", f"{unit[:80]!r} is neither a bucket such as #17 nor a space")
    backend, actor = request.backend, request.access.actor
    moves = await backend.store(_ask, backend.engines, units, target, why, actor, dry_run=request.dry_run)
    if wait and not request.dry_run:
        moves = await backend.store(_done, backend.engines, moves)
    items = [PlacementMoveReply.made(move, backend.engines) for move in moves]
    return tried(request, Response(MovesReply(items=items), status_code=202))


def _is_unit(unit: str) -> bool:
    if not unit.startswith("#"):
        return bool(unit)
    return (
        unit[1:].isascii() and unit[1:].isdecimal() and (in_unit(unit) or 0) < BUCKETS and unit == f"#{int(unit[1:])}"
    )


def _ask(engines: Engines, units: Sequence[str], target: str, why: Why, actor: str, *, dry_run: bool) -> list[Move]:
    known = engines.directory.load()
    there = known.named(target)
    for unit in units:
        if in_unit(unit) is None:
            engines.opened(known.of(unit)).spaces.get(unit)
    return [] if dry_run else engines.directory.ask(units, there, why, actor, engines.main.now())


def _done(engines: Engines, moves: Sequence[Move]) -> list[Move]:
    """Do the moves, or wait for the process that does."""
    mover = Mover(engines.directory, engines.database, uuid.uuid4().hex)
    ended: list[Move] = []
    for one in moves:
        move = one
        while move.ended_at is None:
            if mover.run(move.id) is None:
                time.sleep(WAIT_SECONDS)
            move = engines.directory.move(move.id)
        ended.append(move)
    return ended


@routes.get("/v1/placement/check", needs="admin")
async def check_placement(request: Request) -> PlacementCheckReply:
    """Compare the map with what each database holds."""
    _checked(request.access)
    return await request.backend.store(_compared, request.backend.engines)


def _compared(engines: Engines) -> PlacementCheckReply:
    known = engines.directory.load()
    names: dict[int, list[str]] = {}
    down: list[str] = []
    for id_, target in known.targets.items():
        try:
            names[id_] = [space.name for space in engines.opened(id_).spaces.list()]
        except MuistiError:
            engines.failed(id_)
            down.append(target.name)
    wrong = [
        MisplacedReply(space=space, held_by=engines.name(held), belongs_to=engines.name(belongs))
        for space, held, belongs in misplaced(known, names)
    ]
    every = sorted(name for held in names.values() for name in held)
    doubled = sorted({one for one, other in zip(every, every[1:], strict=False) if one == other})
    ok = not wrong and not doubled and not down
    return PlacementCheckReply(ok=ok, spaces=len(every), misplaced=wrong, doubled=doubled, down=down)
