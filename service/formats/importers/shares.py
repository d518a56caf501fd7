"""The memories of a file, put aside on disk by the space that each is for, before the first of them is stored.

A file of another system may hold several projects in any order, and each becomes a space of its own. Reading all of it
first also finds what cannot be read before anything is stored, and counts the memories.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import msgspec

from muisti.core.transfer.records import FORMAT
from muisti.service.formats.importers.items import Failed, Item, bad_line, lines_of
from muisti.service.formats.importers.reading import Reading
from muisti.service.formats.importers.sources import Source

PIECE = 65_536  # bytes
_TELEMETRY = b'{"type":"telemetry"'
STEP = 200  # memories, after which it is told how many were read
WAITING = 4 << 20  # bytes of lines that wait in memory, of all spaces together

Place = Callable[[str | None], str | None]  # the space of a project or workspace; None: it is passed over
Told = Callable[[int], None]


class Share:
    """What is for one space. `lines` counts what is put aside, `memories` those lines that are one, good or not."""

    def __init__(self, space: str, path: Path, system: str) -> None:
        self.space = space
        self.memories = self.lines = 0
        self.first: list[Path] = []  # of lines that belong to no project
        self._path, self._system = path, system
        self._waiting: list[bytes] = []

    def add(self, line: bytes) -> int:
        """Put a line aside; the bytes that this takes."""
        self.lines += 1
        self.memories += not line.startswith(_TELEMETRY)
        self._waiting.append(line + b"\n")
        return len(line)

    def flush(self) -> None:
        """Write what waits to disk."""
        if self._waiting or not self._path.exists():
            with self._path.open("ab") as file:
                file.writelines(self._waiting)
            self._waiting.clear()

    def take(self, other: "Share") -> None:
        """Put the lines of another share before those of this one."""
        self.first.append(other._path)
        self.lines += other.lines
        self.memories += other.memories

    def pieces(self, told: Told) -> Iterator[bytes]:
        """The share as an export, in pieces. `told` hears how many memories were taken so far."""
        yield _line({"type": "muisti", "format": FORMAT, "source": self._system})
        taken = 0
        for path in (*self.first, self._path):
            with path.open("rb") as file:
                while lines := file.readlines(PIECE):
                    yield b"".join(lines)
                    taken += sum(not line.startswith(_TELEMETRY) for line in lines)
                    told(taken)
        yield _line({"type": "end", "lines": self.lines + 1})


class Shares:
    """The shares of a file. A context manager; what was put aside is gone at its end."""

    def __init__(self, source: Source, system: str, place: Place) -> None:
        self.reading = Reading(source, system)
        self.homes: Counter[str] = Counter()  # memories by project or workspace, those that are passed over too
        self._system, self._place = system, place
        self._folder = TemporaryDirectory(prefix="muisti-import-")
        self._shares: dict[str | None, Share] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def read(self, told: Told = lambda _: None) -> list[Share]:
        """Read all of the file; the shares, in the order in which their first memories stand. At least one.

        `told` hears how many memories were read so far.

        Raises:
            Unreadable: the file cannot be read to its end.
        """
        waiting = 0
        for number, found in enumerate(self.reading.found(), start=1):
            waiting += self._put(found)
            if waiting >= WAITING:
                self._flush()
                waiting = 0
            if number % STEP == 0:
                told(number)
        told(self.reading.read)
        self._flush()
        return self._whole()

    def _put(self, found: Item | Failed) -> int:
        if found.home is not None:
            self.homes[found.home] += 1
        if isinstance(found, Failed) and found.home is None:
            share, lines = self._share(None), iter((bad_line(found),))
        else:
            space = self._place(found.home)
            if space is None:
                self.reading.skipped["of another project"] += 1
                return 0
            share = self._share(space)
            lines = iter((bad_line(found),)) if isinstance(found, Failed) else lines_of(found, self._system, space)
        return sum(map(share.add, lines))

    def _share(self, space: str | None) -> Share:
        if space not in self._shares:
            path = Path(self._folder.name) / str(len(self._shares))
            self._shares[space] = Share(space or "", path, self._system)
        return self._shares[space]

    def _flush(self) -> None:
        for share in self._shares.values():
            share.flush()

    def _whole(self) -> list[Share]:
        """The shares; what belongs to no project because it cannot be read goes with the first."""
        stray = self._shares.pop(None, None)
        if not self._shares:
            self._share(self._place(None) or "default").flush()
        shares = list(self._shares.values())
        if stray is not None:
            shares[0].take(stray)
        return shares


def _line(record: dict[str, object]) -> bytes:
    return msgspec.json.encode(record) + b"\n"
