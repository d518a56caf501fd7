"""`make compare OTHER=dir`: the speed of this tree beside that of another checkout of Muisti, such as a `git worktree`.

Both trees run as servers with the same Python and packages. Each has filled a file of its own with the same memories.
Clients ask them in turn. Compared is the processor time of the server for each request: a busy machine
changes it less than the rate. A ratio is this tree's time by the other's in one round, so below 1 this tree is faster.

One process may be some percent faster than the next of the same code. So both servers are started several times, each
time on fresh copies of the files. `make compare OTHER=.` shows what differs by chance.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
from rich.console import Console

from loadtests import http_load, texts
from loadtests.bed import Bed
from loadtests.checkout import THIS, Checkout
from loadtests.fill import SPACE, group_of
from loadtests.http_load import Request
from loadtests.services import muisti
from loadtests.services.process import apart, resident, rested, worked
from loadtests.services.service import Running
from loadtests.tables import Table, rich_table
from muisti.core.text.secrets import secrets_in

SIZE, STARTS, ROUNDS = 10_000, 4, 15
BATCH = 500  # memories that a filling request adds
SPARE = 20_000  # texts besides the corpus, for adds
START = "start to first answer"
MEMORY = "memory in the end, in MB"


READS = {"search": "search", "filtered": "search, 10 % filter", "context": "context"}


@dataclass(frozen=True, slots=True)
class Case:
    """Requests of one kind: `search`, `filtered` search, `context`, or an add with `keep` or `reject`.

    A round sends `requests` to each server. The filter is always the same, and 10 % of the memories pass it.
    """

    kind: str
    clients: int
    requests: int

    @property
    def name(self) -> str:
        what = READS.get(self.kind, f"add, {self.kind}")
        return f"{what}, {self.clients} {'client' if self.clients == 1 else 'clients'}"


REQUESTS = {  # short: what disturbs one disturbs both
    "search": (60, 160),
    "filtered": (60, 160),
    "context": (30, 80),
    "keep": (40, 160),
    "reject": (40, 160),
}
CASES = [
    Case(kind, clients, count)
    for kind, counts in REQUESTS.items()
    for clients, count in zip((1, 16), counts, strict=True)
]
WARMING = {
    "search": 300,
    "filtered": 20,
    "context": 100,
    "keep": 100,
    "reject": 100,
}  # requests of each kind that is measured


@dataclass(frozen=True, slots=True)
class Slot:
    """One server's share of a round: seconds of processor time for each request, requests a second, failures."""

    cpu: float
    per_second: float
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """Slots of both servers in one round of one start."""

    start: int
    this: Slot
    other: Slot

    @property
    def ratio(self) -> float:
        return self.this.cpu / self.other.cpu


Found = Mapping[str, Sequence[Pair]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    options = _options(arguments)
    trees = (THIS, Checkout(options.other))
    console = Console(width=140)
    cases = [case for case in CASES if options.only is None or case.kind in options.only.split(",")]
    needed = options.size + SPARE
    corpus, questions = texts.invented(needed) if options.text is None else texts.real(options.text, options.cache)
    corpus = [text for text in corpus[:needed] if not secrets_in(text)]
    with (
        tempfile.TemporaryDirectory() as folder,
        Bed(corpus[: options.size], questions, options.cache, unseen=corpus[options.size :]) as bed,
    ):
        kept = Path(folder) if options.keep is None else options.keep
        files = [kept / f"{name}-{bed.size}.db" for name in ("this", "other")]
        for tree, file in zip(trees, files, strict=True):
            tree.prepare()
            _fill_once(tree, file, bed, console)
        found = measured(trees, files, bed, cases, options.starts, options.rounds)
    console.print(rich_table(compared(found, f"{options.name}, {bed.size:,} memories")))
    console.print(f"load average {os.getloadavg()[0]:.1f}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--name", default="the other", help="name of the other checkout in the table")
    parser.add_argument("--text", type=Path, help="folder of judged sets, or with texts.txt and questions.txt")
    parser.add_argument("--size", type=int, default=SIZE, help="memories (default %(default)s)")
    parser.add_argument("--starts", type=int, default=STARTS, help="of both servers (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each start (default %(default)s)")
    parser.add_argument("--only", metavar="KINDS", help="of search,filtered,context,keep,reject")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the filled files, and take those kept before")
    parser.add_argument("--cache", type=Path, default=Path("runs/cache"), help="what takes long to make is kept here")
    return parser.parse_args(arguments)


def _fill_once(tree: Checkout, file: Path, bed: Bed, console: Console) -> None:
    """Fill a file, unless it is there from an earlier run."""
    if file.exists():
        console.print(f"{file} was filled before: delete it when its texts or its format are others now")
        return
    console.print(f"filling {file} by {tree.folder.resolve()} with {bed.size:,} memories")
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".unfinished")
    for rest in unfinished.parent.glob(f"{unfinished.name}*"):  # of a run that was stopped
        rest.unlink()
    filled(tree, unfinished, bed.texts)
    unfinished.rename(file)


def filled(tree: Checkout, file: Path, memories: Sequence[str]) -> None:
    """Let a server of `tree` make a database at `file`, add the memories, load the space once, and end all tasks."""
    space = Request("/v1/spaces", json.dumps({"name": SPACE}).encode(), 201)
    with muisti.serving(file, code=tree) as running:
        adds = [_batch(memories, first) for first in range(0, len(memories), BATCH)]
        added = http_load.run(running.port, [space, *adds, muisti.search("anything")], 1)
        rested(running.pid)
    if added.failures:
        bad = next(body for head, body in zip(added.heads, added.bodies, strict=True) if head[9:11] != b"20")
        raise RuntimeError(f"{tree.folder} could not be filled: {bad!r:.300}")


