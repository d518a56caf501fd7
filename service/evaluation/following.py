"""Waits until the vectors of what was stored are there, where background work embeds it."""

import time
from collections.abc import Callable, Iterable

from muisti.client import calls
from muisti.core.model.hits import LATER
from muisti.service.app.client import Client
from muisti.service.evaluation.dataset import DatasetError

PATIENCE = 300.0  # seconds without any progress after which the wait ends
PAUSE = 0.2  # seconds between two looks

Progress = Callable[[str, int, int], object]


def wait_for_vectors(client: Client, spaces: Iterable[str], progress: Progress, patience: float = PATIENCE) -> None:
    """Wait until searches in each space lack no vectors that are to follow.

    Raises:
        DatasetError: nothing has followed for `patience` seconds.
    """
    named = list(spaces)
    for number, space in enumerate(named, start=1):
        progress("embedding", number, len(named))
        seen, until = "", time.monotonic() + patience
        while lacks := [reason for reason in _degraded(client, space) if LATER in reason]:
            if lacks[0] != seen:
                seen, until = lacks[0], time.monotonic() + patience
            if time.monotonic() > until:
                raise DatasetError(f"the vectors do not come: {lacks[0]}")
            time.sleep(PAUSE)


def _degraded(client: Client, space: str) -> list[str]:
    return client.send(calls.search(space, {"query": "a", "mode": "semantic", "limit": 1})).data["degraded"]
