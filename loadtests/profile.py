"""Where the time of a search goes, in process and over HTTP: `python -m loadtests.profile --text DIR`.

In process a timer interrupts searches twice a millisecond and notes which function of Muisti runs. The time of numpy,
SQLite and the kernels counts for the function that called them. Over HTTP, ever simpler requests are timed in turn, so
that each difference is the cost of one layer.
"""

import argparse
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from deploy.cluster.ports import free_ports
from loadtests import http_load, texts
from loadtests.bed import Bed
from loadtests.http_load import Request
from loadtests.muisti import Muisti
from loadtests.services import muisti as service
from loadtests.services.process import running
from loadtests.tables import Table, rich_table
from loadtests.timing import WARMING

SAMPLE = 0.0005  # seconds
SHOWN = 25  # functions
CORE = str(Path(__file__).parent.parent / "core")
ROUNDS = 5

console = Console(width=120)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make profile", description=__doc__)
    parser.add_argument("--text", type=Path, help="folder of real texts, as for make bench; made words otherwise")
    parser.add_argument("--size", type=int, default=100_000, help="memories (default 100,000)")
    parser.add_argument("--queries", type=int, default=2_000, help="searches to sample (default 2,000)")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where databases are kept")
    options = parser.parse_args()
    cache = options.runs / "cache"
    found, questions = texts.real(options.text, cache) if options.text else texts.invented(options.size)
    with Bed(found[: options.size], questions, cache, peers=False) as bed:
        for table in (in_process(bed, options.queries), over_http(bed, options.queries // 4)):
            console.print(rich_table(table))
    return 0


def in_process(bed: Bed, queries: int) -> Table:
    """Return the microseconds of a hybrid search by Muisti's running function, largest first."""
    asked = bed.questions(queries + WARMING)
    muisti = bed.muisti()
    for question in asked[queries:]:
        muisti.search(question, "hybrid")
    with _sampled() as samples:
        cpu, seconds = _searched(muisti, asked[:queries])
    total = sum(samples.values())
    each = 1e6 * cpu / queries
    rows = [[name, f"{each * count / total:.0f}", f"{count / total:.1%}"] for name, count in samples.most_common(SHOWN)]
    rest = total - sum(count for _, count in samples.most_common(SHOWN))
    rows += [["all others", f"{each * rest / total:.0f}", f"{rest / total:.1%}"], ["in all", f"{each:.0f}", "100 %"]]
    median = 1000 * statistics.median(seconds)
    title = f"a hybrid search of {bed.size:,} memories in process, µs of processor time ({median:.2f} ms by the clock)"
    return Table("profile", title, ["where", "µs", "share"], rows)


def over_http(bed: Bed, queries: int) -> Table:
    """Microseconds of a search by one client, layer by layer: medians of requests made in turn."""
    asked = bed.questions(queries * ROUNDS + WARMING)
    requests = [service.search(question) for question in asked]
    health = Request("/healthz", b"", 200, "GET")
    refused = Request(requests[0].path, b'{"query": "x", "limit": 0}', 422)
    with service.serving(bed.database()[0], bed.model) as server, _canned() as port:
        http_load.run(server.port, requests[-WARMING:], 1)
        times: dict[str, list[float]] = {"canned": [], "health": [], "refused": [], "search": []}
        inside: list[dict[str, float]] = []
        for turn in range(ROUNDS):
            times["canned"] += http_load.run(port, [health] * queries, 1).latencies
            times["health"] += http_load.run(server.port, [health] * queries, 1).latencies
            times["refused"] += http_load.run(server.port, [refused] * queries, 1).latencies
            load = http_load.run(server.port, requests[turn * queries : (turn + 1) * queries], 1)
            times["search"] += load.latencies
            inside += [_server_timing(head) for head in load.heads]
    medians = {name: 1e6 * statistics.median(values) for name, values in times.items()}
    stages = {name: 1000 * statistics.median(one[name] for one in inside) for name in inside[0] if name != "total"}
    known = sum(stages.values())
    layers = [
        ("client, loopback, an answer ready made", medians["canned"]),
        ("server, routing, log line (of GET /healthz)", medians["health"] - medians["canned"]),
        ("reading and checking the body, headers (of a refused search)", medians["refused"] - medians["health"]),
        *((f"search: {name}", value) for name, value in stages.items()),
        ("thread, building and writing the answer, all else", medians["search"] - medians["refused"] - known),
        ("in all, by the clock", medians["search"]),
    ]
    rows = [[name, f"{value:.0f}", f"{value / medians['search']:.1%}"] for name, value in layers]
    return Table(
        "profile-http", f"a search of {bed.size:,} memories over HTTP, one client", ["where", "µs", "share"], rows
    )


def _searched(muisti: Muisti, asked: Sequence[str]) -> tuple[float, list[float]]:
    began, seconds = time.process_time(), []
    for question in asked:
        start = time.perf_counter()
        muisti.search(question, "hybrid")
        seconds.append(time.perf_counter() - start)
    return time.process_time() - began, seconds


@contextmanager
def _sampled() -> Iterator[Counter[str]]:
    """Counts how often each function of the core runs when the timer rings."""
    samples: Counter[str] = Counter()

    def note(_signal: int, frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.startswith(CORE):
            frame = frame.f_back
        if frame is not None:
            module = frame.f_code.co_filename.removeprefix(CORE).strip("/").removesuffix(".py")
            samples[f"{module}: {frame.f_code.co_qualname}"] += 1  # ours, or whoever of ours called it

    before = signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, SAMPLE, SAMPLE)
    try:
        yield samples
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _canned() -> Iterator[int]:
    """Run a server process that answers every request with the same bytes."""
    (port,) = free_ports(1)
    with running([sys.executable, "-m", "loadtests.canned", str(port)], {}, f"http://127.0.0.1:{port}/"):
        yield port


def _server_timing(head: bytes) -> dict[str, float]:
    """Milliseconds by stage."""
    (line,) = (line for line in head.split(b"\r\n") if line.lower().startswith(b"server-timing:"))
    stages = (stage.strip().split(";dur=") for stage in line.partition(b":")[2].decode().split(","))
    return {name: float(value) for name, value in stages}


if __name__ == "__main__":
    sys.exit(main())