def _batch(memories: Sequence[str], first: int) -> Request:
    rows = range(first, min(first + BATCH, len(memories)))
    drafts = [{"content": memories[row], "metadata": {"a": group_of(row)}} for row in rows]
    body = json.dumps({"memories": drafts, "atomic": True, "on_conflict": "keep"}).encode()
    return Request(f"/v1/spaces/{SPACE}/memories/batch", body, 201)


class Asked:
    """Requests for one start of the servers: no question is asked twice, no text is added twice."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._searches = 0
        self._texts = iter(bed.unseen)

    def some(self, kind: str, count: int) -> list[Request]:
        """The next `count` requests of a kind. Raises `ValueError` when there are too few texts."""
        if kind in READS:
            self._searches += count
            questions = self._bed.questions(count, self._searches - count)
            if kind == "context":
                return [*map(muisti.context, questions)]
            options = {"filter": {"metadata.a": {"lt": 10}}} if kind == "filtered" else {}
            return [muisti.search(text, **options) for text in questions]
        found = [muisti.write(text, kind) for text in islice(self._texts, count)]
        if len(found) < count:
            raise ValueError("there are too few texts besides the corpus: take a smaller --size or fewer --rounds")
        return found


def measured(
    trees: Sequence[Checkout], files: Sequence[Path], bed: Bed, cases: Sequence[Case], starts: int, rounds: int
) -> Found:
    """Start the servers of this tree and of the other `starts` times, and ask them in turn for `rounds` rounds."""
    found: dict[str, list[Pair]] = {START: [], **{case.name: [] for case in cases}, MEMORY: []}
    for start in range(starts):
        asked = Asked(bed)
        (first,) = asked.some("search", 1)
        with tempfile.TemporaryDirectory(dir=files[0].parent) as folder, ExitStack() as stack:
            servers: dict[int, Running] = {}
            begun: dict[int, Slot] = {}
            for place in _turns(start):
                copy = Path(folder) / files[place].name
                shutil.copy(files[place], copy)
                servers[place], begun[place] = _started(trees[place], copy, first, stack)
            found[START].append(Pair(start, begun[0], begun[1]))
            pids = [server.pid for server in servers.values()]
            stack.enter_context(apart(*pids))
            rested(*pids)
            for group in _reading_first(cases):
                for kind in dict.fromkeys(case.kind for case in group):
                    _slots(servers, Case(kind, 1, WARMING[kind]), asked, start)
                for turn, (number, case) in product(range(rounds), enumerate(group)):
                    slots = _slots(servers, case, asked, turn + number)
                    found[case.name].append(Pair(start, slots[0], slots[1]))
            this, other = (Slot(resident(servers[place].pid) / 1e9, 0.0) for place in (0, 1))
            found[MEMORY].append(Pair(start, this, other))
    return found


def _reading_first(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """Return the searches, then the adds: a server that has written does background work soon after."""
    reads = [case for case in cases if case.kind in READS]
    return reads, [case for case in cases if case not in reads]


def _started(tree: Checkout, file: Path, first: Request, stack: ExitStack) -> tuple[Running, Slot]:
    """Start a server that ends with the stack, and give it the first question."""
    began = time.perf_counter()
    server = stack.enter_context(muisti.serving(file, code=tree))
    load = http_load.run(server.port, [first], 1)
    return server, Slot(worked(server.pid), 1 / (time.perf_counter() - began), load.failures)


def _slots(servers: Mapping[int, Running], case: Case, asked: Asked, turn: int) -> dict[int, Slot]:
    """Send the same requests to both servers."""
    requests = asked.some(case.kind, case.requests)
    return {place: _slot(servers[place], requests, case.clients) for place in _turns(turn)}


def _slot(server: Running, requests: Sequence[Request], clients: int) -> Slot:
    before = worked(server.pid)
    load = http_load.run(server.port, requests, clients)
    return Slot((worked(server.pid) - before) / len(requests), load.per_second, load.failures)


def _turns(number: int) -> tuple[int, int]:
    """Places of this tree and of the other: each comes first every other time."""
    return (0, 1) if number % 2 == 0 else (1, 0)


def compared(found: Found, other: str) -> Table:
    """The medians of both, the median of the ratios, its quartiles over all rounds, and its range over the starts."""
    rows = [[name, *_cells(pairs)] for name, pairs in found.items()]
    header = ["", "ms, this", "ms, other", "ratio", "quartiles", "by start", "a second, this", "other", "failed"]
    return Table("compare", f"processor time of the server for each request, this tree beside {other}", header, rows)


def _cells(pairs: Sequence[Pair]) -> Iterator[str]:
    ratios = [pair.ratio for pair in pairs]
    by_start = [
        float(np.median([pair.ratio for pair in pairs if pair.start == start])) for start in {p.start for p in pairs}
    ]
    low, middle, high = np.percentile(ratios, (25, 50, 75))
    yield from (f"{1000 * np.median([slot.cpu for slot in slots]):,.3f}" for slots in _sides(pairs))
    yield f"{middle:.3f}"
    yield f"{low:.3f} to {high:.3f}"
    yield f"{min(by_start):.3f} to {max(by_start):.3f}"
    yield from (f"{np.median([slot.per_second for slot in slots]):,.1f}" for slots in _sides(pairs))
    yield " + ".join(str(sum(slot.failures for slot in slots)) for slots in _sides(pairs))


def _sides(pairs: Sequence[Pair]) -> tuple[list[Slot], list[Slot]]:
    return [pair.this for pair in pairs], [pair.other for pair in pairs]


if __name__ == "__main__":
    main()
