"""Recognises the system of a file by its content, and reads the file by the importer of that system.

Memories are written to temporary files by target space before any of them is stored. A file may have several projects
in any order, and each becomes a space of its own. Reading all of it first also counts the memories, and finds damage.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import IO, Self

import msgspec

from muisti.core.operations.transfer.records import FORMAT, Header
from muisti.core.support import zstd
from muisti.service.formats.importers import (
    basic_memory,
    chatgpt,
    claude,
    claude_code,
    codex,
    cogx,
    cursor,
    gemini_cli,
    hazina,
    letta,
    markdown,
    mcp_memory,
    mcp_memory_service,
    mem0,
    memorg,
    notion,
    obsidian,
    plain_json,
    rules,
    slack,
    telegram,
    vipune,
    whatsapp,
    zakira,
    zapomni,
    zep,
)
from muisti.service.formats.importers.dialogues import with_sessions
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, Unreadable, bad_line, clean, lines_of
from muisti.service.formats.importers.shapes import shape_of
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.lines import WINDOW, is_compressed

PIECE = 65_536  # bytes
HEAD_MAX = 1 << 20  # bytes of a header
SUFFIXES = (".ndjson", ".ndjson.zst")
_VERSION = b'\n{"type":"version"'

OnProgress = Callable[[int], None]


@dataclass(frozen=True)
class OwnFile:
    """An export. `space` is the name of its space, `versions` the number of its versions, None when not counted."""

    space: str
    versions: int | None
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    def pieces(self, on_progress: OnProgress) -> Iterator[bytes]:
        """Yield the file in pieces. `on_progress` gets the number of versions so far, where they can be counted."""
        taken, tail = 0, b""
        with self.open() as file:
            while piece := file.read(PIECE):
                yield piece
                if self.versions is not None:
                    taken += (tail + piece).count(_VERSION)
                    tail = piece[1 - len(_VERSION) :]
                    on_progress(min(taken, self.versions))


def is_own(source: Source) -> bool:
    """Tell whether a file is an export of Muisti, compressed or not, or a folder has such files and no others."""
    if not source.is_folder:
        head = source.head(HEAD_MAX)
        return is_compressed(head) or _header(head) is not None
    with source.parts() as parts:
        is_all = bool(parts) and all(part.name.endswith(SUFFIXES) for part in parts)
        return is_all and _header(_expanded(parts[0].head(HEAD_MAX))) is not None


def own_files(source: Source) -> list[OwnFile]:
    """Return the exports of a source.

    Raises:
        Unreadable: an export in a folder does not name its space.
    """
    with source.parts() as parts:
        exports = [part for part in parts if not source.is_folder or part.name.endswith(SUFFIXES)]
        found: list[OwnFile] = []
        for part in exports:
            head = part.head(HEAD_MAX)
            header = _header(_expanded(head))
            if source.is_folder and (header is None or header.space is None):
                raise Unreadable(f"{source.name}: {part.name} is no export of a space")
            space = header.space.name if header is not None and header.space is not None else ""
            is_counted = header is not None and header.counts is not None and not is_compressed(head)
            counts = header.counts if header is not None and is_counted else None
            found.append(OwnFile(space, None if counts is None else counts.versions, part.open))
    return found


def _expanded(head: bytes) -> bytes:
    """Expand the beginning of a file, if it is compressed."""
    if not is_compressed(head):
        return head
    found = bytearray()
    try:
        for piece in zstd.Expander(WINDOW, HEAD_MAX).feed(head):
            found += piece
            if len(found) >= HEAD_MAX:
                break
    except zstd.ZstdError:
        return b""
    return bytes(found[:HEAD_MAX])


def _header(head: bytes) -> Header | None:
    try:
        return msgspec.json.decode(head.split(b"\n", 1)[0], type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


OWN = "muisti"


class Unknown(Unreadable):
    """A file is of no known system. `said` is the message without its advice for the command line."""

    def __init__(self, said: str, advice: str, *, may_be_text: bool) -> None:
        super().__init__(f"{said}{advice}")
        self.said, self.may_be_text = said, may_be_text


# In the order in which their `detect` is tried; each has the name of its module.
_ORDER = (
    *(vipune, zakira, mcp_memory_service, memorg, letta, chatgpt, claude, telegram, slack, claude_code, codex),
    *(gemini_cli, cursor, whatsapp, cogx, hazina, mcp_memory, zapomni, zep, mem0, plain_json, markdown, notion),
    *(basic_memory, rules, obsidian),
)
IMPORTERS: Mapping[str, ModuleType] = {
    one.__name__.rpartition(".")[2].removeprefix("plain_").replace("_", "-"): one for one in _ORDER
}


def recognised(source: Source) -> str:
    """Return the name of the system that a file is from.

    Raises:
        Unreadable: the file is of no known system, or damaged.
    """
    if is_own(source):
        return OWN
    shape = shape_of(source)
    if shape.first.get("type") == OWN:
        return OWN
    for name, importer in IMPORTERS.items():
        if importer.detect(shape):
            return name
    if shape.tables.get("schema_migrations") == ["number", "name", "applied_at"]:
        advice = "`muisti restore-backup` restores it, `muisti export --database` exports a space of it"
        raise Unreadable(f"{source.name}: this is a database of Muisti; {advice}")
    names = ", ".join((OWN, *IMPORTERS))
    if shape.kind in ("array", "object", "lines", "string"):
        said = f"{source.name}: this JSON is of no known form. {plain_json.FORMS}."
        raise Unknown(said, f" For another system give --from: {names}", may_be_text=False)
    advice = f"; --from NAME names it: {names}. `muisti ingest FILE` stores a text as a document"
    raise Unknown(f"{source.name}: the system of this file is unknown", advice, may_be_text=not source.is_folder)


class Reading:
    """The memories of a file of another system. `skipped` counts the records left out so far, by reason.

    `each`: what comes before a place from which on the file cannot be read is good, and that place is a failure.
    """

    def __init__(self, source: Source, system: str, *, each: bool = False) -> None:
        self._source, self._system, self._each = source, system, each
        self.name = source.name
        self.skipped: Counter[str] = Counter()
        self.read = 0  # records, good or not, with those that are left out

    def found(self) -> Iterator[Item | Failed]:
        """Yield the memories, and the records that should be memories and cannot be read.

        Raises:
            Unreadable: from here on the file cannot be read.
        """
        read = IMPORTERS[self._system].read(self._source)
        for found in whole(_readable(read) if self._each else read):
            self.read += 1
            if isinstance(found, Skipped):
                self.skipped[found.reason] += 1
            else:
                yield found


def whole(found: Iterable[Found]) -> Iterator[Found]:
    """Yield what an importer has found, with the sessions that it lacks, and with an id of its own for each text."""
    return _distinct(with_sessions(found))


def _readable(found: Iterator[Found]) -> Iterator[Found]:
    """Yield what can be read. Where the rest cannot, that is a failure with its place, if anything came before it."""
    is_first = True
    try:
        for one in found:
            yield one
            is_first = False
    except Unreadable as error:
        if is_first:
            raise
        place, _, message = str(error).partition(": ")
        yield Failed(place, message or str(error))


def _distinct(found: Iterable[Found]) -> Iterator[Found]:
    """Give a memory its own id where an earlier one with another text has the same, and let its parts follow it.

    Notes with one permalink and lists that were joined have such ids. Equal ids with equal texts stay: they are one
    memory. So do objects and summaries of conversations, which their names identify.
    """
    texts: dict[int, int] = {}
    renamed: dict[str, str] = {}
    for one in found:
        if isinstance(one, Item) and one.own is None:
            one = replace(one, parent=renamed.get(one.parent, one.parent) if one.parent else None)
            if one.memory.get("kind", "memory") in ("memory", "exchange"):
                text = (str(one.memory.get("content")), one.memory.get("conversation"))
                if texts.setdefault(hash(one.external), hash(text)) == hash(text):
                    renamed.pop(one.external, None)
                else:
                    name = f"{one.external}\n{sha256(clean(repr(text)).encode()).hexdigest()[:16]}"
                    renamed[one.external] = name
                    one = replace(one, external=name)
        yield one


_TELEMETRY = b'{"type":"telemetry"'
STEP = 200  # memories between two reports of progress
WAITING = 4 << 20  # bytes of lines that are buffered in memory, of all spaces together

Place = Callable[[str | None], str | None]  # the space of a project or workspace; None: it is left out


class Share:
    """The lines for one space. `lines` counts all of them, `memories` those of memories, good or not."""

    def __init__(self, space: str, path: Path, system: str) -> None:
        self.space = space
        self.memories = self.lines = 0
        self.left_out: Mapping[str, int] = {}  # records of the file by reason
        self.first: list[Path] = []  # of lines that belong to no project
        self._path, self._system = path, system
        self._waiting: list[bytes] = []

    def add(self, line: bytes) -> int:
        """Buffer a line; return its size in bytes."""
        self.lines += 1
        self.memories += not line.startswith(_TELEMETRY)
        self._waiting.append(line + b"\n")
        return len(line)

    def flush(self) -> None:
        """Write the buffered lines to disk."""
        if self._waiting or not self._path.exists():
            with self._path.open("ab") as file:
                file.writelines(self._waiting)
            self._waiting.clear()

    def take(self, other: "Share") -> None:
        """Put the lines of another share before those of this one."""
        self.first.append(other._path)
        self.lines += other.lines
        self.memories += other.memories

    def pieces(self, on_progress: OnProgress) -> Iterator[bytes]:
        """Yield the share as an export, in pieces. `on_progress` is called with the number of memories so far."""
        left_out = {"left_out": self.left_out} if self.left_out else {}
        yield _line({"type": "muisti", "format": FORMAT, "source": self._system, **left_out})
        taken = 0
        for path in (*self.first, self._path):
            with path.open("rb") as file:
                while lines := file.readlines(PIECE):
                    yield b"".join(lines)
                    taken += sum(not line.startswith(_TELEMETRY) for line in lines)
                    on_progress(taken)
        yield _line({"type": "end", "lines": self.lines + 1})


class Spread:
    """Shares that are written as memories are put. A context manager, which deletes the temporary files at its end."""

    def __init__(self, source: str) -> None:
        """`source` names what the memories come from, in the list of imports."""
        self._source = source
        self._folder = TemporaryDirectory(prefix="muisti-import-")
        self._shares: dict[str | None, Share] = {}
        self._made = self._waiting = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def put(self, found: Item | Failed, system: str, space: str | None) -> None:
        """Put a memory of a system into a space; without one a failure, which goes with the first share."""
        share = self._share(space)
        lines = (bad_line(found),) if isinstance(found, Failed) else lines_of(found, system, space or "")
        self._waiting += sum(map(share.add, lines))
        if self._waiting >= WAITING:
            self._flush()

    def shares(self) -> list[Share]:
        """Return the shares in the order of their first memories. Unreadable records go with the first one."""
        self._flush()
        stray = self._shares.pop(None, None)
        shares = list(self._shares.values())
        if stray is not None and shares:
            shares[0].take(stray)
        return shares

    def _share(self, space: str | None) -> Share:
        if space not in self._shares:
            self._made += 1  # counted, because a share that was taken out still has its file
            path = Path(self._folder.name) / str(self._made)
            self._shares[space] = Share(space or "", path, self._source)
        return self._shares[space]

    def _flush(self) -> None:
        for share in self._shares.values():
            share.flush()
        self._waiting = 0


class Shares(Spread):
    """The shares of a file."""

    def __init__(self, source: Source, system: str, place: Place, *, each: bool = False) -> None:
        super().__init__(system)
        self.reading = Reading(source, system, each=each)
        self.homes: Counter[str] = Counter()  # memories by project or workspace, those that are passed over too
        self._system, self._place = system, place

    def read(self, on_progress: OnProgress = lambda _: None) -> list[Share]:
        """Read the whole file; return its shares, at least one, in the order of their first memories.

        `on_progress` is called with the number of memories so far.

        Raises:
            Unreadable: the file cannot be read to its end.
        """
        for number, found in enumerate(self.reading.found(), start=1):
            self._put(found)
            if number % STEP == 0:
                on_progress(number)
        on_progress(self.reading.read)
        if not self._shares.keys() - {None}:
            self._share(self._place(None) or "default")
        shares = self.shares()
        shares[0].left_out = self.reading.skipped
        return shares

    def check(self, projects: Sequence[str]) -> None:
        """Check that the file, which was read, has each of the projects.

        Raises:
            Unreadable: it has not.
        """
        unknown = [one for one in projects if one not in self.homes]
        if unknown:
            there = ", ".join(sorted(self.homes)[:20]) or "none"
            raise Unreadable(f"{self.reading.name} has no project {unknown[0]}; it has: {there}")

    def _put(self, found: Item | Failed) -> None:
        if found.home is not None:
            self.homes[found.home] += 1
        if isinstance(found, Failed) and found.home is None:
            self.put(found, self._system, None)
        elif (space := self._place(found.home)) is None:
            self.reading.skipped["of another project"] += 1
        else:
            self.put(found, self._system, space)


def _line(record: dict[str, object]) -> bytes:
    return msgspec.json.encode(record) + b"\n"
