"""`make load`: an open-loop load test of a server with the requests of several applications.

Starts a server on a temporary file, fills it, runs locust's applications, and writes a report into build/load/.

    make load                                         half a minute of chats, imports, reading applications and tools
    make load TEXT=path/to/texts ARGS="--seconds 120 --size 100000"
    make load ARGS="--overload"                       ten times what it can do, for two minutes, and what is shed
    make load ARGS="--overload --mix writes --seconds 30"
    make load ARGS="--tenants"                        a tenant alone, and beside one who does the worst
    make load ARGS="--sweep"                          throughput and latency by users, memories and workers

The exit code is 0 when all criteria hold. `--docs docs` draws a sweep or an overload into docs/img.
`--runs DIR` caches what takes long to make, and resumes an interrupted sweep.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from rich.console import Console

from loadtests import gates, overload, scenarios, sweep, tenants, texts
from loadtests.bed import Bed
from loadtests.gates import Gate
from loadtests.services import muisti
from loadtests.services.process import apart
from loadtests.services.service import Running
from loadtests.tables import rich_table
from loadtests.traffic import MIXES, Traffic

SIZE = 10_000
SECONDS, OVERLOAD_SECONDS = 30.0, 120.0
SEED = 7

console = Console(width=140)


def main() -> int:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.sweep:
        return _sweep(options)
    corpus, questions = _texts(options, options.size)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "muisti.db"
        with Bed(corpus[: options.size], questions, options.runs / "cache", peers=False) as bed:
            console.print(f"filling a file with {options.size:,} memories")
            shutil.copy(bed.database()[0], database)
        with muisti.serving(database, workers=options.workers) as running:
            traffic = Traffic(corpus[: options.size], questions, MIXES[options.mix], SEED)
            if options.overload:
                with apart(running.pid):
                    return _overload(running.port, traffic, options)
            if options.tenants:
                return _tenants(running, traffic, corpus[: options.size], options)
            return _scenarios(running.port, traffic, corpus[: options.size], options)


def _scenarios(port: int, traffic: Traffic, corpus: Sequence[str], options: argparse.Namespace) -> int:
    written = options.out / "texts.txt"
    written.write_text("".join(f"{text}\n" for text in corpus), "utf-8")
    run = scenarios.measure(port, written, traffic, options.seconds or SECONDS, options.out, console.print)
    judged = list(scenarios.gates(run))
    page = scenarios.report(run, judged, options.out)
    console.print(rich_table(scenarios.table(run)))
    console.print(f"report: {page}")
    return _verdict(judged)


def _tenants(server: Running, traffic: Traffic, corpus: Sequence[str], options: argparse.Namespace) -> int:
    written = options.out / "texts.txt"
    written.write_text("".join(f"{text}\n" for text in corpus), "utf-8")
    run = tenants.measure(
        server, written, traffic, options.seconds or SECONDS, options.out, console.print, options.without
    )
    console.print(rich_table(tenants.table(run)))
    console.print(rich_table(tenants.table_of_worst(run)))
    return _verdict([*tenants.gates(run)])


def _overload(port: int, traffic: Traffic, options: argparse.Namespace) -> int:
    run = overload.measure(port, traffic, options.seconds or OVERLOAD_SECONDS, console.print)
    judged = list(overload.gates(run))
    console.print(rich_table(overload.table(run)))
    figures = options.out / "overload.json"
    figures.write_text(json.dumps(overload.figures(run)), "utf-8")
    picture = (options.docs / "img" if options.docs else options.out) / "load-overload.svg"
    scenarios.draw("overload", figures, picture)
    console.print(f"picture: {picture}")
    return _verdict(judged)


def _sweep(options: argparse.Namespace) -> int:
    corpus, questions = _texts(options, max(options.sizes))
    folder = options.runs / "load"
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    sweep.measure(corpus, questions, options.sizes, options.runs / "cache", folder, console.print)
    found = sweep.load(folder)
    for table in sweep.tables(found):
        console.print(rich_table(table))
    console.print(sweep.ceiling(found))
    figures = options.out / "sweep.json"
    figures.write_text(json.dumps(found), "utf-8")
    picture = (options.docs / "img" if options.docs else options.out) / "load-sweep.svg"
    scenarios.draw("sweep", figures, picture)
    console.print(f"picture: {picture}")
    return int(any(cell["failures"] for cell in chain.from_iterable(one["cells"] for one in found)))


def _verdict(judged: Sequence[Gate]) -> int:
    console.print(rich_table(gates.table(judged)))
    broken = [gate for gate in judged if not gate.holds]
    console.print(f"[red]{len(broken)} of {len(judged)} gates broken[/]" if broken else "all gates hold")
    return int(bool(broken))


def _texts(options: argparse.Namespace, count: int) -> tuple[list[str], list[str]]:
    if options.text is None:
        return texts.invented(count)
    return texts.real(options.text, options.runs / "cache")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", type=Path, help="folder of judged sets, or with texts.txt and questions.txt")
    parser.add_argument("--size", type=int, default=SIZE, help="memories (default %(default)s)")
    parser.add_argument("--seconds", type=float, help=f"of load (default {SECONDS:g}, overload {OVERLOAD_SECONDS:g})")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server (default %(default)s)")
    parser.add_argument("--overload", action="store_true", help="ten times as much as the server can do")
    parser.add_argument("--tenants", action="store_true", help="a tenant alone, and beside one who does the worst")
    parser.add_argument("--without", default="", help="what the second tenant leaves out, with commas: hostile code")
    parser.add_argument("--mix", choices=list(MIXES), default="mixed", help="of an overload (default %(default)s)")
    parser.add_argument("--sweep", action="store_true", help="by users, memories and workers")
    parser.add_argument("--sizes", type=_sizes, default=sweep.SIZES, help="memories of a sweep: 1000,10000 …")
    parser.add_argument("--fresh", action="store_true", help="measure again what a sweep has measured already")
    parser.add_argument("--docs", type=Path, help="draw pictures into this folder's img/")
    parser.add_argument("--out", type=Path, default=Path("build/load"), help="folder of reports (default %(default)s)")
    parser.add_argument("--runs", type=Path, default=Path("build/load"), help="where figures and caches are kept")
    return parser.parse_args()


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size.replace("_", "")) for size in text.split(","))


if __name__ == "__main__":
    sys.exit(main())
