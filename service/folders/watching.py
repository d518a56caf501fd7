"""Changes of a folder as they happen. An event says no more than where to look again."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

QUIET_MS = 50  # without an event, after which a batch is complete
STEP_MS = 10
GIT = f"{os.sep}.git{os.sep}"


def changes(folder: Path, stop: Event) -> Iterator[set[str]]:
    """Yield the paths that changed, relative to the folder, batch by batch until `stop` is set.

    An empty batch comes first, when watching has begun.
    """
    top = os.path.realpath(folder)
    started = False
    for batch in watch(
        top,
        watch_filter=_is_outside_git,
        debounce=1_600,
        step=STEP_MS,
        rust_timeout=QUIET_MS,
        yield_on_timeout=True,
        stop_event=stop,
    ):
        paths = {os.path.relpath(path, top).replace(os.sep, "/") for _, path in batch}
        if paths or not started:
            yield paths
        started = True


def _is_outside_git(change: Change, path: str) -> bool:
    return GIT not in path and not path.endswith(f"{os.sep}.git")
