"""An index that was saved in a file is the index that its rows make, and no file is used that differs in any byte."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.index import cache, mapped
from muisti.core.index.mapped import BLOCK, NEW
from muisti.core.index.rows import Rows
from muisti.core.index.space_index import SpaceIndex
from muisti.core.model.ids import id_bytes
from muisti.core.query.filters import Subject
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.sql import index_rows
from muisti.core.text.terms import ANALYZER
from tests.core.fakes import NOON, SPACE, add, open_engine
from tests.core.index.test_packing import WORDS, assert_same, changed, space_of
from tests.stores import FileStore


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mapped, "LEAST", 1)
    monkeypatch.setattr(cache, "SOME", 1)


@pytest.fixture
def place(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "muisti.db")


@pytest.fixture
def engine(place: FileStore) -> Iterator[Engine]:
    with open_engine(place) as opened:
        yield opened


@pytest.fixture
def database(place: FileStore, engine: Engine) -> Iterator[FileDatabase]:
    with closing(place.open()) as opened:
        yield opened


def loaded(database: FileDatabase) -> SpaceIndex:
    return SpaceIndex(database, space_of(database))


def built(database: FileDatabase) -> SpaceIndex:
    """The index without any file."""
    folder = database.indexes
    assert folder is not None
    aside = folder.with_name("aside")
    folder.rename(aside)
    try:
        index = loaded(database)
        assert not is_mapped(index)
        return index
    finally:
        aside.rename(folder)


def is_mapped(index: SpaceIndex) -> bool:
    return index.unsaved < index.snapshot.seq.number


def files(database: FileDatabase) -> list[Path]:
    assert database.indexes is not None
    return sorted(database.indexes.iterdir()) if database.indexes.is_dir() else []


@pytest.mark.parametrize("seed", range(3))
def test_a_mapped_index_is_the_index_that_its_rows_make(engine: Engine, database: FileDatabase, seed: int):
    rng = random.Random(seed)
    for _ in range(3):
        changed(engine, rng, 25)
        loaded(database).save()
        changed(engine, rng, rng.randrange(9))
        index = loaded(database)
        assert is_mapped(index) and len(files(database)) == 1
        assert_same(index, built(database))
        changed(engine, rng, 9)  # rows come behind mapped ones, and mapped ones end
        index.refresh(space_of(database).seq.number)
        assert_same(index, built(database))


def test_a_search_of_a_mapped_space_is_the_same_search(place: FileStore):
    rng = random.Random(7)
    queries = [Query(text=" ".join(rng.choices(WORDS, k=3)), explain=True, reference_time=NOON) for _ in range(10)]
    with open_engine(place) as engine:
        changed(engine, rng, 60)
        before = [engine.owner.read.search(SPACE, query).hits for query in queries]
    with open_engine(place) as engine, closing(place.open()) as database:
        assert is_mapped(loaded(database))
        assert [engine.owner.read.search(SPACE, query).hits for query in queries] == before


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FileDatabase, Path, bytes]]:
    """A database, the file with its index, and the content of that."""
    store = FileStore(tmp_path_factory.mktemp("saved") / "muisti.db")
    with open_engine(store) as engine, closing(store.open()) as database:
        changed(engine, random.Random(1), 20)
        loaded(database).save()
        (path,) = files(database)
        yield database, path, path.read_bytes()


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_file_that_differs_in_any_byte_is_refused(saved: tuple[FileDatabase, Path, bytes], data: st.DataObject):
    database, path, whole = saved
    changes = [
        lambda at: whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :],  # flipped
        lambda at: whole[:at],  # torn
        lambda at: whole[:at] + bytes(len(whole) - at) + b"\1",
        lambda at: whole + bytes(at),
        lambda at: whole[BLOCK:] + whole[:BLOCK] if whole[:BLOCK] != whole[BLOCK:] else b"",
    ]
    at = data.draw(
        st.one_of(st.integers(0, 4 * BLOCK), st.integers(0, len(whole) - 1)).filter(lambda n: n < len(whole))
    )
    other = data.draw(st.sampled_from(changes))(at)
    path.write_bytes(other)
    assert is_mapped(loaded(database)) == (other == whole)
    path.write_bytes(whole)
    assert is_mapped(loaded(database))


def test_a_file_of_another_layout_or_analysis_is_refused(
    engine: Engine, database: FileDatabase, monkeypatch: pytest.MonkeyPatch
):
    add(engine, "the stone bridge", "a green garden")
    loaded(database).save()
    for name, other in (("FORMAT", mapped.FORMAT + 1), ("ANALYZER", ANALYZER + "x")):
        with monkeypatch.context() as patched:
            patched.setattr(mapped, name, other)
            assert not is_mapped(loaded(database)), name
    assert is_mapped(loaded(database))


def test_whoever_changes_the_columns_changes_the_format():
    columns = {name: buffer.view().dtype.str for name, buffer in Rows(64).buffers().items()}
    assert (mapped.FORMAT, crc32(repr(columns).encode())) == (1, 625656139)


def test_an_older_copy_of_the_database_refuses_the_file_of_the_newer(place: FileStore):
    with open_engine(place) as engine:
        add(engine, "the stone bridge")
    older = place.path.read_bytes()
    with open_engine(place) as engine:
        add(engine, "a green garden")
        engine.owner.read.search(SPACE, Query(text="garden"))
    place.path.write_bytes(older)
    with open_engine(place) as engine, closing(place.open()) as database:
        add(engine, "a red house")
        index = loaded(database)
        assert len(files(database)) == 1 and not is_mapped(index)
        assert [hit.memory.content for hit in engine.owner.read.search(SPACE, Query(text="house garden")).hits] == [
            "a red house"
        ]


def test_an_erasure_removes_the_file_and_one_from_before_is_not_sealed(engine: Engine, database: FileDatabase):
    (kept, gone) = add(engine, "the stone bridge", "a green garden")
    before = loaded(database)
    before.save()
    engine.eraser.subject(SPACE, Subject(among=(id_bytes(gone),)), {}, OWNER)
    assert not files(database) and not database.read([index_rows.seals()])[0]
    before.save()  # by a process that has not seen the erasure
    assert not files(database)
    loaded(database).save()
    assert_same(loaded(database), built(database))
    engine.spaces.delete(SPACE)
    assert kept and not files(database)


def test_two_processes_save_and_both_go_on(place: FileStore, engine: Engine, database: FileDatabase):
    add(engine, "the stone bridge", "a green garden")
    loaded(database).save()
    one = loaded(database)
    add(engine, "a red house")
    with closing(place.open()) as other:
        loaded(other).save()
    two = loaded(database)
    assert len(files(database)) == 1 and is_mapped(one) and is_mapped(two)
    one.refresh(space_of(database).seq.number)
    assert_same(one, two)
    one.save()
    assert_same(loaded(database), two)


def test_what_a_killed_process_left_is_removed(engine: Engine, database: FileDatabase):
    add(engine, "the stone bridge")
    loaded(database).save()
    assert database.indexes is not None
    code = "import fcntl, sys, time; f = open(sys.argv[1], 'wb'); fcntl.flock(f, 2); print(flush=True); time.sleep(60)"
    path = database.indexes / f"{NEW}1"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as writing:
        assert writing.stdout is not None
        writing.stdout.readline()
        loaded(database).save()
        assert path in files(database)
        os.kill(writing.pid, signal.SIGKILL)
    loaded(database).save()
    assert path not in files(database) and len(files(database)) == 1


def test_a_full_disk_leaves_the_file_out(engine: Engine, database: FileDatabase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mapped, "FREE", 1 << 60)
    add(engine, "the stone bridge")
    loaded(database).save()
    assert not files(database)


def test_a_fork_and_its_source_have_files_of_their_own(engine: Engine, database: FileDatabase):
    add(engine, "the stone bridge", "a green garden")
    loaded(database).save()
    engine.owner.timeline.fork(SPACE, "twin")
    add(engine, "a red house", space="twin")
    assert engine.owner.read.search("twin", Query(text="house")).hits
    engine.settle()
    assert len(files(database)) == 2 and np.array_equal(loaded(database).snapshot.columns.number, [0, 0])
