"""Costs measured on one machine, and straight lines fitted to them."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

FILE = Path(__file__).with_name("constants.json")

SCANNED = 20_000  # rows that a search reads one by one; of more it reads sign bits first
LOOSE = 10_000  # rows of a space that is read row by row when it is loaded; a larger one is packed in segments


class Line(Struct, frozen=True):
    """`fixed` + `each` for every memory."""

    fixed: float
    each: float

    def at(self, memories: float) -> float:
        return self.fixed + self.each * memories


class Size(Struct, frozen=True, kw_only=True):
    """Measurements of a space of `memories` memories: seconds of processor time, and bytes."""

    memories: int
    search: float
    load: float
    index: int
    file: int


class Shared(Struct, frozen=True, kw_only=True):
    """Tenants of `memories` each that take turns in memory for `held` of them: what a search took, on average."""

    tenants: int
    memories: int
    held: int
    skew: float  # the exponent of Zipf's law of who asks
    searches: int
    misses: float
    search: float


class Constants(Struct, frozen=True, kw_only=True):
    """Measured costs, in seconds of processor time unless a comment names another unit.

    `measured` are the sizes that the lines go through, `checks` those that were held out, as was `shared`.
    """

    machine: dict[str, str]
    measured: list[Size]
    checks: list[Size]
    shared: Shared
    http_search: float  # what HTTP adds to a search
    http_write: float  # a whole write
    writes_per_second: float  # of one process with 16 clients, a file
    remote_load: float  # of 1,000 memories over sqld, by the clock
    remote_writes_per_second: float  # of one primary, 16 clients
    base_bytes: int  # of a process without an index

    def search(self, memories: float) -> float:
        """Processor seconds of a hybrid search in a space of this size."""
        return self._line("search", memories, SCANNED).at(memories)

    def load(self, memories: float) -> float:
        """Processor seconds of reading a space into memory."""
        return self._line("load", memories, LOOSE).at(memories)

    def index(self, memories: float) -> float:
        """Bytes of a space in memory."""
        return self._line("index", memories).at(memories)

    def file(self, memories: float) -> float:
        """Bytes of a space in the database."""
        return self._line("file", memories, LOOSE).at(memories)

    def predicted(self, memories: int) -> Size:
        return Size(
            memories=memories,
            search=self.search(memories),
            load=self.load(memories),
            index=round(self.index(memories)),
            file=round(self.file(memories)),
        )

    def _line(self, name: str, memories: float, change: int | None = None) -> Line:
        """Through the smallest and the largest measured size, of those on the same side of a change of method."""
        same = [one for one in self.measured if change is None or (one.memories < change) == (memories < change)]
        (x0, y0), (x1, y1) = ((one.memories, getattr(one, name)) for one in (same[0], same[-1]))
        each = (y1 - y0) / (x1 - x0)
        return Line(y0 - each * x0, each)


def load(path: Path = FILE) -> Constants:
    return msgspec.json.decode(path.read_bytes(), type=Constants)


def save(found: Constants, path: Path = FILE) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")


def apart(predicted: Size, measured: Size) -> Mapping[str, float]:
    """By how much of the measured value each prediction is off.

    >>> a = Size(memories=1, search=1.0, load=2.0, index=3, file=4)
    >>> apart(a, Size(memories=1, search=2.0, load=2.0, index=3, file=4))["search"]
    -0.5
    """
    names = ("search", "load", "index", "file")
    return {name: getattr(predicted, name) / getattr(measured, name) - 1 for name in names}
