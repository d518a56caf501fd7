"""A process that gives passages the vectors of the second model until it is killed; for `loadtests.second_kills`.

It does the steps and the tasks of the background. A file, named by the process, says that it is ready.
"""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from muisti.core.model.errors import MuistiError
from muisti.service.app.app import open_engine
from muisti.service.background.task_threads import TaskThreads
from muisti.service.settings import Settings

LOOK = 0.05  # seconds


def settings(url: str, namespace: str, lease: float) -> Settings:
    """Return the settings of a process on the database at a URL."""
    return Settings(
        database_url=url,
        database_namespace=namespace or None,
        second_model="minilm",
        graph="off",
        task_lease=lease,
        tasks_per_space=1,
    )


def main(url: str, namespace: str, lease: float, folder: Path) -> None:
    """Work until the process is killed."""
    chosen = settings(url, namespace, lease)
    with open_engine(chosen) as engine, TaskThreads(engine, chosen):
        (folder / str(os.getpid())).touch()
        while True:
            busy = False
            with suppress(MuistiError):  # another process writes
                busy = any([engine.second_vectors.step(space) for space in engine.second_vectors.lagging()])
            if not busy:
                time.sleep(LOOK)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]))
