"""Read your own writes: a reader names the point of history that it has seen, and waits until it is reached here."""

import asyncio
from typing import Any

from litestar import Request

from core.errors import NotYetReplicated
from service.headers import MIN_SEQ, min_seq
from service.workers import Backend

WAIT_SECONDS = 1.0
PAUSE_SECONDS = 0.02
_NAME = MIN_SEQ.lower().encode()


async def caught_up(request: Request[Any, Any, Any]) -> None:
    """Wait for the point that Muisti-Min-Seq names, if any.

    Raises:
        NotYetReplicated: it was not reached in time.
        EpochGone: the space has been made anew since.
    """
    header = next((value for name, value in request.scope["headers"] if name == _NAME), None)
    if header is None or "space" not in request.path_params:
        return
    backend: Backend = request.app.state.backend
    at, space = min_seq(header.decode("latin-1")), request.path_params["space"]
    clock = asyncio.get_running_loop().time
    deadline = clock() + WAIT_SECONDS
    while True:
        try:
            return await backend.store(backend.engine.require, space, at)
        except NotYetReplicated:
            if clock() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)
