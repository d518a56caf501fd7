"""Shares of a file: its memories, written to temporary files by target space before any of them is stored.

A file of another system may have several projects in any order, and each becomes a space of its own. Reading the whole
file first also counts the memories, and finds damage before anything is stored.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import msgspec

from muisti.core.operations.transfer.records import FORMAT
from muisti.service.formats.importers.items import Failed, Item, bad_line, lines_of
from muisti.service.formats.importers.registry import Reading
from muisti.service.formats.importers.source_files import Source

PIECE = 65_536  # bytes
_TELEMETRY = b'{"type":"telemetry"'
STEP = 200  # memories between two reports of progress
WAITING = 4 << 20  # bytes of lines that are buffered in memory, of all spaces together

Place = Callable[[str | None], str | None]  # the space of a project or workspace; None: it is left out
OnProgress = Callable[[int], None]


class Share:
    """The lines for one space. `lines` counts all of them, `memories` those of memories, good or not."""

    def __init__(self, space: str, path: Path, system: str) -> None:
        self.space = space
        self.memories = self.lines = 0
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
        yield _line({"type": "muisti", "format": FORMAT, "source": self._system})
        taken = 0
        for path in (*self.first, self._path):
            with path.open("rb") as file:
                while lines := file.readlines(PIECE):
                    yield b"".join(lines)
                    taken += sum(not line.startswith(_TELEMETRY) for line in lines)
                    on_progress(taken)
        yield _line({"type": "end", "lines": self.lines + 1})


class Shares:
    """The shares of a file. A context manager, which deletes the temporary files at its end."""

    def __init__(self, source: Source, system: str, place: Place) -> None:
        self.reading = Reading(source, system)
        self.homes: Counter[str] = Counter()  # memories by project or workspace, those that are passed over too
        self._system, self._place = system, place
        self._folder = TemporaryDirectory(prefix="muisti-import-")
        self._shares: dict[str | None, Share] = {}
        self._made = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def read(self, on_progress: OnProgress = lambda _: None) -> list[Share]:
        """Read the whole file; return its shares, at least one, in the order of their first memories.

        `on_progress` is called with the number of memories so far.

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
                on_progress(number)
        on_progress(self.reading.read)
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
            self._made += 1  # counted, because a share that was taken out still has its file
            path = Path(self._folder.name) / str(self._made)
            self._shares[space] = Share(space or "", path, self._system)
        return self._shares[space]

    def _flush(self) -> None:
        for share in self._shares.values():
            share.flush()

    def _whole(self) -> list[Share]:
        """Return the shares. Unreadable records, which belong to no project, go with the first share."""
        stray = self._shares.pop(None, None)
        if not self._shares:
            self._share(self._place(None) or "default").flush()
        shares = list(self._shares.values())
        if stray is not None:
            shares[0].take(stray)
        return shares


def _line(record: dict[str, object]) -> bytes:
    return msgspec.json.encode(record) + b"\n"
