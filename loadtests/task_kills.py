"""A task on two processes, each killed again and again: what was lost, what was done twice, and how long others took.

`python -m loadtests.task_kills` prints a table for a file and for sqld: for a task whose items become memories, and
for one that ingests as many documents.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

from deploy.cluster.sqld import Sqld
from loadtests.task_worker import BAD, PAUSE_SECONDS, settings
from muisti.core.documents.view import KIND as INGEST
from muisti.core.documents.view import File, Filter, Job
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.places import DocumentName
from muisti.core.model.tasks import NewItem, Task
from muisti.core.query.points import Wanted
from muisti.core.tasks.tasks import Submission
from muisti.service.app.app import open_engine

ROOT = Path(__file__).parents[1]
LOOK = 0.02  # seconds
SETTLE_SECONDS = 2.0  # in which a process that has not seen the cancel would store something
PATIENCE = 60.0  # seconds in which another process must go on
SPACE = "default"
_WORDS = ("river", "stone", "lamp", "garden", "letter", "winter", "copper", "window", "harbour", "table", "engine")


@dataclass
class Outcome:
    """Results. Takeovers, `cancel` and `seconds` are in seconds; a takeover is from a kill to the next claim."""

    task: Task
    kills: int
    takeovers: list[float]
    stored: Counter[str]
    items: Counter[str]
    cancel: float
    after_cancel: int
    seconds: float
    expected: int

    @property
    def twice(self) -> int:
        """Number of memories that were stored more than once."""
        return sum(count - 1 for count in self.stored.values())

    @property
    def lost(self) -> int:
        """Number of items that are neither stored nor failed."""
        return self.expected - len(self.stored) - self.items["failed"]


@dataclass
class Fleet:
    """Two processes on one database. `claims` is the file in which they note what they claim."""

    url: str
    namespace: str
    lease: float
    claims: Path
    pause: float
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list["subprocess.Popen[bytes]"])

    def start(self) -> None:
        command = [sys.executable, "-m", "loadtests.task_worker", self.url, self.namespace, str(self.lease)]
        self.processes.append(subprocess.Popen([*command, str(self.claims), str(self.pause)], cwd=ROOT))

    def kill(self, pid: int) -> None:
        """Send SIGKILL to a process of this fleet."""
        (one,) = [process for process in self.processes if process.pid == pid]
        self.processes.remove(one)
        one.kill()
        one.wait()

    @property
    def is_ready(self) -> bool:
        """Whether both processes look for tasks."""
        return all(self.claims.with_name(str(process.pid)).exists() for process in self.processes)

    def claimed(self) -> list[tuple[int, float]]:
        """Return process and time of each claim."""
        lines = self.claims.read_text().splitlines() if self.claims.exists() else []
        return [(int(pid), float(at)) for pid, at in (line.split() for line in lines)]

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def run(
    url: str,
    namespace: str,
    folder: Path,
    *,
    kind: str,
    items: int,
    kills: int,
    lease: float,
    pause: float = PAUSE_SECONDS,
    settle: float = SETTLE_SECONDS,
    seed: int = 1,
) -> Outcome:
    """Run a task of so many items, and kill a process that works on it, or the other one, so many times.

    A worker waits for `pause` seconds before each group of items, and the driver for `settle` after a cancel.
    """
    rng = random.Random(seed)
    with open_engine(settings(url, namespace, lease)) as engine:
        task = _submit(engine, kind, "item", items)
        fleet = Fleet(url, namespace, lease, folder / "claims", pause)
        began = time.monotonic()
        try:
            fleet.start()
            fleet.start()
            done, takeovers = _kill(engine, task, fleet, rng, kills, items)
            while not (task := _now(engine, task)).is_over:
                time.sleep(LOOK)
            seconds = time.monotonic() - began
            stored, states = _CONTENTS[kind](engine), _states(engine, task)
            cancel, after = _cancelled(engine, kind, items, settle)
        finally:
            fleet.stop()
    return Outcome(task, done, takeovers, stored, states, cancel, after, seconds, items)


def _submit(engine: Engine, kind: str, what: str, items: int) -> Task:
    names = [f"{what} {number}" for number in range(items)]
    if kind == "note":
        return engine.tasks.submit(SPACE, kind, {}, OWNER, map(NewItem, names))
    begun = engine.tasks.begin(SPACE, kind, Job(), OWNER)
    assert isinstance(begun, Submission)
    for name in names:
        begun.add_blob(name, [text_of(name).encode()])
    begun.add_items(File(blob=name).item(f"{name}.md") for name in names)
    return begun.end()


def text_of(name: str) -> str:
    """Return the text of a document of some sections; the bad ones are empty."""
    number = int(name.split()[-1])
    if (number + 1) % BAD == 0:  # items are counted from 1
        return ""
    rng = random.Random(name)
    sections = (" ".join(rng.choices(_WORDS, k=180)) for _ in range(rng.randint(1, 6)))
    return "".join(f"# Section {part} of {name}\n\n{section}.\n\n" for part, section in enumerate(sections))


def _kill(
    engine: Engine, task: Task, fleet: Fleet, rng: random.Random, kills: int, items: int
) -> tuple[int, list[float]]:
    """Kill processes while the task goes on, spread over it. Return the kills, and the seconds until others went on."""
    takeovers, done = list[float](), 0
    for number in range(kills):
        due = int(items * (number + rng.random()) / (kills + 1))
        while (now := _now(engine, task)).finished < due and not now.is_over:
            time.sleep(LOOK)
        if now.is_over:
            break
        while not fleet.is_ready and not _now(engine, task).is_over:
            time.sleep(LOOK)
        time.sleep(rng.uniform(0, 0.1))
        holder = fleet.claimed()[-1][0]
        others = [one.pid for one in fleet.processes if one.pid != holder]
        victim = holder if rng.random() < 0.75 or not others else others[0]
        claims, at = len(fleet.claimed()), time.time()
        fleet.kill(victim)
        done += 1
        fleet.start()
        if victim == holder and (took := _taken_over(engine, task, fleet, claims, at)) is not None:
            takeovers.append(took)
    return done, takeovers


def _taken_over(engine: Engine, task: Task, fleet: Fleet, claims: int, at: float) -> float | None:
    """Wait for the next claim, and return the seconds since the kill; None when the task has ended before it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        claimed = fleet.claimed()
        if len(claimed) > claims:
            return claimed[claims][1] - at
        if _now(engine, task).is_over:
            return None
        time.sleep(LOOK)
    raise TimeoutError("no process went on with the task")


