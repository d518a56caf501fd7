"""Counters and histograms, which any thread may add to and read at any time.

An addition takes half a microsecond. Nothing here knows the format in which the numbers are published.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec

# Progress of long work, reported by the code that does it

Progress = Callable[[str, int, int], None]  # stage, done, of how many


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


Labels = tuple[str, ...]

SHORT = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)  # seconds
LONG = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
LONGEST = (0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)  # seconds, of tasks
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Counter:
    """Number of events, by labels."""

    def __init__(self, *known: Labels) -> None:
        """Start `known` label sets at 0, since a growth rate needs a value before the first event."""
        self._lock = threading.Lock()
        self._counts: dict[Labels, float] = dict.fromkeys(known, 0)

    def add(self, *labels: str, by: float = 1) -> None:
        with self._lock:
            self._counts[labels] = self._counts.get(labels, 0) + by

    def read(self) -> dict[Labels, float]:
        with self._lock:
            return dict(self._counts)


class Gauge(Counter):
    """A number that rises and falls, by labels."""

    def put(self, values: Mapping[Labels, float]) -> None:
        """Set the values; labels that are not among them have none any more."""
        with self._lock:
            self._counts = dict(values)


class Spread(NamedTuple):
    """Cumulative counts of the values up to each bound, with the count of all values last, and their sum."""

    up_to: Sequence[int]
    total: float


class Histogram:
    """Distribution of values, by labels."""

    def __init__(self, bounds: Sequence[float], *known: Labels) -> None:
        """Set the bounds, in rising order; a value equal to a bound counts as below it. `known` as in `Counter`.

        >>> sizes = Histogram((1, 8))
        >>> for size in (1, 3, 20):
        ...     sizes.add(size)
        >>> sizes.read()
        {(): Spread(up_to=(1, 2, 3), total=24.0)}
        """
        self.bounds = tuple(bounds)
        self._lock = threading.Lock()
        self._counts = {labels: [0] * (1 + len(self.bounds)) for labels in known}
        self._totals = dict.fromkeys(known, 0.0)

    def add(self, value: float, *labels: str) -> None:
        place = bisect_left(self.bounds, value)
        with self._lock:
            counts = self._counts.get(labels)
            if counts is None:
                counts = self._counts[labels] = [0] * (1 + len(self.bounds))
                self._totals[labels] = 0.0
            counts[place] += 1
            self._totals[labels] += value

    def add_each(self, values: Iterable[tuple[float, Labels]], unit: float) -> None:
        """Add a value for each of some known labels; `unit` is what a value of 1 stands for."""
        with self._lock:
            for given, labels in values:
                value = given * unit
                self._counts[labels][bisect_left(self.bounds, value)] += 1
                self._totals[labels] += value

    def read(self) -> dict[Labels, Spread]:
        with self._lock:
            return {
                labels: Spread(tuple(accumulate(counts)), self._totals[labels])
                for labels, counts in self._counts.items()
            }


class StoreMeters(msgspec.Struct, frozen=True):
    """Counters and histograms of a database.

    `waiting` returns the number of writes in the queue of the one writer. `lag` returns the number of writes that this
    process knows of and its read replica has not yet shown. Each is None where there is no such queue or replica.
    """

    waiting: Callable[[], int] | None = None
    lag: Callable[[], int] | None = None
    commit_seconds: Histogram = msgspec.field(default_factory=lambda: Histogram(LONG, ()))
    group_writes: Histogram = msgspec.field(default_factory=lambda: Histogram(POWERS, ()))  # writes in one commit
    retries: Counter = msgspec.field(default_factory=Counter)  # by server and reason


class TaskMeters(msgspec.Struct, frozen=True):
    """Counters of tasks, by their kind; `blocked` by the code of an error. All are of this process, but for two.

    `queued` and `failing` have tasks of the whole database, as a process that works on tasks has seen them last.
    """

    queued: Gauge = msgspec.field(default_factory=Gauge)
    blocked: Gauge = msgspec.field(default_factory=Gauge)  # 1 while an error of this code keeps this process from work
    failing: Gauge = msgspec.field(default_factory=Gauge)  # like `queued`: they go on, but keep failing
    running: Gauge = msgspec.field(default_factory=Gauge)
    ended: Counter = msgspec.field(default_factory=Counter)  # also by their state
    takeovers: Counter = msgspec.field(default_factory=Counter)  # claims of tasks whose process had ended
    seconds: Histogram = msgspec.field(default_factory=lambda: Histogram(LONGEST))  # from the first claim to the end

    def know(self, kind: str, states: Iterable[str]) -> None:
        """Start the counters of a kind at 0."""
        self.failing.add(kind, by=0)
        self.running.add(kind, by=0)
        self.takeovers.add(kind, by=0)
        for state in states:
            self.ended.add(kind, state, by=0)


class GraphMeters(msgspec.Struct, frozen=True):
    """Counters of what this process has read for the graph."""

    versions: Counter = msgspec.field(default_factory=lambda: Counter(("chosen",), ("fallback",)))  # by who read them
    dropped: Counter = msgspec.field(default_factory=lambda: Counter(()))  # names that are not in their text


class Meters(msgspec.Struct, frozen=True):
    """Counters and histograms of an engine."""

    store: StoreMeters
    graph: GraphMeters = msgspec.field(default_factory=GraphMeters)
    tasks: TaskMeters = msgspec.field(default_factory=TaskMeters)
    changes: Counter = msgspec.field(default_factory=lambda: Counter(()))  # of memories, committed
    second_vectors: Counter = msgspec.field(default_factory=lambda: Counter(()))  # of passages, stored by steps
    load_seconds: Histogram = msgspec.field(default_factory=lambda: Histogram(LONG, ()))  # of an index
