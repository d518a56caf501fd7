"""Where a space is, when a database has refused a request for it: fenced, gone, or not answering."""

import time

from muisti.core.model.errors import DatabaseDown, MuistiError, NotFound, SpaceMoving, StoreUnavailable
from muisti.core.placement.holdings import holding, lift
from muisti.core.placement.mover import complete
from muisti.service.runtime.engines import Engines

# Codes of refusals that may be about the place of a space, and not about the request.
ABOUT_PLACE = frozenset(("not_found", "space_moving", "not_yet_replicated", "store_unavailable", "epoch_gone"))
TRIES = 3  # of a request whose space has moved meanwhile
GAP_SECONDS = 0.5  # for which a request waits until a space that has left has arrived
PAUSE_SECONDS = 0.02


def again(engines: Engines, space: str, code: str) -> bool:
    """Return whether a refused request should be sent again, since its space is elsewhere, or takes writes again.

    The database that was asked says what it holds; only when it lets go is the map read again.

    Raises:
        SpaceMoving: the space is on its way.
        DatabaseDown: its database, or the directory that would tell where it is, does not answer.
    """
    id_ = engines.directory.map.of(space)
    try:
        return _again(engines, space, code, id_)
    except (SpaceMoving, DatabaseDown):
        raise
    except StoreUnavailable as error:
        if not engines.several:
            raise
        engines.failed(id_)
        raise DatabaseDown(engines.name(id_), str(error)) from error


def _again(engines: Engines, space: str, code: str, id_: int) -> bool:
    database = engines.opened(id_).database.primary
    found = holding(database, space)
    if code == "store_unavailable":
        return False
    if found.over:
        lift(database, found)
        return True
    if found.state == "fenced" and code in ("not_found", "space_moving"):
        raise SpaceMoving
    if found.holds:
        return code == "space_moving" or (code == "not_found" and _exists(engines, space, id_))
    _reload(engines)
    if engines.directory.map.of(space) == id_:
        _wait(engines, space, id_, found.unit)
    engines.opened(engines.directory.map.of(space))
    return True


def _exists(engines: Engines, space: str, id_: int) -> bool:
    """Tell whether a space exists that was just not found, because its placement here has changed."""
    try:
        engines.opened(id_).spaces.catch_up(space)
    except NotFound:
        return False
    return True


def _wait(engines: Engines, space: str, id_: int, unit: str) -> None:
    """Wait until a space that has left a database has arrived in another, and finish what a killed process left."""
    deadline = time.monotonic() + GAP_SECONDS
    while time.monotonic() < deadline:
        if complete(engines.directory, engines.database, unit):
            _reload(engines)
        if engines.directory.map.of(space) != id_:
            return
        time.sleep(PAUSE_SECONDS)
        _reload(engines)
    raise SpaceMoving


def _reload(engines: Engines) -> None:
    try:
        engines.directory.load()
    except MuistiError as error:
        raise DatabaseDown(engines.name(0), f"only it knows where the space is now: {error}") from error
