"""A file of another system, opened so that nothing in it can do harm: read only, in pieces, within bounds."""

import io
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import apsw
import ijson
import msgspec

from service.importers.items import Failed, Json, Unreadable

SQLITE = b"SQLite format 3\0"
LINE_MAX = 16 << 20  # bytes
VALUE_MAX = 64 << 20  # bytes of one value of a database
MEMBER_MAX = 64 << 30  # bytes of a member of an archive
RATIO_MAX = 200  # of an archive's member to what it takes there
MEMBERS_MAX = 10_000
NOTE_MAX = 16 << 20  # bytes of a Markdown file

Told = Callable[[int], None]


class Source:
    """A file or folder. `path` is where it is; `name` is how messages call it. `told` hears of bytes that are read."""

    def __init__(self, path: Path, told: Told = lambda _: None) -> None:
        self.path, self.name, self._told = path, path.name or str(path), told

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @property
    def size(self) -> int:
        """Bytes, those of all files of a folder together."""
        if not self.is_folder:
            return self.path.stat().st_size
        return sum(one.stat().st_size for one in self.files(""))

    def head(self, size: int = 65_536) -> bytes:
        """The first bytes, none of a folder."""
        if self.is_folder:
            return b""
        with self.path.open("rb") as file:
            return file.read(size)

    @contextmanager
    def open(self) -> Generator[IO[bytes]]:
        with self.path.open("rb") as file:
            yield cast(IO[bytes], io.BufferedReader(_Counted(file, self._told), 1 << 18))

    def files(self, suffix: str) -> list[Path]:
        """The files of a folder, hidden ones and links that lead out of it left out, in order."""
        root = self.path.resolve()
        found: list[Path] = []
        for path in sorted(self.path.rglob(f"*{suffix}")):
            inner = path.relative_to(self.path)
            is_hidden = any(part.startswith(".") for part in inner.parts)
            if not is_hidden and path.is_file() and path.resolve().is_relative_to(root):
                found.append(path)
        return found

    def text_of(self, path: Path) -> str | Failed:
        """A file of a folder."""
        inner = str(path.relative_to(self.path)) if self.is_folder else self.name
        size = path.stat().st_size
        self._told(size)
        if size > NOTE_MAX:
            return Failed(inner, f"has {size:,} bytes; notes have at most {NOTE_MAX:,}")
        try:
            return path.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            return Failed(inner, f"is no UTF-8 (byte {error.start})")

    def members(self) -> list[str]:
        """The names in a ZIP archive; none when it is none.

        Raises:
            Unreadable: it is damaged, or made to do harm.
        """
        if not self.head(4).startswith(b"PK"):
            return []
        with _archive(self) as archive:
            infos = archive.infolist()
            if len(infos) > MEMBERS_MAX:
                raise Unreadable(f"{self.name}: has more than {MEMBERS_MAX:,} members")
            for info in infos:
                path = PurePosixPath(info.filename)
                if path.is_absolute() or ".." in path.parts:
                    raise Unreadable(f"{self.name}: the member {info.filename[:80]!r} leads out of the archive")
            return [info.filename for info in infos if not info.is_dir()]

    @contextmanager
    def open_member(self, name: str) -> Generator[IO[bytes]]:
        """A member of a ZIP archive, read as it comes."""
        with _archive(self) as archive:
            info = archive.getinfo(name)
            if info.file_size > MEMBER_MAX or info.file_size > RATIO_MAX * max(info.compress_size, 65_536):
                raise Unreadable(f"{self.name}: the member {name[:80]!r} grows beyond measure when it is unpacked")
            with archive.open(info) as file:
                yield cast(IO[bytes], io.BufferedReader(_Counted(cast(IO[bytes], file), self._told), 1 << 18))


class _Counted(io.RawIOBase):
    """Bytes of another file, counted."""

    def __init__(self, file: IO[bytes], told: Told) -> None:
        super().__init__()
        self._file, self._count = file, told

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)


@contextmanager
def _archive(source: Source) -> Generator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(source.path) as archive:
            yield archive
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, KeyError) as error:
        raise Unreadable(f"{source.name}: the archive is damaged or encrypted ({error})") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{source.name}: the archive is damaged ({error})") from None
    except zlib.error as error:
        raise Unreadable(f"{source.name}: the archive is damaged ({error})") from None


