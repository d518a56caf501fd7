"""Wait until the vectors of what was stored are there, where background work embeds it."""

import time
from collections.abc import Callable, Iterable

from muisti.client import calls
from muisti.core.model.hits import LATER
from muisti.core.model.terms import OFF
from muisti.service.app.client import Client
from muisti.service.evaluation.dataset import DatasetError

PATIENCE = 300.0  # seconds without any progress after which the wait ends
PAUSE = 0.2  # seconds between two looks

Progress = Callable[[str, int, int], object]


def wait_for_vectors(client: Client, spaces: Iterable[str], progress: Progress, patience: float = PATIENCE) -> None:
    """Wait until searches in each space lack no vectors that are to follow, also those of a second model.

    Raises:
        DatasetError: nothing has followed for `patience` seconds.
    """
    named = list(spaces)
    second = client.send(calls.get_readiness()).data["embeddings"]["second"] != OFF
    for number, space in enumerate(named, start=1):
        progress("embedding", number, len(named))
        _wait(lambda space=space: _lacking(client, space), patience)
        if second:
            _wait(lambda space=space: _lacking_second(client, space), patience)


def _wait(lacking: Callable[[], str | None], patience: float) -> None:
    """Wait until nothing is `lacking`, which says in words what is; its words change while the work goes on."""
    seen, until = "", time.monotonic() + patience
    while (lacks := lacking()) is not None:
        if lacks != seen:
            seen, until = lacks, time.monotonic() + patience
        if time.monotonic() > until:
            raise DatasetError(f"the vectors do not come: {lacks}")
        time.sleep(PAUSE)


def _lacking(client: Client, space: str) -> str | None:
    """Return what a search lacks that is to follow, None for nothing."""
    found = client.send(calls.search(space, {"query": "a", "mode": "semantic", "limit": 1})).data["degraded"]
    return next((reason for reason in found if LATER in reason), None)


def _lacking_second(client: Client, space: str) -> str | None:
    """Return how many passages of a space lack vectors of its second model, None for no passage."""
    found = client.send(calls.list_generations(space)).data["items"]
    second = [one for one in found if one["role"] == "second"]
    if not second:
        return f"space {space!r} has no second model yet" if any(one["passages"] for one in found) else None
    missing = second[0]["missing"]
    return f"{missing:,} passages have no vector of the second model" if missing else None
