"""Opens a file, folder, archive or SQLite database of another system safely: read only, and within limits of size."""

import io
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import apsw

from muisti.service.formats.importers.items import Failed, Json, Unreadable

SQLITE = b"SQLite format 3\0"
MEMBER_MAX = 64 << 30  # bytes of a member of an archive
RATIO_MAX = 200  # of a member's size to its compressed size, and of all members together to the archive
ARCHIVE_FLOOR = 65_536  # bytes that any archive counts as
MEMBERS_MAX = 100_000
TAR = (257, b"ustar")  # the place and the text of its mark
NOTE_MAX = 16 << 20  # bytes of a Markdown file


@dataclass(frozen=True)
class Part:
    """A file by itself, in a folder or in an archive. `name` is its path there, with slashes."""

    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    def head(self, size: int = 65_536) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(size)

    def text(self) -> str | Failed:
        """Return the whole file as text, or a failure when it is too large or no UTF-8."""
        with self.open() as file:
            data = file.read(NOTE_MAX + 1)
        if len(data) > NOTE_MAX:
            return Failed(self.name, f"is larger than {NOTE_MAX:,} bytes, which a text may have")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            return Failed(f"{self.name}:{line}", f"is no UTF-8 (byte {error.start})")


class Source:
    """A file, folder or archive at `path`; messages call it `name`."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path, self.name = path, name or path.name or str(path)

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @property
    def is_archive(self) -> bool:
        return self.head(4) in (b"PK\3\4", b"PK\5\6") or self._is_tar

    @property
    def _is_tar(self) -> bool:
        place, mark = TAR
        return self.head(place + len(mark))[place:] == mark

    @property
    def size(self) -> int:
        """The size in bytes; for a folder that of all its files together."""
        if not self.is_folder:
            return self.path.stat().st_size
        return sum(one.stat().st_size for one in self._files())

    def head(self, size: int = 65_536) -> bytes:
        """Return the first bytes; none for a folder."""
        if self.is_folder:
            return b""
        with self.path.open("rb") as file:
            return file.read(size)

    def open(self) -> AbstractContextManager[IO[bytes]]:
        return self._opened(self.path)

    @contextmanager
    def parts(self) -> Generator[list[Part]]:
        """Yield the files of a folder or of an archive, in order; a single file is its own part.

        Hidden files, and links that lead out of a folder, are left out.

        Raises:
            Unreadable: an archive is damaged or malicious.
        """
        if self.is_folder:
            yield [
                Part(path.relative_to(self.path).as_posix(), lambda path=path: self._opened(path))
                for path in self._files()
            ]
        elif self._is_tar:
            with self._damage():
                tar = tarfile.open(self.path, "r:")  # noqa: SIM115  # the next line closes it
            with tar:
                yield sorted(self._tarred(tar), key=lambda part: part.name)
        elif self.is_archive:
            with self._damage():
                archive = zipfile.ZipFile(self.path)
            with archive:
                infos = self._members(archive)
                yield [
                    Part(info.filename, lambda info=info: self._member(archive, info))
                    for info in sorted(infos, key=lambda info: info.filename)
                ]
        else:
            yield [Part(self.name, self.open)]

    def _files(self) -> Iterator[Path]:
        root = self.path.resolve()
        for path in sorted(self.path.rglob("*")):
            inner = path.relative_to(self.path)
            is_hidden = any(part.startswith(".") for part in inner.parts)
            if not is_hidden and path.is_file() and path.resolve().is_relative_to(root):
                yield path

    @contextmanager
    def _opened(self, path: Path) -> Generator[IO[bytes]]:
        with path.open("rb", buffering=1 << 18) as file:
            yield file

    def _tarred(self, tar: tarfile.TarFile) -> Iterator[Part]:
        """Yield the files in an archive that is not compressed, so that none is larger than the archive."""
        with self._damage():
            infos = tar.getmembers()
        if len(infos) > MEMBERS_MAX:
            raise Unreadable(f"{self.name}: has more than {MEMBERS_MAX:,} members")
        for info in infos:
            if info.isreg() and not info.issparse() and not _is_hidden(info.name):
                yield Part(info.name, lambda info=info: self._untarred(tar, info))

    @contextmanager
    def _untarred(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> Generator[IO[bytes]]:
        member = tar.extractfile(info)
        assert member is not None  # a regular file
        with member:
            yield cast(IO[bytes], io.BufferedReader(_Guarded(member, self._damage), 1 << 18))

    def _members(self, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        infos = archive.infolist()
        if len(infos) > MEMBERS_MAX:
            raise Unreadable(f"{self.name}: has more than {MEMBERS_MAX:,} members")
        for info in infos:
            path = PurePosixPath(info.filename)
            if path.is_absolute() or ".." in path.parts:
                raise Unreadable(f"{self.name}: the member {info.filename[:80]!r} leads out of the archive")
        size = sum(info.file_size for info in infos)
        if size > RATIO_MAX * max(self.size, ARCHIVE_FLOOR):  # members may share the bytes that they grow from
            raise Unreadable(f"{self.name}: the archive is too large when unpacked")
        return [one for one in infos if not one.is_dir() and not _is_hidden(one.filename)]

    @contextmanager
    def _member(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Generator[IO[bytes]]:
        """Open a member of an archive as a stream."""
        if info.file_size > MEMBER_MAX or info.file_size > RATIO_MAX * max(info.compress_size, ARCHIVE_FLOOR):
            raise Unreadable(f"{self.name}: the member {info.filename[:80]!r} is too large when unpacked")
        with self._damage():
            member = archive.open(info)
        with member:
            guarded = _Guarded(cast(IO[bytes], member), self._damage)
            yield cast(IO[bytes], io.BufferedReader(guarded, 1 << 18))

    @contextmanager
    def _damage(self) -> Generator[None]:
        """Turn errors of a damaged archive into `Unreadable`."""
        try:
            yield
        except (zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, zlib.error, NotImplementedError,
                RuntimeError, EOFError, KeyError, OSError, ValueError) as error:  # fmt: skip
            raise Unreadable(f"{self.name}: the archive is damaged or encrypted ({error})") from None


class _Guarded(io.RawIOBase):
    """Reads another file inside the context `guard`, which translates errors."""

    def __init__(self, file: IO[bytes], guard: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__()
        self._file, self._guard = file, guard

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._guard():
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


VALUE_MAX = 64 << 20  # bytes of one value


class Tables:
    """A SQLite database of another program: its tables, read only, and nothing in it is run."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def columns(self, table: str) -> list[str]:
        """Return the columns of an ordinary table, none when there is no such table."""
        found = self._run("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        sql = next((str(row[0]) for row in found), "")
        if not sql.upper().startswith("CREATE TABLE"):
            return []
        return [str(row[0]) for row in self._run("SELECT name FROM pragma_table_info(?)", (table,))]

    def rows(
        self, table: str, wanted: Sequence[str] | None = None, but: Sequence[str] = ()
    ) -> Iterator[tuple[str, Json]]:
        """Yield each row with its place: the wanted columns that exist, or all columns except those in `but`."""
        columns = [name for name in self.columns(table) if (wanted is None or name in wanted) and name not in but]
        listed = ", ".join(f'"{name}"' for name in columns)
        number = 0
        for number, row in enumerate(self._run(f'SELECT {listed} FROM "{table}"'), start=1):
            yield f"{self._name} {table} row {number}", dict(zip(columns, row, strict=True))

    def entry(self, table: str, key: str) -> Any:
        """Return the value of a key, None when there is none. The columns of the table are `key` and `value`."""
        if not {"key", "value"} <= set(self.columns(table)):
            return None
        return next((row[0] for row in self._run(f'SELECT value FROM "{table}" WHERE key = ?', (key,))), None)

    def entries(self, table: str, prefix: str) -> Iterator[tuple[str, Any]]:
        """Yield each key that begins with a prefix of letters, and its value."""
        if {"key", "value"} <= set(self.columns(table)):
            after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
            sql = f'SELECT key, value FROM "{table}" WHERE key >= ? AND key < ? AND value IS NOT NULL ORDER BY key'
            yield from ((str(key), value) for key, value in self._run(sql, (prefix, after)))

    def _run(self, sql: str, args: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from cast(Iterator[tuple[Any, ...]], self._connection.execute(sql, args))
        except apsw.Error as error:
            raise Unreadable(f"{self._name}: the database is damaged ({error})") from None
        except UnicodeDecodeError as error:
            raise Unreadable(f"{self._name}: a text of the database is no UTF-8 ({error.reason})") from None


@contextmanager
def tables(source: Source) -> Generator[Tables]:
    """Open a SQLite file. With a write-ahead log beside it both are copied first: reading would change them.

    Raises:
        Unreadable: the file is damaged.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, mode = source.path, "?mode=ro&immutable=1"
        log = path.with_name(path.name + "-wal")
        if log.exists():
            for one in (path, log):
                shutil.copyfile(one, Path(folder) / one.name)
            path, mode = Path(folder) / path.name, "?mode=rw"
        try:
            connection = apsw.Connection(
                f"{path.absolute().as_uri()}{mode}", flags=apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE
            )
        except apsw.Error as error:
            raise Unreadable(f"{source.name}: the database cannot be opened ({error})") from None
        try:
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
            connection.limit(apsw.SQLITE_LIMIT_LENGTH, VALUE_MAX)
            opened = Tables(connection, source.name)
            check(connection, source)
            yield opened
        finally:
            connection.close()


def check(connection: apsw.Connection, source: Source) -> None:
    """Raise `Unreadable` when the file is damaged, so that no part of it is imported."""
    try:
        connection.pragma("cell_size_check", 1)
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    except apsw.Error as error:
        raise Unreadable(f"{source.name}: the database is damaged ({error})") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{source.name}: the database is damaged (a name is no UTF-8)") from None
    if found != ["ok"]:
        raise Unreadable(f"{source.name}: the database is damaged ({found[0].splitlines()[0] if found else ''})")