def json_lines(file: IO[bytes], name: str) -> Iterator[tuple[str, Json | Failed]]:
    """The object in each line, with its place. A byte order mark, empty lines and carriage returns do no harm."""
    number = 0
    while line := file.readline(LINE_MAX + 1):
        number += 1
        place = f"{name}:{number}"
        if len(line) > LINE_MAX:
            raise Unreadable(f"{place}: the line is longer than {LINE_MAX:,} bytes")
        line = line.removeprefix(b"\xef\xbb\xbf").strip()
        if line:
            yield place, json_object(line, place)


def json_object(data: bytes | str, place: str) -> Json | Failed:
    """The JSON object in some bytes."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Failed(place, f"is no JSON: {error}")
    return cast(Json, found) if isinstance(found, dict) else Failed(place, "is no JSON object")


def json_items(file: IO[bytes], path: str, name: str) -> Iterator[tuple[str, Any]]:
    """The items at a path of a JSON document, one at a time, with their places: `item` are those of an array.

    Raises:
        Unreadable: from here on it is no JSON.
    """
    number = 0
    try:
        _skip_mark(file)
        for item in ijson.items(file, path, use_float=True):
            number += 1
            yield f"{name} {path.removesuffix('.item').removesuffix('item') or 'item'}[{number - 1}]", item
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError, RecursionError) as error:
        told = str(error).splitlines()
        raise Unreadable(
            f"{name}: behind item {number - 1} of {path!r} it is no JSON ({told[0] if told else ''})"
        ) from None


def json_shape(file: IO[bytes]) -> tuple[str, list[str]]:
    """What a JSON document begins with, `{` or `[`, and the names of its members, of its first item's for a list."""
    names: list[str] = []
    opened = ""
    try:
        _skip_mark(file)
        for event, (prefix, kind, value) in enumerate(ijson.parse(file, use_float=True)):
            if not event:
                opened = {"start_map": "{", "start_array": "["}.get(kind, "")
            wanted = "" if opened == "{" else "item"
            if kind == "map_key" and prefix == wanted:
                names.append(str(value))
            if not opened or (opened == "[" and kind == "end_map" and prefix == "item") or event > 200_000:
                break
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError):
        pass  # what was seen may be enough to know it by; reading it will say where it is damaged
    return opened, names


def _skip_mark(file: IO[bytes]) -> None:
    if isinstance(file, io.BufferedReader) and file.peek(3)[:3] == b"\xef\xbb\xbf":
        file.read(3)


class Tables:
    """A SQLite database of another program: its tables, read only, and nothing in it is run."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def columns(self, table: str) -> list[str]:
        """The columns of an ordinary table, none when there is no such."""
        found = self._run("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        sql = next((str(row[0]) for row in found), "")
        if not sql.upper().startswith("CREATE TABLE"):
            return []
        return [str(row[0]) for row in self._run("SELECT name FROM pragma_table_info(?)", (table,))]

    def rows(self, table: str, wanted: Sequence[str]) -> Iterator[tuple[str, Json]]:
        """Each row with its place; of the wanted columns those that there are."""
        columns = [name for name in self.columns(table) if name in wanted]
        listed = ", ".join(f'"{name}"' for name in columns)
        number = 0
        for number, row in enumerate(self._run(f'SELECT {listed} FROM "{table}"'), start=1):
            yield f"{self._name} {table} row {number}", dict(zip(columns, row, strict=True))

    def _run(self, sql: str, args: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from cast(Iterator[tuple[Any, ...]], self._connection.execute(sql, args))
        except apsw.Error as error:
            raise Unreadable(f"{self._name}: the database is damaged ({error})") from None
        except UnicodeDecodeError as error:
            raise Unreadable(f"{self._name}: a text of the database is no UTF-8 ({error.reason})") from None


@contextmanager
def tables(source: Source) -> Generator[Tables]:
    """Open a SQLite file. One with a log beside it is copied with it first: reading would change it.

    Raises:
        Unreadable: it is damaged.
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
    """Raise `Unreadable` when the file is damaged: half of it must not come in."""
    try:
        connection.pragma("cell_size_check", 1)
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    except apsw.Error as error:
        raise Unreadable(f"{source.name}: the database is damaged ({error})") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{source.name}: the database is damaged (a name is no UTF-8)") from None
    if found != ["ok"]:
        raise Unreadable(f"{source.name}: the database is damaged ({found[0].splitlines()[0] if found else ''})")
