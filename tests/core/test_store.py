"""The file database keeps its promises: atomic batches, independent neighbours, one snapshot a read."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from core.errors import SchemaTooNew, StoreCorrupt, StoreUnavailable
from core.store.database import Refused, Statement
from core.store.file import FileDatabase
from core.store.migrate import migrate, migrations

REFUSE = Statement("INSERT INTO refuse SELECT 'stale' WHERE 1")


def generation(name: str) -> Statement:
    return Statement("INSERT INTO generations (hash, model, dimensions, created_at) VALUES (?, 'm', 1, 1)", (name,))


def names(database: FileDatabase) -> set[object]:
    return {row[0] for row in database.read([Statement("SELECT hash FROM generations")])[0]}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[FileDatabase]:
    opened = FileDatabase(tmp_path / "muisti.db")
    migrate(opened, 1)
    yield opened
    opened.close()


def test_a_refused_batch_leaves_nothing_and_says_what_refused_it(database: FileDatabase):
    with pytest.raises(Refused) as refused:
        database.write([generation("a"), REFUSE])
    assert (refused.value.code, refused.value.statement, names(database)) == ("stale", 1, set())


def test_a_violated_constraint_is_a_refusal(database: FileDatabase):
    with pytest.raises(Refused) as refused:
        database.write([generation("a"), generation("a")])
    assert refused.value.code == "constraint"


def test_one_refusal_never_undoes_its_neighbours(database: FileDatabase):
    def attempt(n: int) -> str:
        try:
            database.write([generation(f"g{n}"), *([REFUSE] if n % 3 == 0 else [])])
        except Refused:
            return "refused"
        return f"g{n}"

    with ThreadPoolExecutor(32) as pool:
        outcomes = set(pool.map(attempt, range(200)))
    assert outcomes - {"refused"} == names(database) == {f"g{n}" for n in range(200) if n % 3}


def test_waiting_writes_share_commits(database: FileDatabase):
    """200 writes of 32 threads take fewer syncs than writes: the log shows it by its commits."""
    syncs = 0

    def traced(*_: object) -> None:
        nonlocal syncs
        syncs += 1

    database._writer.set_commit_hook(lambda: traced() or 0)  # pyright: ignore[reportPrivateUsage]  # nothing else tells
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda n: database.write([generation(f"g{n}")]), range(200)))
    assert 0 < syncs < 200


def test_a_read_sees_one_point_in_time(database: FileDatabase):
    """While pairs are written, no read sees half a pair between its two statements."""
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            database.write([generation(f"a{n}"), generation(f"b{n}")])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(100):
            first = Statement("SELECT count(*) FROM generations WHERE hash LIKE 'a%'")
            second = Statement("SELECT count(*) FROM generations WHERE hash LIKE 'b%'")
            (a,), (b,) = database.read([first, second])
            assert a == b
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("value", ["\ud800", 2**70, object()])
def test_a_value_that_sqlite_cannot_hold_fails_alone(database: FileDatabase, value: object):
    bad = Statement("SELECT ?", (value,))  # pyright: ignore[reportArgumentType]  # that is the point
    with pytest.raises((TypeError, ValueError, OverflowError)):
        database.write([generation("a"), bad])
    database.write([generation("b")])
    assert names(database) == {"b"}


def test_a_closed_database_refuses(database: FileDatabase):
    database.close()
    with pytest.raises(StoreUnavailable):
        database.write([generation("a")])


def test_closing_finishes_waiting_writes(tmp_path: Path):
    database = FileDatabase(tmp_path / "muisti.db")
    migrate(database, 1)
    with ThreadPoolExecutor(16) as pool:
        waiting = [pool.submit(database.write, [generation(f"g{n}")]) for n in range(16)]
        for future in waiting:
            future.result()
        database.close()
    again = FileDatabase(tmp_path / "muisti.db")
    assert len(names(again)) == 16
    again.close()


def test_a_newer_schema_is_refused_and_left_alone(database: FileDatabase, tmp_path: Path):
    number = len(migrations()) + 1
    database.write([Statement("INSERT INTO schema_migrations VALUES (?, 'later.sql', 1)", (number,))])
    with pytest.raises(SchemaTooNew, match=f"schema {number}"):
        migrate(database, 2)


def test_migrating_twice_or_from_two_processes_changes_nothing(database: FileDatabase, tmp_path: Path):
    other = FileDatabase(tmp_path / "muisti.db")
    migrate(other, 2)
    migrate(database, 3)
    other.close()
    (rows,) = database.read([Statement("SELECT count(*) FROM schema_migrations")])
    assert rows == [(len(migrations()),)]


def test_another_programs_database_is_refused(tmp_path: Path):
    theirs = apsw.Connection(str(tmp_path / "theirs.db"))
    theirs.execute("CREATE TABLE t (x)")
    theirs.close()
    with pytest.raises(StoreCorrupt, match="another program"):
        FileDatabase(tmp_path / "theirs.db")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    (tmp_path / "notes.db").write_text("dear diary, " * 500)
    with pytest.raises(StoreCorrupt):
        FileDatabase(tmp_path / "notes.db")


def test_a_folder_is_no_database(tmp_path: Path):
    with pytest.raises(StoreUnavailable):
        FileDatabase(tmp_path)


def test_a_new_file_is_for_its_owner_only(tmp_path: Path):
    FileDatabase(tmp_path / "muisti.db").close()
    assert (tmp_path / "muisti.db").stat().st_mode & 0o077 == 0


def test_commits_are_synced_and_foreign_keys_hold(database: FileDatabase):
    writer = database._writer  # pyright: ignore[reportPrivateUsage]  # these cannot be seen from outside
    assert (writer.pragma("synchronous"), writer.pragma("journal_mode"), writer.pragma("foreign_keys")) == (2, "wal", 1)
