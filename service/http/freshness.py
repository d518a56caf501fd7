"""Read your own writes: a reader names a point of history that it has seen, and waits until this server reaches it."""

import asyncio
from typing import Any

from litestar import Request

from muisti.core.model.errors import NotYetReplicated
from muisti.core.model.values import Seq
from muisti.service.http.headers import FRESHNESS, MIN_SEQ, freshness, min_seq
from muisti.service.runtime.workers import Backend

WAIT_SECONDS = 1.0
PAUSE_SECONDS = 0.02
_MIN_SEQ = MIN_SEQ.lower().encode()
_FRESHNESS = FRESHNESS.lower().encode()
_NAMES = frozenset({_MIN_SEQ, _FRESHNESS})


async def caught_up(request: Request[Any, Any, Any]) -> None:
    """Ask the primary when Muisti-Freshness says so, and wait for the point that Muisti-Min-Seq names, if any.

    Raises:
        NotYetReplicated: it was not reached in time.
        EpochGone: the space was deleted or emptied since, and has a new epoch.
    """
    found = {name: value.decode("latin-1") for name, value in request.scope["headers"] if name in _NAMES}
    if not found or "space" not in request.path_params:
        return
    backend: Backend = request.app.state.backend
    space = request.path_params["space"]
    await reached(backend, space, strong=freshness(found.get(_FRESHNESS)).strong, at_least=found.get(_MIN_SEQ))


async def reached(backend: Backend, space: str, *, strong: bool, at_least: str | None) -> None:
    """Ask the primary if the read is `strong`, and wait for the point `at_least`, if any.

    Raises:
        NotYetReplicated: it was not reached in time.
        EpochGone: the space was deleted or emptied since, and has a new epoch.
    """
    if strong:
        await backend.store(backend.engine.spaces.catch_up, space)
    if at_least is not None:
        await _reached(backend, space, min_seq(at_least))


async def _reached(backend: Backend, space: str, at: Seq) -> None:
    clock = asyncio.get_running_loop().time
    deadline = clock() + WAIT_SECONDS
    while True:
        try:
            return await backend.store(backend.engine.spaces.require, space, at)
        except NotYetReplicated:
            if clock() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)
