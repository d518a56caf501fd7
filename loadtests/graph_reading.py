"""The task that reads a space into its graph, on a process that is killed in the middle, and on the one that goes on.

`python -m loadtests.graph_reading` prints how long 1,000 documents of 2,000 words take, the progress, and whether the
graph is that of a reading without a kill.
"""

import argparse
import hashlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import Cuts, Incoming
from muisti.core.graph.indexing import KIND
from muisti.core.identity.caller import OWNER
from muisti.core.model.tasks import Task
from muisti.core.parsing.pieces import Cut
from muisti.core.store.database import Rows, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.tasks.claim import Claim, Kind
from muisti.service.app.app import open_engine
from muisti.service.background.task_threads import TaskThreads
from muisti.service.settings import Settings

ROOT = Path(__file__).parents[1]
SPACE = "default"
TOGETHER = 16  # documents that are stored together
CHUNK = 250  # words
LOOK = 0.02  # seconds
_PEOPLE = ("Caroline Smith", "Bob Lindqvist", "Maria Garcia", "Tom Okafor", "Yuki Tanaka", "Eva Novak", "Liam Byrne")
_PLACES = ("Berlin", "Oslo", "Turku", "Lisbon", "Nairobi", "Kyoto")
_TABLES = (
    "SELECT m.version_id, m.start, m.stop, e.norm, m.kind, m.confidence, m.source FROM mentions m "
    "JOIN entities e ON e.id = m.entity_id ORDER BY 1, 2, 4",
    "SELECT r.version_id, r.number, s.norm, r.kind, o.norm, r.literal_start, r.literal_stop, r.polarity, r.start, "
    "r.stop FROM relations r JOIN entities s ON s.id = r.subject_id LEFT JOIN entities o ON o.id = r.object_id "
    "ORDER BY 1, 2",
)


@dataclass
class Outcome:
    """Results. `looks` has pairs of seconds and finished versions; `again` what was read without a kill."""

    task: Task
    looks: list[tuple[float, int]]
    killed_at: int
    versions: int
    found: list[Rows]
    again: list[Rows]
    busy: float  # processor seconds of the processes that read

    @property
    def seconds(self) -> float:
        return self.looks[-1][0]


class _Slowly:
    """Work that waits before each batch."""

    def __init__(self, kind: Kind, pause: float) -> None:
        self.name, self.crashed = kind.name, kind.crashed
        self._kind, self._pause = kind, pause

    def run(self, claim: Claim) -> object:
        check = claim.check

        def slowly() -> None:
            time.sleep(self._pause)
            check()

        claim.check = slowly
        return self._kind.run(claim)


def settings(url: str, lease: float) -> Settings:
    return Settings(database_url=url, embeddings=False, task_lease=lease, tasks_per_space=1)


def text(number: int, words: int) -> str:
    """Return a document of sentences that name people and places."""
    rng = random.Random(number)
    found: list[str] = []
    while len(found) < words:
        one, two = rng.sample(_PEOPLE, 2)
        sentence = (
            f"{one} met {two} in {rng.choice(_PLACES)} on day {rng.randrange(9_999)} to discuss draft "
            f"{rng.randrange(97)} of the report. {two} works at Acme in {rng.choice(_PLACES)} and says that the "
            "numbers of the last quarter look better than expected."
        )
        found += sentence.split()
    return " ".join(found[:words])


