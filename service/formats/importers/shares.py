"""The memories of a file of another system, written to temporary files by target space before any of them is stored.

A file may have several projects in any order, and each becomes a space of its own. Reading all of it first also counts
the memories, and finds damage.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import msgspec

from muisti.core.operations.transfer.records import FORMAT
from muisti.service.formats.importers.items import Failed, Item, Unreadable, bad_line, lines_of
from muisti.service.formats.importers.registry import PIECE, OnProgress, Reading
from muisti.service.formats.importers.source_files import Source

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