def _cancelled(engine: Engine, kind: str, items: int, settle: float) -> tuple[float, int]:
    """Cancel a second task under way. Return the seconds that took, and how many memories were stored afterwards."""
    task = _submit(engine, kind, "other", items)
    while _now(engine, task).done < 16:
        time.sleep(LOOK)
    began = time.monotonic()
    ended = engine.tasks.cancel(SPACE, task.id, OWNER)
    took = time.monotonic() - began
    assert ended.state == "cancelled"
    before = engine.owner.read.stats(SPACE).memories
    time.sleep(settle)
    return took, engine.owner.read.stats(SPACE).memories - before


def _now(engine: Engine, task: Task) -> Task:
    return engine.tasks.get(SPACE, task.id, OWNER)


def _memories(engine: Engine) -> Counter[str]:
    """Count the memories by their text, as the history of the space has them."""
    found, since = Counter[str](), None
    while True:
        page = engine.owner.read.changes(SPACE, Wanted(since=since, limit=1000))
        found.update(event.after.content for event in page.items if event.after is not None)
        since = page.reached
        if not page.more:
            return found


def _documents(engine: Engine) -> Counter[str]:
    """Count the documents by their path. One whose chunks are not its text, each once, counts twice."""
    found, cursor = Counter[str](), None
    documents = engine.owner.documents
    while True:
        page = documents.page(SPACE, Filter(), limit=100, cursor=cursor)
        for one in page.items:
            path = one.path
            _, text = documents.text(SPACE, DocumentName(name=path))
            found[path] += 1 if "".join(text) == text_of(path.removesuffix(".md")) else 2
        cursor = page.next_cursor
        if cursor is None:
            return found


_CONTENTS = {"note": _memories, INGEST: _documents}


def _states(engine: Engine, task: Task) -> Counter[str]:
    found, cursor = Counter[str](), None
    while True:
        page = engine.tasks.items(SPACE, task.id, OWNER, limit=100, cursor=cursor)
        found.update(item.state for item in page.items)
        cursor = page.next_cursor
        if cursor is None:
            return found


@contextmanager
def places(which: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield URL and namespace of an empty database: in a file, or on a server that ends afterwards."""
    if which == "file":
        yield f"file:{folder / 'muisti.db'}", ""
        return
    with Sqld(folder) as running:
        running.create("tasks")
        yield running.url, "tasks"


def main() -> int:
    """0 when nothing was lost and nothing done twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=("file", "sqld", "both"), default="both")
    parser.add_argument("--kind", choices=("note", INGEST, "both"), default="both")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=24)
    parser.add_argument("--lease", type=float, default=3.0)
    options = parser.parse_args()
    table = Table("work", "store", "seconds", "kills", "claims", "stored", "failed", "twice", "lost")
    for title in ("takeovers", "median s", "slowest s", "cancel ms", "after cancel"):
        table.add_column(title)
    wrong = 0
    stores = ("file", "sqld") if options.store == "both" else (options.store,)
    for kind, store in product(("note", INGEST) if options.kind == "both" else (options.kind,), stores):
        with tempfile.TemporaryDirectory() as name, places(store, Path(name)) as (url, namespace):
            seen = run(
                url, namespace, Path(name), items=options.items, kills=options.kills, lease=options.lease, kind=kind
            )
        table.add_row(kind, store, *row(seen))
        wrong += seen.twice + abs(seen.lost) + seen.after_cancel + abs(seen.items["failed"] - options.items // BAD)
    Console().print(f"{options.items:,} items, two processes, lease {options.lease:g} s", table)
    return min(1, wrong)


def row(seen: Outcome) -> list[str]:
    """Return the cells of a row of the table."""
    slow = sorted(seen.takeovers) or [0.0]
    return [
        f"{seen.seconds:.1f}", str(seen.kills), str(seen.task.attempts), str(seen.stored.total()),
        str(seen.items["failed"]), str(seen.twice), str(seen.lost), str(len(seen.takeovers)),
        f"{slow[len(slow) // 2]:.2f}", f"{slow[-1]:.2f}", f"{1000 * seen.cancel:.0f}", str(seen.after_cancel),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
