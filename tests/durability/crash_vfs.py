"""A disk that can lose its power: a VFS that logs what SQLite asks, and the files that a cut may leave behind.

What is modelled is what POSIX and SQLite's own assumptions allow. Only a sync of a file makes its writes last. Until
then each write and truncation is dropped, kept or torn at 512-byte sectors, whatever happens to its neighbours. That a
file exists or is gone lasts only after a sync of its directory, which SQLite does with the first sync of a journal.
The shared-memory file is not on the disk.
"""

import os
import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import apsw

SECTOR = 512
JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL

Files = dict[str, bytes]
Kind = Literal["create", "write", "truncate", "sync", "sync directory", "delete"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a file. `offset` is the new length of a truncation."""

    kind: Kind
    file: str
    offset: int = 0
    data: bytes = b""


class RecordingDisk(apsw.VFS):
    """The real file system, with a log. Use as a context manager: the name is registered in the whole process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._log: list[Event] = []
        self._lock = threading.Lock()
        super().__init__(name, "")

    def __enter__(self) -> "RecordingDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    @property
    def position(self) -> int:
        """How many events have happened."""
        with self._lock:
            return len(self._log)

    @property
    def log(self) -> Sequence[Event]:
        return self._log

    def note(self, kind: Kind, file: str, offset: int = 0, data: bytes = b"") -> None:
        with self._lock:
            self._log.append(Event(kind, os.path.basename(file), offset, data))

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if name is None:
            return apsw.VFSFile("", None, flags)
        return _RecordedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self.note("delete", filename)
        if syncdir:
            self.note("sync directory", filename)


class _RecordedFile(apsw.VFSFile):
    def __init__(self, disk: RecordingDisk, name: str | apsw.URIFilename, flags: list[int]) -> None:
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        existed = os.path.exists(self._path)
        self._syncs_directory = bool(flags[0] & JOURNALS and flags[0] & apsw.SQLITE_OPEN_CREATE)
        super().__init__("", name, flags)
        if not existed:
            disk.note("create", self._path)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.note("write", self._path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.note("truncate", self._path, newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._disk.note("sync", self._path)
        if self._syncs_directory:
            self._disk.note("sync directory", self._path)
            self._syncs_directory = False


@dataclass(slots=True)
class _Contents:
    """The durable bytes of a file, and the events since its last sync."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list[Event])


class Replay:
    """Replay of a log, which shows what a power cut would leave at each point."""

    def __init__(self, log: Sequence[Event], base: Mapping[str, bytes]) -> None:
        """`base` is what was on the disk before the log begins."""
        self._log = log
        self._done = 0
        self._names: dict[str, list[_Contents | None]] = {  # the directory: what lasts, then what was asked since
            name: [_Contents(bytearray(data))] for name, data in base.items()
        }

    def go_to(self, position: int) -> None:
        """Let the first `position` events have happened. Never backwards."""
        for event in self._log[self._done : position]:
            self._apply(event)
        self._done = max(position, self._done)

    def cut(self, rng: random.Random) -> Files:
        """The files that a power cut at this point may leave."""
        files: Files = {}
        for name, entries in self._names.items():
            contents = entries[_some(rng, len(entries) - 1)]
            if contents is not None:
                files[name] = _after_cut(contents, rng)
        return files

    def _apply(self, event: Event) -> None:
        if event.kind == "create":
            self._names.setdefault(event.file, [None]).append(_Contents())
        elif event.kind == "delete":
            self._names[event.file].append(None)
        elif event.kind == "sync directory":
            self._names = {name: entries[-1:] for name, entries in self._names.items()}
        else:
            contents = self._names[event.file][-1]
            assert contents is not None, f"{event.kind} of {event.file}, which is deleted"
            if event.kind == "sync":
                for waiting in contents.pending:
                    _do(waiting, contents.durable)
                contents.pending.clear()
            else:
                contents.pending.append(event)


def _some(rng: random.Random, most: int) -> int:
    """How much of a row of events came through: often nothing or all."""
    return rng.choice((0, most, rng.randint(0, most)))


def _after_cut(contents: _Contents, rng: random.Random) -> bytes:
    data = bytearray(contents.durable)
    kept = rng.choice((0.0, 1.0, rng.random()))
    torn = rng.choice((0.0, rng.random()))
    for event in contents.pending:
        if rng.random() < torn and event.kind == "write":
            _tear(event, data, rng)
        elif rng.random() < kept:
            _do(event, data)
    return bytes(data)


def _do(event: Event, data: bytearray) -> None:
    if event.kind == "truncate":
        del data[event.offset :]
    else:
        _put(data, event.offset, event.data)


def _tear(event: Event, data: bytearray, rng: random.Random) -> None:
    """Keep some of the sectors that a write touches: the first few, or any."""
    end = event.offset + len(event.data)
    borders = [event.offset, *range((event.offset // SECTOR + 1) * SECTOR, end, SECTOR), end]
    pieces = [(a, event.data[a - event.offset : b - event.offset]) for a, b in zip(borders, borders[1:], strict=False)]
    whole = rng.randrange(len(pieces) + 1)
    chosen = pieces[:whole] if rng.random() < 0.5 else [piece for piece in pieces if rng.random() < 0.5]
    for offset, piece in chosen:
        _put(data, offset, piece)


def _put(data: bytearray, offset: int, piece: bytes) -> None:
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(piece)] = piece
