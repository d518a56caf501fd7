"""`python -m loadtests.scale`: what many tenants need and where one large tenant breaks.

By the constants that are committed, or with --measure by those of this machine.

    python -m loadtests.scale
    python -m loadtests.scale --memories 5000 --searches 50 --writes 10
    python -m loadtests.scale --measure --text DIR --docs docs
"""

import argparse
from pathlib import Path

from rich.console import Console

from loadtests import texts
from loadtests.document import markdown, put
from loadtests.scale import constants
from loadtests.scale.measure import MEASURED, measure
from loadtests.scale.model import Traffic
from loadtests.scale.report import draw, tables
from loadtests.scale.simulate import Replica, Tenants
from loadtests.tables import rich_table


def main() -> None:
    options = _options()
    console = Console(width=140)
    if options.measure:
        known = texts.invented(max(MEASURED)) if options.text is None else texts.real(options.text, options.cache)
        constants.save(measure(*known, options.cache, console.print))
    found = constants.load()
    each = Tenants(options.memories, options.searches, options.writes, options.pause)
    traffic = Traffic(options.active, options.sessions, options.peak)
    replica = Replica(options.cores, options.index_memory << 30)
    made = list(tables(found, each, traffic, replica))
    for table in made:
        console.print(rich_table(table))
    console.print(f"by constants of {found.machine['processor']}, {found.machine['system']}")
    if options.docs is not None:
        draw(found, each, traffic, replica, options.docs / "img")
        put({table.stage: markdown(table) for table in made}, options.docs / "how-to" / "scaling.md")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    each, traffic, replica = Tenants(), Traffic(), Replica()
    parser.add_argument("--memories", type=int, default=each.memories, help="of a tenant (%(default)s)")
    parser.add_argument("--searches", type=int, default=each.searches, help="of a session (%(default)s)")
    parser.add_argument("--writes", type=int, default=each.writes, help="of a session (%(default)s)")
    parser.add_argument("--pause", type=float, default=each.pause, help="seconds between two requests (%(default)s)")
    parser.add_argument("--active", type=float, default=traffic.active, help="share of tenants on a day (%(default)s)")
    parser.add_argument("--sessions", type=float, default=traffic.sessions, help="of an active one (%(default)s)")
    parser.add_argument("--peak", type=float, default=traffic.peak, help="busiest hour over the mean (%(default)s)")
    parser.add_argument("--cores", type=int, default=replica.cores, help="of a replica (%(default)s)")
    parser.add_argument("--index-memory", type=int, default=replica.memory >> 30, help="GiB of it (%(default)s)")
    parser.add_argument("--measure", action="store_true", help="measure the constants of this machine first")
    parser.add_argument("--text", type=Path, help="folder of judged sets or texts to measure with; else made words")
    parser.add_argument("--cache", type=Path, default=Path("runs/cache"), help="where filled databases are kept")
    parser.add_argument("--docs", type=Path, help="write tables and pictures into this folder's scaling.md and img/")
    return parser.parse_args()


if __name__ == "__main__":
    main()
