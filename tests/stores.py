"""Databases for tests, on a file and on sqld: what holds for one must hold for the other."""

import copy
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Protocol

from deploy.cluster.sqld import Sqld
from muisti.core.store.database import Database, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.migrate import migrate
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token


class Store(Protocol):
    """A place for one database, which may be opened several times, also concurrently."""

    def open(self) -> Database: ...


class FileStore:
    """A database in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> FileDatabase:
        return FileDatabase(self.path)


class RemoteStore:
    """A separate database on a server, optionally with a replica. The server makes it before its first use."""

    def __init__(self, sqld: Sqld, replica: Sqld | None = None) -> None:
        self._name, self._is_there, self._making = f"t{uuid.uuid4().hex}", False, Lock()
        self.sqld, self.replica = sqld, replica

    @property
    def namespace(self) -> str:
        """Name of the database, which is there from now on."""
        self._make(lambda: self.sqld.create(self._name))
        return self._name

    def copy_of(self, template: str) -> None:
        """Begin as a copy of another database of the server that nobody uses, unless there is a database already.

        A copy of its files takes sqld a third of the processor time of a fork, which replays the log of it.
        """
        self._make(lambda: self._copy(self.sqld.database(template).parent))

    def _copy(self, source: Path) -> None:
        target = self.sqld.database(self._name).parent
        target.mkdir()
        for name in ("data", "data-wal", "wallog"):
            shutil.copyfile(source / name, target / name)
        self.sqld.create(self._name)

    def _make(self, make: Callable[[], None]) -> None:
        with self._making:
            if not self._is_there:
                make()
            self._is_there = True

    def alone(self) -> "RemoteStore":
        """Return a store of the same database that reads at the primary."""
        self._make(lambda: self.sqld.create(self._name))
        same = copy.copy(self)
        same.replica = None
        return same

    def open(self) -> RemoteDatabase:
        return RemoteDatabase(self.server(self.sqld), None if self.replica is None else self.server(self.replica))

    def server(self, sqld: Sqld) -> Server:
        return Server(sqld.url, Token(), self.namespace)


Stores = Callable[[], Store]


class Shared:
    """Servers that several tests use, in the order in which they were started."""

    running: list[Sqld] = []

    @classmethod
    @contextmanager
    def by_tests(cls, sqld: Sqld) -> Iterator[Sqld]:
        """Run a server. One that ends meanwhile is started again between two tests, with the data that it had."""
        with sqld:
            cls.running.append(sqld)
            try:
                yield sqld
            finally:
                cls.running.remove(sqld)

    @classmethod
    def started_again(cls) -> list[str]:
        """Start the servers again that have ended, and say of each how it ended."""
        lost = [sqld for sqld in cls.running if sqld.ended is not None]
        said = [f"sqld ended with {sqld.ended} and was started again; its log: {sqld.log}" for sqld in lost]
        for sqld in lost:
            sqld.stop()
            sqld.start()
        return said


class Everything:
    """State of `pytest --store sqld`: the server that all tests run on, except those about files."""

    sqld: Sqld | None = None
    made: dict[Path, RemoteStore] = {}


def at(path: Path) -> Store:
    """The store of a path: that file, or a database for it when all runs on sqld."""
    if Everything.sqld is None:
        return FileStore(path)
    if path not in Everything.made:
        Everything.made[path] = RemoteStore(Everything.sqld)
    return Everything.made[path]


def migrated(store: Store) -> Database:
    """Open a store; a database that is not there begins as a copy of an empty one with all tables.

    The migrations take 16 ms of processor time, 70 ms with sqld's; and most tests make a database.
    """
    if isinstance(store, FileStore) and not store.path.exists():
        store.path.write_bytes(_empty())
    if isinstance(store, RemoteStore) and store.replica is None:
        store.copy_of(_template(store.sqld))
    return store.open()


@cache
def _template(sqld: Sqld) -> str:
    """Make a database with all tables on a server, and return the name of it."""
    template = RemoteStore(sqld)
    database = template.open()
    migrate(database, 0)
    database.close()
    return template.namespace


@cache
def _empty() -> bytes:
    """The file that the migrations make."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "muisti.db"
        database = FileDatabase(path)
        migrate(database, 0)
        database.close()
        assert [file.name for file in path.parent.iterdir()] == [path.name], "all is in one file"
        return path.read_bytes()


def unreleased(database: Database, number: int) -> None:
    """Give a database the record of migrations that a Muisti from before the first release left."""
    steps = [(one, f"{one:04}_{'first' if one == 1 else 'later'}.sql") for one in range(1, number + 1)]
    record = (Statement("INSERT INTO schema_migrations VALUES (?, ?, 1)", step) for step in steps)
    database.write([Statement("DELETE FROM schema_migrations"), *record])


def settings_at(path: Path) -> dict[str, str]:
    """Return the environment variables with which another process opens the store of a path."""
    store = at(path)
    if isinstance(store, RemoteStore):
        return {"MUISTI_DATABASE_URL": store.sqld.url, "MUISTI_DATABASE_NAMESPACE": store.namespace}
    return {"MUISTI_DATABASE_URL": f"file:{path}"}