def run(folder: Path, *, documents: int, words: int, lease: float, pause: float) -> Outcome:
    """Store documents, read them with a process that is killed halfway and another one, and read them again."""
    url = f"file:{folder / 'a.db'}"
    with open_engine(settings(url, lease)) as engine:
        for start in range(0, documents, TOGETHER):
            put = [_incoming(number, words) for number in range(start, min(start + TOGETHER, documents))]
            engine.owner.documents.put(SPACE, put)
        task = engine.owner.graph.build(SPACE)
        worker, began, before = _worker(url, lease, pause), time.monotonic(), _of_children()
        looks: list[tuple[float, int]] = [(0.0, 0)]
        killed_at = 0
        try:
            while not (now := engine.tasks.get(SPACE, task.id, OWNER)).is_over:
                if now.finished != looks[-1][1]:
                    looks.append((time.monotonic() - began, now.finished))
                if not killed_at and now.finished * 2 >= now.total > now.finished:
                    worker.kill()
                    worker.wait()
                    killed_at = engine.tasks.get(SPACE, task.id, OWNER).finished
                    worker = _worker(url, lease, pause)
                time.sleep(LOOK)
            looks.append((time.monotonic() - began, now.finished))
        finally:
            worker.kill()
            worker.wait()
    busy = _of_children() - before
    found, versions = _rows(folder)
    with open_engine(settings(url, lease)) as engine:
        engine.owner.graph.drop(SPACE)
        engine.owner.graph.extend(SPACE)
    again, _ = _rows(folder)
    return Outcome(now, looks, killed_at, versions, found, again, busy)


def _of_children() -> float:
    """Return the processor seconds of processes that have ended, with what they took to start."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _incoming(number: int, words: int) -> Incoming:
    """Return a document in chunks of 250 words."""
    said = text(number, words)
    parts, data = said.split(" "), said.encode()
    cuts = [
        Cut(text=" ".join(parts[at : at + CHUNK]) + " " * (at + CHUNK < len(parts)), overlap=0)
        for at in range(0, len(parts), CHUNK)
    ]
    facts = FileFacts(sha256=hashlib.sha256(data).hexdigest(), size=len(data))
    return Incoming(new=NewDocument(path=f"{number}.md", facts=facts), cuts=Cuts(iter(cuts)))


def _rows(folder: Path) -> tuple[list[Rows], int]:
    """Return the rows of the graph, and the number of versions that are read."""
    database = FileDatabase(folder / "a.db")
    counted = "SELECT count(*) FROM versions WHERE kind IN ('memory', 'exchange', 'chunk')"
    *found, versions = database.read([Statement(one) for one in (*_TABLES, counted)])
    database.close()
    return found, int(str(versions[0][0]))


def _worker(url: str, lease: float, pause: float) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "loadtests.graph_reading", "--work", url, "--lease", str(lease)]
    return subprocess.Popen([*command, "--pause", str(pause)], cwd=ROOT)


def work(url: str, lease: float, pause: float) -> None:
    """Work on tasks until a signal comes."""
    chosen = settings(url, lease)
    with open_engine(chosen) as engine:
        if pause:
            engine.tasks.register(_Slowly(engine.tasks.kind(KIND), pause))
        with TaskThreads(engine, chosen):
            signal.sigwait({signal.SIGTERM})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--words", type=int, default=2_000)
    parser.add_argument("--lease", type=float, default=3.0)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--work", metavar="URL", help="work on the tasks of a database instead")
    given = parser.parse_args()
    if given.work:
        work(given.work, given.lease, given.pause)
        return
    say = Console(soft_wrap=True, highlight=False, markup=False).print
    with tempfile.TemporaryDirectory() as made:
        seen = run(
            Path(made), documents=given.documents, words=given.words, lease=given.lease, pause=given.pause
        )  # fmt: skip
    say(f"{given.documents:,} documents of {given.words:,} words, {seen.versions:,} versions: {seen.seconds:.1f} s")
    say(f"processor time of the processes that read: {seen.busy:.1f} s")
    say(f"killed after {seen.killed_at:,} versions; {seen.task.attempts} processes; {seen.task.finished:,} finished")
    same = seen.found == seen.again
    say(f"{len(seen.found[0]):,} mentions, {len(seen.found[1]):,} relations; as without a kill: {same}")
    say("progress: " + ", ".join(f"{at:.1f} s {done:,}" for at, done in seen.looks[:: max(1, len(seen.looks) // 12)]))


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
