"""On a full or failing disk the write is refused, nothing is half stored, and the store keeps working."""

import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn, cast

import apsw
import pytest

from muisti.core.engine import Engine
from muisti.core.model.errors import StoreFailing, StoreFull, StoreUnavailable
from muisti.core.model.values import Draft
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.file.database import FileDatabase
from tests.durability.clients import ticking
from tests.durability.faulty_vfs import Fault, FaultyDisk, Operation

pytestmark = pytest.mark.prove


NAME = "muisti.db"
CHECKPOINT_PAGES = 25
WRITERS = 8

Kind = tuple[Operation, type[apsw.Error], type[StoreUnavailable]]
WRITE_FULL: Kind = ("write", apsw.FullError, StoreFull)
WRITE: Kind = ("write", apsw.IOError, StoreFailing)
SYNC: Kind = ("sync", apsw.IOError, StoreFailing)
TRUNCATE: Kind = ("truncate", apsw.IOError, StoreFailing)
READ: Kind = ("read", apsw.IOError, StoreFailing)


def named(value: "Kind | bool") -> str:
    if isinstance(value, bool):
        return "until mended" if value else "once"
    return f"{value[0]} {value[1].__name__}"


class Script:
    """One client and the replies it got. `contents` are those that must be in the store, by id."""

    def __init__(self) -> None:
        self.contents: dict[str, str] = {}
        self.refusals: list[StoreUnavailable] = []

    def run(self, path: Path, disk: FaultyDisk) -> None:
        """Open and write; then mend the disk, write once more, keep a copy of what a kill would leave, and close."""
        engine = self._open(path, disk)
        for step in range(6):
            self._try(engine, step)
        disk.mend()
        refused = len(self.refusals)
        self._try(engine, 6)
        assert len(self.refusals) == refused, "the disk is whole again and the store is not"
        for file in (path, wal(path)):
            shutil.copy(file, path.parent / f"killed-{file.name}")
        engine.close()

    def _open(self, path: Path, disk: FaultyDisk) -> Engine:
        try:
            return started(path, disk)
        except StoreUnavailable as refusal:
            self.refusals.append(refusal)
        disk.mend()
        return started(path, disk)

    def _try(self, engine: Engine, step: int) -> None:
        try:
            self._do(engine, step)
        except StoreUnavailable as refusal:
            self.refusals.append(refusal)

    def _do(self, engine: Engine, step: int) -> None:
        known = list(self.contents)
        if step == 2 and known:
            text = f"changed in step {step}"
            engine.owner.write.update("default", known[0], {"content": text})
            self.contents[known[0]] = text
        elif step == 4 and known:
            engine.owner.write.delete("default", known[0])
            del self.contents[known[0]]
        else:
            drafts = [Draft(content=f"step {step} part {part} " + "word " * 50) for part in range(3)]
            for memory in engine.owner.write.add("default", drafts).memories:
                self.contents[memory.id] = memory.content


def started(path: Path, disk: FaultyDisk) -> Engine:
    database = FileDatabase(path, vfs=disk.name, checkpoint_pages=CHECKPOINT_PAGES, readers=2)
    try:
        return Engine(database, None, ticking())
    except StoreUnavailable:
        database.close()
        raise


def assert_kept(path: Path, contents: dict[str, str]) -> None:
    """An ordinary start finds a sound file with these memories and no others."""
    database = FileDatabase(path, readers=1)
    integrity, foreign = database.read([Statement("PRAGMA integrity_check"), Statement("PRAGMA foreign_key_check")])
    assert integrity == [("ok",)] and foreign == []
    with Engine(database, None, ticking()) as engine:
        assert {memory.id: memory.content for memory in engine.owner.read.list("default", limit=100).items} == contents


def wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


@pytest.fixture
def stride(long: bool) -> int:
    """Return the distance between the calls that fail; 1 with `--long`."""
    return 1 if long else 5


