"""Another database is copied over the open one at a given moment of a write, a checkpoint or a read.

A server under load meets each of these moments by chance (`test_replaced.py`); here each is met for certain.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from muisti.core.model.errors import MuistiError, StoreReplaced
from muisti.core.store.database import Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.file.opened_files import OpenedFiles

COUNT = Statement("SELECT count(*) FROM kept")
Overwrite = Callable[[], None]


def add(database: FileDatabase, pages: int = 3) -> None:
    database.write([Statement("INSERT INTO kept VALUES (?)", ("x" * 4_096 * pages,))])


def filled(path: Path, rows: int, checkpoint_pages: int = 1) -> FileDatabase:
    database = FileDatabase(path, checkpoint_pages=checkpoint_pages)
    database.write([Statement("CREATE TABLE IF NOT EXISTS kept (text TEXT)")])
    for _ in range(rows):
        add(database)
    return database


def settle(database: FileDatabase) -> None:
    """Wait for the last checkpoint, and until the clock of the file system has moved on."""
    database.write([COUNT])
    time.sleep(0.02)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch):
    """Wait less for the checkpoint of another process; nothing of what is tested depends on how long."""
    monkeypatch.setattr("muisti.core.store.file.opened_files.GRACE_SECONDS", 0.3)


@pytest.fixture(params=["other", "earlier"])
def overwrite(request: pytest.FixtureRequest, folder: Path) -> Overwrite:
    """Copy another database over the file, or what the file itself was earlier."""
    path = folder / "muisti.db"
    source = folder / "other.db" if request.param == "other" else path
    filled(source, 5).close()
    data = source.read_bytes()

    def run() -> None:
        assert path.read_bytes() != data
        with path.open("wb") as file:
            file.write(data)

    return run


@pytest.fixture
def database(folder: Path, overwrite: Overwrite) -> Iterator[FileDatabase]:
    """A database that checkpoints its write-ahead log after every write."""
    opened = filled(folder / "muisti.db", 20)
    settle(opened)
    yield opened
    opened.close()


def test_a_file_written_over_while_nothing_happens_is_refused_by_the_next_write(
    database: FileDatabase, overwrite: Overwrite
):
    """Also where that write begins the log again, as after a checkpoint that moved all of it."""
    overwrite()
    with pytest.raises(StoreReplaced):
        add(database)
    refused_for_good(database)


def test_a_file_written_over_during_a_commit_that_begins_the_log_again_is_refused(
    database: FileDatabase, overwrite: Overwrite, monkeypatch: pytest.MonkeyPatch
):
    after(monkeypatch, "seal", overwrite)
    with pytest.raises(StoreReplaced):
        add(database)
    refused_for_good(database)


def test_a_file_written_over_during_a_checkpoint_is_refused_by_whoever_comes_next(
    database: FileDatabase, overwrite: Overwrite, monkeypatch: pytest.MonkeyPatch
):
    before(monkeypatch, "note", overwrite)
    add(database)  # is acknowledged before the checkpoint begins
    with pytest.raises(StoreReplaced):
        database.write([COUNT])
    for refused in (lambda: add(database), lambda: database.read([COUNT]), database.check):
        with pytest.raises(StoreReplaced):
            refused()


def test_a_reader_that_is_opened_does_not_take_the_change_for_a_checkpoint(
    database: FileDatabase, overwrite: Overwrite
):
    with database._reader():  # so that the next one must be opened
        overwrite()
        with pytest.raises(StoreReplaced):
            database.check()
    refused_for_good(database)


def test_damage_that_is_met_after_such_a_change_ends_reads_too(folder: Path):
    path = folder / "muisti.db"
    database = filled(path, 40)
    settle(database)
    try:
        with path.open("r+b") as file:  # the head stays
            file.seek(4_096)
            file.write(b"\xa5" * (path.stat().st_size - 4_096))
        with pytest.raises(MuistiError):
            database.read([Statement("SELECT length(text) FROM kept")])
        with pytest.raises(MuistiError):
            database.read([Statement("SELECT 1")])
        with pytest.raises(MuistiError):
            database.check()
    finally:
        database.close()


def test_checkpoints_of_another_process_are_no_reason_to_refuse(folder: Path):
    """Neither a full checkpoint nor one that restarts the log makes writes fail."""
    path = folder / "muisti.db"
    one, other = filled(path, 3), FileDatabase(path, checkpoint_pages=7)
    try:
        for number in range(60):
            add(one)
            for _ in range(number % 4):
                add(other)
            if number % 5 == 0:
                with apsw.Connection(str(path)) as third:
                    mode = (apsw.SQLITE_CHECKPOINT_PASSIVE, apsw.SQLITE_CHECKPOINT_TRUNCATE)[number % 2]
                    third.wal_checkpoint(mode=mode)
            one.check()
            other.check()
        assert one.read([COUNT]) == other.read([COUNT])
    finally:
        one.close()
        other.close()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists locks")
def test_a_checkpoint_that_takes_long_is_waited_for(folder: Path):
    """As on a starved machine: a page is there, and whoever moves it holds the lock and has not counted it yet."""
    path = folder / "muisti.db"
    database = filled(path, 3, checkpoint_pages=1_000)
    hold = "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, 2, 1, 121); print(flush=True); input()"
    command = [sys.executable, "-c", hold, f"{path}-shm"]
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as mover:
            assert mover.stdout is not None and mover.stdout.readline()
            with path.open("ab") as file:
                file.write(b"\0" * 4_096)
            database.check()
            time.sleep(0.4)
            database.check()
        with pytest.raises(StoreReplaced):
            database.check()
    finally:
        database.close()


def refused_for_good(database: FileDatabase) -> None:
    for refused in (lambda: add(database), database.check, lambda: database.read([COUNT])):
        with pytest.raises(StoreReplaced):
            refused()


def before(monkeypatch: pytest.MonkeyPatch, name: str, what: Overwrite) -> threading.Event:
    """Do something once, before a method of `OpenedFiles`; the event is set after that method."""
    method, done = getattr(OpenedFiles, name), threading.Event()

    def both(self: OpenedFiles, connection: apsw.Connection) -> None:
        if not done.is_set():
            what()
        method(self, connection)
        done.set()

    monkeypatch.setattr(OpenedFiles, name, both)
    return done


def after(monkeypatch: pytest.MonkeyPatch, name: str, what: Overwrite) -> None:
    method, done = getattr(OpenedFiles, name), threading.Event()

    def both(self: OpenedFiles) -> bool:
        result = method(self)
        if not done.is_set():
            done.set()
            what()
        return result

    monkeypatch.setattr(OpenedFiles, name, both)
