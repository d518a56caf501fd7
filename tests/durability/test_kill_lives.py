"""kill -9 in the middle of a long life of conversations: acknowledged steps are there, the last is whole or absent."""

import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.embedding.models import Models
from muisti.core.operations.checkup import look
from muisti.core.store.file.database import FileDatabase
from tests.conversations.long_life import Foreseen, Life, Lived
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, open_engine
from tests.durability.living import Start
from tests.stores import RemoteStore

pytestmark = pytest.mark.prove


ROOT = Path(__file__).parents[2]
KILLS = 40  # of each kind, with --long
STEPS = 60  # that a process takes at most before it is killed
MOMENT = 0.02  # seconds at most between the last line that is read and the kill
HOUR = 3_600_000_000  # microseconds

Kill = Callable[[], None]


class Killed:
    """A life that goes on in one process after another, each killed at a random moment."""

    def __init__(self, folder: Path, place: str, namespace: str | None = None) -> None:
        self._folder, self._place, self._namespace = folder, place, namespace
        self._random = random.Random(3)
        self._life = Life()
        self.acknowledged = self.whole = self.absent = 0

    def round(self, number: int, kill: Kill | None = None) -> None:
        """Let a process live, kill it, or what `kill` kills, and compare what is there with the model.

        `kill` ends something else than the process, and starts it again.
        """
        start = Start(self._place, self._namespace, self._life, number, NOON + number * HOUR)
        steps = self._until_killed(start, kill)
        self.acknowledged += steps
        with open_engine(start, clock=Clock(start.at + HOUR // 2)) as engine:
            model = Foreseen(engine, number, life=self._life)
            for _ in range(steps):
                model.step()
            if equal(model):
                self.absent += 1  # or it changes nothing
            else:
                model.step()
                model.compare()
                self.whole += 1
            stats = engine.owner.read.stats(SPACE)
            assert stats.usage is not None
            assert stats.memories == sum(len(talk.turns) for talk in model.life.talks.values()) < stats.usage.memories
        self._life = model.life

    def _until_killed(self, start: Start, kill: Kill | None) -> int:
        """Return the number of steps that were acknowledged."""
        path = self._folder / "start.pickle"
        path.write_bytes(pickle.dumps(start))
        command = [sys.executable, "-m", "tests.durability.living", str(path)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stderr is not None
            try:
                read = [process.stdout.readline() for _ in range(self._random.randint(2, STEPS))]
                time.sleep(self._random.random() * MOMENT)
                if kill is not None:
                    kill()
                    time.sleep(self._random.random() * MOMENT)
            finally:
                process.kill()
            read += process.stdout.readlines()
            errors = process.stderr.read()
        assert process.returncode == -signal.SIGKILL or (kill is not None and process.returncode == 0), errors
        return read.count("done\n")


def equal(lived: Lived) -> bool:
    """Whether all that the engine shows is as the model says."""
    try:
        lived.compare()
    except AssertionError:
        return False
    return True


@pytest.mark.one_store
@pytest.mark.timeout(3_600)
def test_a_killed_process_leaves_whole_steps_in_a_file(folder: Path, long: bool):
    killed = Killed(folder, str(folder / "a.db"))
    for number in range(KILLS if long else 2):
        killed.round(number)
    assert killed.acknowledged > 0
    with closing(FileDatabase(folder / "a.db")) as database:
        found = look(database, Models(WordEncoder()), lambda done, total: None)
        assert not found.flaws and not found.counts and not found.segments


@pytest.mark.one_store
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("of_server", [False, True], ids=["process", "server"])
def test_a_killed_process_and_a_killed_server_leave_whole_steps(folder: Path, long: bool, of_server: bool):
    with Sqld(folder / "sqld") as server:

        def again() -> None:
            server.kill()
            server.start()

        killed = Killed(folder, server.url, RemoteStore(server).namespace)
        for number in range(KILLS if long else 1):
            killed.round(number, again if of_server else None)
        assert killed.acknowledged > 0