def sweep(folder: Path, base: bytes | None, kind: Kind, stride: int, *, lasting: bool) -> tuple[int, int]:
    """Let the first call fail, then the one a `stride` later, until a run meets no fault. Gives runs and refusals."""
    operation, error, expected = kind
    runs = refusals = 0
    with FaultyDisk(f"faulty {folder.name}") as disk:
        while True:
            runs += 1
            path = folder / str(runs) / NAME
            path.parent.mkdir()
            if base is not None:
                path.write_bytes(base)
            disk.break_down(Fault(operation, 1 + (runs - 1) * stride, error, lasting))
            script = Script()
            script.run(path, disk)
            assert all(type(refusal) is expected for refusal in script.refusals)
            assert_kept(path if runs % 2 else path.with_name(f"killed-{NAME}"), script.contents)
            shutil.rmtree(path.parent)
            refusals += len(script.refusals)
            if not disk.failed:
                return runs, refusals


@pytest.fixture
def base(folder: Path) -> bytes:
    """A database that is ready, and empty."""
    path = folder / "base" / NAME
    path.parent.mkdir()
    Engine(FileDatabase(path), None, ticking()).close()
    return path.read_bytes()


@pytest.mark.parametrize(
    "kind, lasting",
    [(WRITE_FULL, True), (WRITE, False), (SYNC, False), (SYNC, True), (TRUNCATE, False), (READ, False), (READ, True)],
    ids=named,
)
def test_wherever_the_disk_fails_what_was_acknowledged_is_kept_and_no_more(
    folder: Path, base: bytes, kind: Kind, lasting: bool, stride: int
):
    runs, refusals = sweep(folder, base, kind, stride, lasting=lasting)
    assert runs > 1 and (refusals > 0 or kind == TRUNCATE)  # of a log that a checkpoint has emptied: nobody need know


@pytest.mark.parametrize("kind", [WRITE_FULL, SYNC, TRUNCATE, READ], ids=named)
def test_wherever_the_disk_fails_while_the_database_is_made_the_next_start_makes_it(
    folder: Path, kind: Kind, stride: int
):
    runs, refusals = sweep(folder, None, kind, stride, lasting=False)
    assert runs > 1 and (refusals > 0 or kind == TRUNCATE)


def test_a_full_disk_refuses_every_waiting_writer_and_then_takes_them_all(folder: Path):
    with FaultyDisk("full") as disk, ThreadPoolExecutor(WRITERS) as pool:
        engine = started(folder / NAME, disk)
        disk.break_down(Fault("write", 1, apsw.FullError, lasting=True))
        drafts = [[Draft(content=f"writer {number}")] for number in range(WRITERS)]
        refused = [pool.submit(engine.owner.write.add, "default", draft) for draft in drafts]
        assert {type(each.exception()) for each in refused} == {StoreFull}
        assert engine.owner.read.list("default").items == ()
        disk.mend()
        written = list(pool.map(lambda draft: engine.owner.write.add("default", draft).memories[0], drafts))
        engine.close()
    assert_kept(folder / NAME, {memory.id: memory.content for memory in written})


class Unreadable(Sequence[Scalar]):
    """Arguments that break whoever reads them, once all writers are there."""

    def __init__(self, ready: threading.Barrier) -> None:
        self._ready = ready

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: object) -> NoReturn:
        self._ready.wait()
        raise RuntimeError("nobody expects this")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the writer's: it shall be heard
def test_an_unexpected_error_in_the_writer_leaves_nobody_waiting(folder: Path):
    ready = threading.Barrier(WRITERS + 1)
    database = FileDatabase(folder / NAME)
    database.write([Statement("CREATE TABLE t (number INTEGER)")])

    def write(number: int) -> None:
        ready.wait()
        database.write([Statement("INSERT INTO t VALUES (?)", (number,))])

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        broken = cast(tuple[Scalar, ...], Unreadable(ready))
        writes = [pool.submit(database.write, [Statement("INSERT INTO t VALUES (?)", broken)])]
        writes += [pool.submit(write, number) for number in range(WRITERS)]
        assert {type(each.exception()) for each in writes} == {StoreUnavailable}
    with pytest.raises(StoreUnavailable, match="restart"):
        database.write([Statement("INSERT INTO t VALUES (1)")])
    assert database.read([Statement("SELECT count(*) FROM t")]) == [[(0,)]]
    database.close()
