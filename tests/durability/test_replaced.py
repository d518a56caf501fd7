"""The files of a database are deleted, moved, replaced or spoilt while a server has them open.

Either every write acknowledged afterwards is in the file at the path, or the server refuses writes, reads and
readiness with a stable code.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.model.errors import MuistiError, StoreCorrupt, StoreReplaced
from muisti.core.model.values import Draft
from muisti.core.store.backup import back_up, restore
from muisti.core.store.database import BadStatement, Statement
from muisti.core.store.file.database import FileDatabase
from tests.durability.clients import ticking
from tests.durability.server import Server

MEMORIES = "/v1/spaces/default/memories"
BEFORE = 40
PATIENCE = 60.0
REFUSALS = ("store_replaced", "store_corrupt")

Fault = Callable[[Path], None]


def log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def shared(path: Path) -> Path:
    return path.with_name(path.name + "-shm")


def made(path: Path, count: int) -> Path:
    """Another database with some memories, closed."""
    with Engine(FileDatabase(path), None, ticking()) as engine:
        for number in range(count):
            engine.owner.write.add("default", [Draft(content=f"other {number} " + "word " * 20)], on_conflict="keep")
    return path


def overwrite(path: Path, data: bytes) -> None:
    """As `cp` does: the file is cut to nothing and written again, and stays the same file."""
    with path.open("wb") as file:
        file.write(data)


def junk(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))


def delete_all(path: Path) -> None:
    for each in (path, log(path), shared(path)):
        each.unlink()


def replace(path: Path) -> None:
    made(path.with_name("other.db"), 30).replace(path)


def copy_over(path: Path) -> None:
    overwrite(path, made(path.with_name("other.db"), 200).read_bytes())


def backup_over(path: Path) -> None:
    copy = path.with_name("copy.db")
    back_up(path, copy, 1)
    overwrite(path, copy.read_bytes())


def earlier_over(path: Path) -> None:
    """Copy a database in WAL mode, whose head differs from ours in counters alone, after a checkpoint by others."""
    with apsw.Connection(str(path)) as other:
        other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    time.sleep(0.2)
    other_file = made(path.with_name("other.db"), 60)
    assert other_file.read_bytes()[18:20] == b"\x02\x02"
    overwrite(path, other_file.read_bytes())


FAULTS: dict[str, Fault] = {
    "database deleted": Path.unlink,
    "log deleted": lambda path: log(path).unlink(),
    "shared index deleted": lambda path: shared(path).unlink(),
    "all deleted": delete_all,
    "database moved": lambda path: path.rename(path.with_name("moved.db")) and None,
    "another moved there": replace,
    "another copied over it": copy_over,
    "a backup copied over it": backup_over,
    "another in WAL mode copied over it": earlier_over,
    "database cut to nothing": lambda path: os.truncate(path, 0),
    "database cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "database overwritten with junk": junk,
    "log cut to nothing": lambda path: os.truncate(log(path), 0),
    "log overwritten with junk": lambda path: junk(log(path)),
    "log replaced by that of another": lambda path: overwrite(log(path), other_log(path)),
}


def other_log(path: Path) -> bytes:
    other = path.with_name("other.db")
    with Engine(FileDatabase(other), None, ticking()) as engine:
        for number in range(50):
            engine.owner.write.add("default", [Draft(content=f"other {number}")], on_conflict="keep")
        return log(other).read_bytes()


@dataclass
class Writers:
    """Threads that add memories with unique numbers. `kept` has the numbers of the acknowledged ones."""

    url: str
    began: dict[int, float] = field(default_factory=dict[int, float])
    kept: list[int] = field(default_factory=list[int])
    codes: list[str] = field(default_factory=list[str])
    stopping: threading.Event = field(default_factory=threading.Event)

    def run(self, first: int) -> None:
        with httpx.Client(base_url=self.url, trust_env=False, timeout=30) as http:
            for number in range(first, first + 100_000):
                if self.stopping.is_set():
                    return
                self.began[number] = time.monotonic()
                try:
                    answer = http.post(MEMORIES, json={"content": f"number {number} end"})
                except httpx.TransportError:
                    return
                if answer.status_code == 201:
                    self.kept.append(number)
                else:
                    self.codes.append(answer.json()["code"])
                    time.sleep(0.01)


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with Server(folder / "muisti.db") as running:
        yield running


def until(what: Callable[[], bool]) -> bool:
    ends = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def found_in(path: Path) -> set[str]:
    """The texts in the file that the path names; none when there is no sound database."""
    if not path.exists():
        return set()
    try:
        database = FileDatabase(path, readers=1)
    except MuistiError:
        return set()
    try:
        assert database.read([Statement("PRAGMA integrity_check")]) == [[("ok",)]]
        return {str(row[0]) for row in database.read([Statement("SELECT content FROM versions")])[0]}
    except (MuistiError, BadStatement):
        return set()
    finally:
        database.close()


@pytest.mark.prove
@pytest.mark.parametrize("name", FAULTS)
def test_after_a_fault_of_the_files_nothing_is_acknowledged_that_is_lost(folder: Path, server: Server, name: str):
    path = folder / "muisti.db"
    writers = Writers(server.url)
    threads = [threading.Thread(target=writers.run, args=(100_000 * each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    assert until(lambda: len(writers.kept) >= BEFORE)
    FAULTS[name](path)
    at = time.monotonic()
    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:

        def refused() -> bool:
            return bool(writers.codes) and http.get("/readyz").json().get("code") in REFUSALS

        assert until(refused), (writers.codes[:3], http.get("/readyz").text)
        listed = http.get(MEMORIES)
        assert listed.status_code in (500, 503) and listed.json()["code"] in REFUSALS, (
            writers.codes[:3],
            listed.text[:99],
        )
        writers.codes.clear()
        assert until(lambda: len(writers.codes) > 5), http.get("/readyz").text
        assert set(writers.codes) <= set(REFUSALS)
    writers.stopping.set()
    for thread in threads:
        thread.join()
    server.stop()
    promised = {f"number {number} end" for number in writers.kept if writers.began[number] > at}
    assert promised <= found_in(path)


def test_a_file_that_comes_back_is_used_again(folder: Path, server: Server):
    path, away = folder / "muisti.db", folder / "away.db"
    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:
        assert http.post(MEMORIES, json={"content": "before"}).status_code == 201
        path.rename(away)
        refused = http.post(MEMORIES, json={"content": "meanwhile"})
        assert (refused.status_code, refused.json()["code"]) == (503, "store_replaced")
        assert http.get("/readyz").status_code == 503
        away.rename(path)
        assert http.get("/readyz").status_code == 200
        assert http.post(MEMORIES, json={"content": "after"}).status_code == 201
    server.stop()
    assert {"before", "after"} <= found_in(path)


def test_a_log_does_not_enter_the_database_that_took_the_place_of_its_own(folder: Path, server: Server):
    path = folder / "muisti.db"
    with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http:
        for number in range(50):
            assert http.post(MEMORIES, json={"content": f"number {number}"}).status_code == 201
        backup_over(path)
        assert http.post(MEMORIES, json={"content": "later"}).status_code == 503
    server.stop()
    assert found_in(path) == {f"number {number}" for number in range(50)}
    assert list(folder.glob("muisti.db.left-*-wal"))


def test_a_backup_is_restored_beside_the_log_of_a_deleted_database(folder: Path):
    path, copy, lost = folder / "muisti.db", folder / "copy.db", folder / "lost.db"
    with Engine(FileDatabase(path), None, ticking()) as engine:
        engine.owner.write.add("default", [Draft(content="kept")])
    back_up(path, copy, 1)
    with Engine(FileDatabase(path), None, ticking()) as engine:
        for number in range(200):
            engine.owner.write.add("default", [Draft(content=f"not in the backup {number}")], on_conflict="keep")
        shutil.copy(log(path), log(lost))
    restore(copy, lost, 2)
    assert found_in(lost) == {"kept"}


def test_another_process_may_checkpoint_touch_and_write(folder: Path):
    """None of this is a reason to refuse."""
    path = folder / "muisti.db"
    with Engine(FileDatabase(path), None, ticking()) as engine, Engine(FileDatabase(path), None, ticking()) as other:
        for number in range(60):
            engine.owner.write.add("default", [Draft(content=f"one {number} " + "word " * 50)], on_conflict="keep")
            other.owner.write.add("default", [Draft(content=f"other {number} " + "word " * 50)], on_conflict="keep")
            if number % 5 == 0:
                with apsw.Connection(str(path)) as third:
                    mode = (apsw.SQLITE_CHECKPOINT_PASSIVE, apsw.SQLITE_CHECKPOINT_TRUNCATE)[number % 2]
                    third.wal_checkpoint(mode=mode)
            if number % 7 == 0:
                os.utime(path)
            engine.check()
        assert len(engine.owner.read.list("default", limit=100).items) == 100


@pytest.mark.parametrize("spoil", [junk, lambda path: os.truncate(path, 8_192)], ids=["junk", "cut"])
def test_damage_that_is_met_stops_writes_and_readiness(folder: Path, spoil: Fault, monkeypatch: pytest.MonkeyPatch):
    """Also where the change of the file itself goes unnoticed."""
    path = folder / "muisti.db"
    made(path, 300)
    database = FileDatabase(path)
    with apsw.Connection(str(path)) as other:
        assert other.execute("SELECT count(*) FROM versions").get
    try:
        monkeypatch.setattr("muisti.core.store.file.opened_files.OpenedFiles.check", lambda *_, **__: None)
        head = path.read_bytes()[:100]
        spoil(path)
        with path.open("r+b") as file:
            file.write(head)
        with pytest.raises(StoreCorrupt):
            database.read([Statement("SELECT content FROM versions")])
        with pytest.raises(StoreCorrupt, match="doctor"):
            database.write([Statement("DELETE FROM checkpoints")])
        with pytest.raises(StoreCorrupt, match="doctor"):
            database.check()
    finally:
        database.close()


def test_a_table_that_is_gone_is_damage_and_one_that_never_was_is_an_error(folder: Path):
    """Pages of another log may look like an earlier schema; the pages of the table are still there."""
    path = folder / "muisti.db"
    made(path, 3)
    database = FileDatabase(path)
    try:
        with pytest.raises(BadStatement):
            database.read([Statement("SELECT 1 FROM never")])
        database.check()
        with apsw.Connection(str(path)) as other:
            other.pragma("writable_schema", True)
            other.execute("DELETE FROM sqlite_schema WHERE name = 'tasks'")
            other.pragma("schema_version", int(str(other.pragma("schema_version"))) + 1)
        with pytest.raises(StoreCorrupt):
            database.read([Statement("SELECT 1 FROM tasks")])
        with pytest.raises(StoreCorrupt, match="doctor"):
            database.write([Statement("DELETE FROM checkpoints")])
    finally:
        database.close()


def test_a_reader_does_not_open_the_database_that_took_the_place(folder: Path):
    path = folder / "muisti.db"
    made(path, 3)
    database = FileDatabase(path)  # no reader is open yet
    replace(path)
    with pytest.raises(StoreReplaced):
        database.read([Statement("SELECT count(*) FROM versions")])
    database.close()
    assert len(found_in(path)) == 30
