"""Print the time of every reader of text by the length of the text, for the family that is slowest at an eighth of it.

    python -m loadtests.adversarial [READER ...] [--all] [--memory] [--docs docs]

Processor time in milliseconds. `growth` is the time of the longest text over that of half of it: 2 is linear, 4 is
quadratic. A reader whose texts are bounded below 100,000 characters ends at its bound. With --all there is a row for
every family; with --docs the table goes into security.md there.
"""

import argparse
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

from loadtests.adversarial.growth import TOP, curve, seconds
from loadtests.adversarial.readers import READERS, Reader
from loadtests.adversarial.texts import FAMILIES
from loadtests.document import put

LENGTHS = (12_500, 25_000, 50_000, TOP)
PLACE = "adversarial"


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
    parser.add_argument("--docs", type=Path, help="the folder of security.md, which gets the table")
    asked = parser.parse_args()
    unknown = set(asked.reader) - {one.name for one in READERS}
    if unknown:
        parser.error(f"no reader {', '.join(sorted(unknown))}; there are {', '.join(one.name for one in READERS)}")
    chosen = [one for one in READERS if not asked.reader or one.name in asked.reader]
    head = ["reader", "slowest on", "characters", "ms at 1/8", "1/4", "1/2", "all", "growth"]
    head += ["MB"] if asked.memory else []
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    sys.stdout.write("\n".join(lines) + "\n")
    for row in rows(chosen, every=asked.all, memory=asked.memory):
        lines.append(f"| {' | '.join(row)} |")
        sys.stdout.write(f"{lines[-1]}\n")
        sys.stdout.flush()
    if asked.docs is not None:
        put({PLACE: "\n".join(lines) + "\n"}, asked.docs / "why" / "security.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
