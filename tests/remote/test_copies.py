"""Copies of a whole database between files and servers: nothing is lost, nothing half is used, nothing erased comes."""

import shutil
import threading
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.graph.model import EntityChange
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Conflict, NotFound, StoreUnavailable
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.query import Query
from muisti.core.store.backup import back_up, checked, restore
from muisti.core.store.copying import FileSide, Side, carry
from muisti.core.store.database import Rows, Statement
from muisti.core.support.meters import silent
from tests.core.fakes import NOON, SPACE, add, open_engine
from tests.durability.test_backup import busy, rows_at
from tests.graph.plain import toy_reader
from tests.stores import FileStore, RemoteStore

# What one side or the other might not keep.
INTEGERS = (2**53 + 1, 2**63 - 1, -(2**63), 0)
FLOATS = (0.1 + 0.2, -5e-324, 1e300)
TEXTS = ("\x00 ' \" ? ünï \U0001f40c", "", "9", "x" * 400_000)
BLOBS = (b"", b"\x00\xff", bytes(range(256)) * 8_000)
THINGS = Statement("SELECT type, name, sql FROM sqlite_master WHERE tbl_name <> 'muisti_writes' ORDER BY name")


def rich(path: Path) -> FileStore:
    """A database with rows in every table."""
    store = FileStore(path)
    with open_engine(store) as engine:
        ids = add(engine, *(f"the house number {n} by the river" for n in range(50)))
        engine.owner.write.update(SPACE, ids[0], {"content": "the house was sold", "tags": ("a", "B")})
        engine.owner.write.delete(SPACE, ids[1])
        engine.owner.write.add(
            SPACE, [Draft(content="x", metadata={"n": 2**53 + 1, "f": 0.1 + 0.2})], on_conflict="keep"
        )
        engine.owner.timeline.fork(SPACE, "try")
    with closing(apsw.Connection(str(path))) as connection, connection:
        empty = [table for table in _tables(connection) if not connection.execute(f"SELECT 1 FROM {table}").fetchall()]
        for _ in range(3):  # some refer to others
            empty = [table for table in empty if not _invented(connection, table)]
        assert not empty
        for number, value in enumerate((*INTEGERS, *FLOATS, *TEXTS, *BLOBS)):
            sql = "INSERT INTO metadata SELECT min(id), 'odd', ?, 'text', ? FROM versions"
            connection.execute(sql, (number, value))
        connection.execute("UPDATE sqlite_sequence SET seq = seq + 1000 WHERE name = 'versions'")
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    return store


