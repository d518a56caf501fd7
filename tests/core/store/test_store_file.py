"""Promises of the file database alone: group commit, its write-ahead log, and the file itself."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from muisti.core.model.errors import StoreCorrupt, StoreUnavailable
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.migrate import migrate
from tests.core.store.test_store import generation, names


@pytest.fixture
def database(tmp_path: Path) -> Iterator[FileDatabase]:
    opened = FileDatabase(tmp_path / "muisti.db")
    migrate(opened, 1)
    yield opened
    opened.close()


def test_waiting_writes_share_commits(database: FileDatabase):
    """200 writes of 32 threads take fewer syncs than writes: the log shows it by its commits."""
    syncs = 0

    def traced(*_: object) -> None:
        nonlocal syncs
        syncs += 1

    database._writer.connection.set_commit_hook(lambda: traced() or 0)  # pyright: ignore[reportPrivateUsage]  # not what we count
    groups = database.meters.group_writes
    before = groups.read()[()]
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda n: database.write([generation(f"g{n}")]), range(200)))
    assert 0 < syncs < 200
    after = groups.read()[()]
    assert (after.up_to[-1] - before.up_to[-1], after.total - before.total) == (syncs, 200)


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


def test_what_is_no_database_of_ours_is_refused_and_a_new_one_is_for_its_owner_only(tmp_path: Path):
    theirs = apsw.Connection(str(tmp_path / "theirs.db"))
    theirs.execute("CREATE TABLE t (x)")
    theirs.close()
    with pytest.raises(StoreCorrupt, match="another program"):
        FileDatabase(tmp_path / "theirs.db")
    (tmp_path / "notes.db").write_text("dear diary, " * 500)
    with pytest.raises(StoreCorrupt):
        FileDatabase(tmp_path / "notes.db")
    with pytest.raises(StoreUnavailable):
        FileDatabase(tmp_path)
    FileDatabase(tmp_path / "muisti.db").close()
    assert (tmp_path / "muisti.db").stat().st_mode & 0o077 == 0


def test_commits_are_synced_and_foreign_keys_hold(database: FileDatabase):
    writer = database._writer.connection  # pyright: ignore[reportPrivateUsage]  # these cannot be seen from outside
    assert (writer.pragma("synchronous"), writer.pragma("journal_mode"), writer.pragma("foreign_keys")) == (2, "wal", 1)
