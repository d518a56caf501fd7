"""Simulated power cuts. A process kill cannot show what a missing sync loses, since the kernel outlives the process."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.model.errors import MuistiError
from muisti.core.store.file.database import FileDatabase, Synchronous
from tests.durability.clients import Clients, HashingEncoder, ticking
from tests.durability.crash_vfs import Event, Files, RecordingDisk, Replay
from tests.durability.history import NEVER, History, NotingDatabase, Verdict

pytestmark = pytest.mark.prove


NAME = "muisti.db"
CHECKPOINT_PAGES = 60
LIVES = 4  # each begins with what a cut left of the one before
CUTS = 500  # in each life, when there is time
FEW_CUTS = 125


def put(folder: Path, files: Files) -> Path:
    """A disk with nothing but these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder / NAME


def live(path: Path, disk: RecordingDisk, history: History, synchronous: Synchronous, rng: random.Random) -> None:
    """Two sessions of a server. The second finds the file closed in good order."""
    for _ in range(2):
        file = FileDatabase(path, vfs=disk.name, synchronous=synchronous, checkpoint_pages=CHECKPOINT_PAGES, readers=3)
        database = NotingDatabase(file, disk)
        with Engine(database, HashingEncoder(), ticking()) as engine:  # pyright: ignore[reportArgumentType]  # it delegates
            history.migrated = min(history.migrated, database.first or NEVER)
            clients = Clients(engine, database, disk, history)
            clients.run(threads=8, steps=7, rng=rng)
            assert clients.together > 3


def start_again(folder: Path, image: Files, history: History, position: int) -> Verdict:
    """Open the files as an ordinary start does, and judge the store by the history."""
    try:
        database = FileDatabase(put(folder, image), readers=1)
    except MuistiError as error:
        return Verdict(corrupt=[repr(error)])
    try:
        return history.judge(database, position)
    finally:
        database.close()


def cut_power(
    folder: Path, log: Sequence[Event], base: Files, history: History, cuts: int, rng: random.Random
) -> list[tuple[Files, Verdict]]:
    """Return the files and the verdict after each of `cuts` power cuts, earliest first."""
    replay = Replay(log, base)
    outcomes: list[tuple[Files, Verdict]] = []
    for position in sorted(rng.choices(range(1, len(log) + 1), k=cuts)):
        replay.go_to(position)
        image = replay.cut(rng)
        outcomes.append((image, start_again(folder / "image", image, history, position)))
    return outcomes


@pytest.fixture
def cuts(long: bool) -> int:
    return CUTS if long else FEW_CUTS


def test_no_power_cut_loses_an_acknowledged_write_or_leaves_half_of_one(folder: Path, cuts: int):
    rng = random.Random(20)
    base: Files = {}
    history = History()
    for life in range(LIVES):
        with RecordingDisk(f"life {life}") as disk:
            live(put(folder / "disk", base), disk, history, "FULL", rng)
            outcomes = cut_power(folder, disk.log, base, history, cuts, rng)
        assert [fault for _, verdict in outcomes for fault in verdict.corrupt] == []
        assert [fault for _, verdict in outcomes for fault in verdict.lost] == []
        base, verdict = rng.choice(outcomes[cuts // 2 :])
        history = history.after_cut(verdict.reached)


def test_the_same_cuts_find_the_losses_of_a_store_that_does_not_sync_each_commit(folder: Path, cuts: int):
    rng = random.Random(20)
    history = History()
    with RecordingDisk("without syncs") as disk:
        live(put(folder / "disk", {}), disk, history, "NORMAL", rng)
        outcomes = cut_power(folder, disk.log, {}, history, cuts, rng)
    assert [fault for _, verdict in outcomes for fault in verdict.corrupt] == []
    assert sum(bool(verdict.lost) for _, verdict in outcomes) > 0


def test_the_same_cuts_find_the_damage_of_a_disk_that_does_not_sync_the_database_file(folder: Path, cuts: int):
    rng = random.Random(20)
    history = History()
    with RecordingDisk("without checkpoint syncs") as disk:
        live(put(folder / "disk", {}), disk, history, "FULL", rng)
    log = [Event("write", event.file) if event == Event("sync", NAME) else event for event in disk.log]
    outcomes = cut_power(folder, log, {}, history, cuts, rng)
    assert sum(bool(verdict.corrupt) for _, verdict in outcomes) > 0