def _tables(connection: apsw.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [str(name) for (name,) in found]


def _invented(connection: apsw.Connection, table: str) -> bool:
    """Put a row into a table; not while one that it refers to is empty."""
    references = connection.execute(f"PRAGMA foreign_key_list({table})").fetchall()
    refers = {row[3]: "NULL" if row[2] == table else f"(SELECT min({row[4]}) FROM {row[2]})" for row in references}
    if any(sql != "NULL" and connection.execute(f"SELECT {sql}").get is None for sql in refers.values()):
        return False
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    given = {"INTEGER": INTEGERS[0], "REAL": FLOATS[0], "TEXT": TEXTS[0], "BLOB": BLOBS[1], "ANY": BLOBS[1]}
    values = [refers.get(name, "?") for _, name, *_ in columns]
    args = [given[str(type_)] for _, name, type_, *_ in columns if name not in refers]
    if table == "placement":  # one row
        args[0] = 0
    connection.execute(f"INSERT INTO {table} VALUES ({', '.join(values)})", args)
    return True


def dump(side: Side) -> dict[str, Rows]:
    """All that is there: tables, indexes, triggers, and every row."""
    things = [row for _, row in side.stream([THINGS])]
    tables = [str(name) for type_, name, _ in things if type_ == "table"]
    rows: dict[str, Rows] = {table: [] for table in tables}
    for place, row in side.stream([Statement(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]):
        rows[tables[place]].append(row)
    return rows | {"": [row for row in things if not str(row[1]).startswith("sqlite_")]}


class Cut:
    """One side of a copy, which fails after a number of writes."""

    def __init__(self, side: Side, writes: int) -> None:
        self._side, self.left = side, writes
        self.stream = side.stream

    def write(self, statements: Sequence[Statement]) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoreUnavailable("cut")
        self._side.write(statements)


@pytest.fixture
def target(sqld: Sqld) -> RemoteStore:
    return RemoteStore(sqld)


def test_every_row_of_every_table_comes_to_the_server_and_back(sqld: Sqld, target: RemoteStore, tmp_path: Path):
    store, again = rich(tmp_path / "m.db"), RemoteStore(sqld)
    with (
        closing(apsw.Connection(str(store.path))) as here,
        closing(apsw.Connection(str(tmp_path / "back.db"))) as back,
        closing(target.open()) as there,
        closing(again.open()) as other,
    ):
        carry(FileSide(here), there, silent)
        carry(there, other, silent)
        carry(other, FileSide(back), silent)
        known = dump(FileSide(here))
        assert all(known.values())  # no table is empty
        assert dump(there) == known and dump(other) == known and dump(FileSide(back)) == known


def test_a_server_answers_from_a_copy_as_the_file_did(target: RemoteStore, tmp_path: Path):
    store = FileStore(tmp_path / "m.db")
    with open_engine(store) as engine:
        add(engine, *(f"the house number {n} by the river" for n in range(40)))
        back_up(store.path, tmp_path / "copy.db", NOON)
        asked = Query(text="number 7", reference_time=NOON)
        expected = [(hit.memory, hit.score) for hit in engine.owner.read.search(SPACE, asked).hits]
        stamp = restore(tmp_path / "copy.db", target.open(), NOON)
        with open_engine(target) as there:
            assert [(hit.memory, hit.score) for hit in there.owner.read.search(SPACE, asked).hits] == expected
            assert there.spaces.get(SPACE).at == stamp.spaces[SPACE] != engine.spaces.get(SPACE).at  # another epoch
            add(there, "and goes on")


def test_half_a_copy_is_no_database(sqld: Sqld, tmp_path: Path):
    """Before the last write the copy cannot be opened, and nothing can be copied into or out of it."""
    store = FileStore(tmp_path / "m.db")
    with open_engine(store) as engine:
        add(engine, "a heron by the lake")
    with closing(apsw.Connection(str(store.path))) as here, closing(apsw.Connection(":memory:")) as there:
        counting = Cut(FileSide(there), 1_000)
        carry(FileSide(here), counting, silent)
        for writes in (1, 3, 1_000 - counting.left - 1):
            broken = RemoteStore(sqld)
            with closing(broken.open()) as database:
                with pytest.raises(StoreUnavailable, match="cut"):
                    carry(FileSide(here), Cut(database, writes), silent)
                with pytest.raises(Conflict, match="an unfinished copy"):
                    open_engine(broken)
                with pytest.raises(Conflict, match="an unfinished copy"):
                    carry(FileSide(here), database, silent)
                with pytest.raises(Conflict, match="an unfinished copy"):
                    back_up(database, tmp_path / "half.db", NOON)
    assert not (tmp_path / "half.db").exists()


def test_a_copy_goes_into_an_empty_database_only(target: RemoteStore, sqld: Sqld, tmp_path: Path):
    store = FileStore(tmp_path / "m.db")
    with open_engine(store) as engine:
        add(engine, "from the file")
    with open_engine(target) as engine:
        (kept,) = add(engine, "was here before")
        with pytest.raises(Conflict, match="name an empty one"):
            restore(store.path, target.open(), NOON)
        assert [one.id for one in engine.owner.read.list(SPACE).items] == [kept]
    with pytest.raises(NotFound):
        back_up(RemoteStore(sqld).open(), tmp_path / "none.db", NOON)
    assert not (tmp_path / "none.db").exists()


def test_a_backup_of_a_server_under_load_is_the_state_at_its_stamp(target: RemoteStore, tmp_path: Path):
    with open_engine(target) as engine:
        done = threading.Event()
        writers = [threading.Thread(target=busy, args=(engine, seed, done)) for seed in range(2)]
        for writer in writers:
            writer.start()
        stamps = [back_up(target.open(), tmp_path / f"{n}.db", NOON).spaces[SPACE] for n in range(2)]
        done.set()
        for writer in writers:
            writer.join()
        back_up(target.open(), tmp_path / "last.db", NOON)
    assert stamps[-1].number > stamps[0].number > 0
    for number, stamp in enumerate(stamps):
        assert checked(tmp_path / f"{number}.db").spaces[SPACE] == stamp
        assert rows_at(tmp_path / f"{number}.db", stamp.number) == rows_at(tmp_path / "last.db", stamp.number)


@pytest.mark.prove
def test_after_a_move_into_another_namespace_no_byte_of_what_was_purged_is_left(sqld: Sqld, tmp_path: Path):
    """The steps of the runbook: purge, copy, delete the old namespace, empty the replica's folder."""
    word = f"canary{uuid.uuid4().hex}"  # other tests have theirs on the same server

    def copies(folder: Path) -> dict[str, int]:
        """Count the word in each file that contains it."""
        found = {
            str(file): file.read_bytes().lower().count(word.encode()) for file in folder.rglob("*") if file.is_file()
        }
        return {file: count for file, count in found.items() if count}

    replica = Sqld(tmp_path / "replica", primary=sqld)
    with replica:
        old, new = RemoteStore(sqld, replica), RemoteStore(sqld, replica)
        with open_engine(old, graph_reader=toy_reader) as engine:
            add(engine, *(f"the house number {n} by the river" for n in range(40)))
            draft = Draft(
                content=f"a {word} sang to {word.capitalize()} " * 50,
                category=f"c {word}",
                tags=(f"t {word}",),
                source=word,
            )
            (bird,) = engine.owner.write.add(
                SPACE, [draft], on_conflict="keep", request=RequestKey("s", "k", b"")
            ).memories
            engine.owner.write.update(SPACE, bird.id, {"content": f"last {word.capitalize()} of the river " * 50})
            engine.owner.read.list(SPACE)
            named = engine.owner.graph.put_entity(SPACE, "Ann", EntityChange(aliases=(f"{word}s",))).memories[0]
            assert engine.owner.graph.entity(SPACE, word).entity.mentions == 1
            for memory_id in (bird.id, named.id):
                assert engine.eraser.memory(SPACE, memory_id, OWNER).complete
            with pytest.raises(NotFound):
                engine.owner.graph.entity(SPACE, word)
            kept = engine.owner.read.list(SPACE, limit=100).items
            expected = [(hit.memory, hit.score) for hit in engine.owner.read.search(SPACE, Query(text="number 7")).hits]
        assert copies(sqld.folder) and copies(replica.folder)  # in the logs, at least
        back_up(old.alone().open(), tmp_path / "copy.db", NOON)
        restore(tmp_path / "copy.db", new.alone().open(), NOON)
        assert word.encode() not in (tmp_path / "copy.db").read_bytes()
        sqld.delete(old.namespace)
        assert copies(sqld.folder) == {}
        replica.stop()
        shutil.rmtree(replica.folder)
        replica.start()
        for store in (new, new.alone()):
            with open_engine(store) as engine:
                assert engine.owner.read.list(SPACE, limit=100).items == kept
                assert [
                    (hit.memory, hit.score) for hit in engine.owner.read.search(SPACE, Query(text="number 7")).hits
                ] == expected
                for mode in ("keyword", "semantic", "hybrid"):
                    hits = engine.owner.read.search(
                        SPACE, Query(text=f"last {word} of the river", mode=mode, limit=50)
                    ).hits
                    assert bird.id not in {hit.memory.id for hit in hits}
        assert copies(sqld.folder) == {} == copies(replica.folder)
