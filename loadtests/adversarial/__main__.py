"""Print the time of every reader of text by the length of the text, for the family that is slowest at an eighth of it.

    python -m loadtests.adversarial [READER ...] [--all] [--memory] [--long] [--docs docs]

Processor time in milliseconds. `growth` is the time of the longest text over that of half of it: 2 is linear, 4 is
quadratic. A reader whose texts are bounded below 100,000 characters ends at its bound. With --all there is a row for
every family; with --docs the rows of slow readers go into security.md there.

With --long texts grow to a million characters, or until their time grows faster than n log n. Without --all these
are the families slowest at 62,500 characters, and those that grow too fast up to there. Readers of worker processes
join, measured by the processor time of these. A text that exceeds their limit is stored as plain text, or refused.
There is a row for the slowest family of each reader, and for each that grows too fast.
"""

import argparse
import io
import os
import resource
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time

import msgspec

from loadtests.adversarial.growth import SOON, TOP, Call, Steep, curve, long_fault, seconds
from loadtests.adversarial.readers import FORMS, OF_WORKERS, READERS, Reader
from loadtests.adversarial.texts import FAMILIES
from loadtests.document import put
from muisti.core.model.unreadable import TimedOut, Unreadable
from muisti.core.parsing.code import apart
from muisti.core.parsing.parsed import About, Options
from muisti.core.parsing.workers import Workers

LENGTHS = (12_500, 25_000, 50_000, TOP)
PLACE, LONG_PLACE = "adversarial", "adversarial-long"
LONG = 1_000_000  # characters
SLOWEST = 4  # families
SLOW, LONG_SLOW = 50.0, 3000.0  # milliseconds
SHORTEST = 0.005  # seconds; shorter times say nothing about growth


def rows(readers: Sequence[Reader], *, every: bool, memory: bool) -> Iterator[list[str]]:
    """Yield a row for each reader, or for each of its families."""
    for reader in readers:
        top = min(reader.top, TOP)
        took = {name: seconds(reader.call, family(top // 8)) for name, family in FAMILIES.items()}
        chosen = FAMILIES if every else [max(took, key=lambda name: took[name])]
        for name in chosen:
            found = curve(reader.call, FAMILIES[name], [top // (TOP // length) for length in LENGTHS])
            half, whole = [*found.values()][-2:]
            growth = f"{whole / half:.1f}" if whole >= 0.001 else "–"
            times = [f"{1000 * took:.1f}" for took in found.values()]
            yield [reader.name, name, f"{top:,}", *times, growth, *([_peak(reader, name, top)] if memory else [])]


class Apart:
    """Reads texts in worker processes, and says what their processor time is."""

    def __init__(self, reader: Reader) -> None:
        kind, _, self._form = reader.name.partition(": ")
        self._is_code = kind == "code"
        self._workers = Workers(1, program=apart.PROGRAM if self._is_code else "muisti.core.parsing.worker")
        self.stopped = 0

    def call(self, text: str) -> None:
        data = text.encode("utf-8", "replace") if self._is_code else FORMS[self._form](text)
        form = msgspec.json.encode(apart.Question("definitions", self._form)).decode() if self._is_code else self._form
        limits = apart.LIMITS if self._is_code else Options()
        try:
            for _ in self._workers.read(form, data, io.BytesIO(), "a", limits, About()):
                pass
        except TimedOut:
            self.stopped += 1
        except Unreadable:
            pass

    def clock(self) -> float:
        """Return the seconds of workers that have ended and of the one that waits."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime + sum(map(_used, self._workers.processes))


def _used(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def long_rows(readers: Sequence[Reader], *, every: bool) -> Iterator[list[str]]:
    """Yield a row for the slowest family of each reader, and for each family that grows too fast."""
    for reader in readers:
        top = LONG if reader.top == TOP else reader.top
        worker = Apart(reader) if reader in OF_WORKERS else None
        call, clock = (reader.call, process_time) if worker is None else (worker.call, worker.clock)
        found: dict[str, tuple[Steep, int]] = {}
        for name in FAMILIES if every else _suspects(call, min(SOON, top), clock):
            before = worker.stopped if worker else 0
            found[name] = long_fault(call, FAMILIES[name], top, clock), (worker.stopped if worker else 0) - before
        slowest = max(found, key=lambda name: found[name][0].seconds)
        for name, (end, stopped) in found.items():
            if every or name == slowest or end.fault:
                grows = "stopped by its limit" if stopped else "yes" if end.fault else "no"
                growth = f"{end.growth:.1f}" if end.growth else "–"
                yield [reader.name, name, f"{end.length:,}", f"{1000 * end.seconds:.0f}", growth, grows]


def _suspects(call: Call, length: int, clock: Callable[[], float]) -> list[str]:
    """Return the families that are slowest on a short text, and those whose time grows too fast up to it."""
    took: dict[str, list[float]] = {}
    for name, family in FAMILIES.items():
        for size in (length // 4, length):
            began = clock()
            call(family(size))
            took.setdefault(name, []).append(clock() - began)
    slowest = sorted(took, key=lambda name: -took[name][1])[:SLOWEST]
    return [name for name, (part, whole) in took.items() if name in slowest or whole > max(6 * part, SHORTEST)]


def _peak(reader: Reader, name: str, top: int) -> str:
    """Return the megabytes that a call takes at most."""
    text = FAMILIES[name](top)
    tracemalloc.start()
    reader.call(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{peak / 1e6:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.adversarial",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reader", nargs="*", help="names of readers; all without one")
    parser.add_argument("--all", action="store_true", help="every family of texts, not the slowest alone")
    parser.add_argument("--memory", action="store_true", help="also the most memory of a call, in MB")
    parser.add_argument("--long", action="store_true", help="to a million characters, with the readers of workers")
    parser.add_argument("--docs", type=Path, help="the folder of security.md, which gets the table")
    asked = parser.parse_args()
    known = [*READERS, *(OF_WORKERS if asked.long else ())]
    unknown = set(asked.reader) - {one.name for one in known}
    if unknown:
        parser.error(f"no reader {', '.join(sorted(unknown))}; there are {', '.join(one.name for one in known)}")
    chosen = [one for one in known if not asked.reader or one.name in asked.reader]
    if asked.long:
        head = ["reader", "slowest on", "characters", "ms", "growth", "faster than n log n"]
        made = long_rows(chosen, every=asked.all)
    else:
        head = ["reader", "slowest on", "characters", "ms at 1/8", "1/4", "1/2", "all", "growth"]
        head += ["MB"] if asked.memory else []
        made = rows(chosen, every=asked.all, memory=asked.memory)
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    sys.stdout.write("\n".join(lines) + "\n")
    for row in made:
        sys.stdout.write(f"| {' | '.join(row)} |\n")
        sys.stdout.flush()
        if float(row[3]) >= LONG_SLOW if asked.long else float(row[6]) >= SLOW:
            lines.append(f"| {' | '.join(row)} |")
    if asked.docs is not None:
        place = LONG_PLACE if asked.long else PLACE
        put({place: "\n".join(lines) + "\n"}, asked.docs / "why" / "security.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
