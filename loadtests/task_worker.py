"""A process that works on tasks until it is killed; `loadtests.task_kills` starts several.

An item of the kind `note` becomes a memory after a few milliseconds of work, and every 97th one fails. A line of the
file of claims has the process and the time of each claim. A file beside it, named by the process, says it is ready.
"""

import os
import signal
import sys
import time
from pathlib import Path

from muisti.core.documents.view import KIND as INGEST
from muisti.core.engine import Engine
from muisti.core.model.tasks import Item, ItemOutcome
from muisti.core.model.values import Draft
from muisti.core.tasks.claim import GROUP, Claim, Kind
from muisti.service.app.app import open_engine
from muisti.service.background.task_threads import TaskThreads
from muisti.service.settings import Settings

WORK_SECONDS = 0.02  # for an item
PAUSE_SECONDS = 0.5  # before a group
BAD = 97  # one of so many items fails


class Note:
    """Stores a memory for each item, a group in one batch."""

    name = "note"
    crashed = "note.crashed"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def run(self, claim: Claim) -> object:
        while group := claim.items():
            outcomes = [_worked(item) for item in group]
            good = [item for item, one in zip(group, outcomes, strict=True) if one.state == "done"]
            fenced = claim.fenced(outcomes)
            drafts = [Draft(content=item.name) for item in good]
            self._engine.seen_by(claim.caller, fenced=fenced).write.add(claim.task.space, drafts, on_conflict="keep")
        return None


class Noted:
    """A kind of work that notes each claim in a file, and waits for `pause` seconds before each group of items."""

    def __init__(self, kind: Kind, claims: Path, pause: float) -> None:
        self.name, self.crashed = kind.name, kind.crashed
        self._kind, self._claims, self._pause = kind, claims, pause

    def run(self, claim: Claim) -> object:
        with self._claims.open("a") as claims:
            claims.write(f"{os.getpid()} {time.time():.3f}\n")
        begin = claim.items

        def begin_slowly(most: int = GROUP) -> list[Item]:
            time.sleep(self._pause)
            return begin(most)

        claim.items = begin_slowly  # the work must last longer than all kills
        return self._kind.run(claim)


def _worked(item: Item) -> ItemOutcome:
    time.sleep(WORK_SECONDS)
    if item.number % BAD == 0:
        return ItemOutcome(item.number, "failed", "note.bad", "one of the bad items")
    return ItemOutcome(item.number)


def settings(url: str, namespace: str, lease: float) -> Settings:
    """Return the settings of a process on the database at a URL."""
    return Settings(
        database_url=url, database_namespace=namespace or None, embeddings=False, task_lease=lease, tasks_per_space=1
    )


def main(url: str, namespace: str, lease: float, claims: Path, pause: float) -> None:
    """Work until a signal comes."""
    chosen = settings(url, namespace, lease)
    with open_engine(chosen) as engine:
        for kind in (Note(engine), engine.tasks.kind(INGEST)):
            engine.tasks.register(Noted(kind, claims, pause))
        with TaskThreads(engine, chosen):
            claims.with_name(str(os.getpid())).touch()  # ready
            signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]), float(sys.argv[5]))
