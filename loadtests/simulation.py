"""Simulation of what no machine here can hold: ten million tenants on many databases, and one of 100 million memories.

    python -m loadtests.simulation                           # by the committed constants
    python -m loadtests.simulation --only eviction           # one table
    python -m loadtests.simulation --measure                 # restores of this machine first, on sqld
    python -m loadtests.simulation --docs docs               # tables and pictures into docs

Costs of searches, loads and indexes are those of `loadtests.scale`. Restores are measured here, on sqld, at some sizes
and checked at others. Hit rates come from `loadtests.balancers`.
"""

import argparse
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from msgspec import Struct
from rich.console import Console

from deploy.cluster.sqld import Sqld
from loadtests import texts
from loadtests.document import markdown, put
from loadtests.fill import fill
from loadtests.scale import constants
from loadtests.scale.constants import Constants
from loadtests.scale.model import Traffic, alone, fleet
from loadtests.scale.simulate import Replica, Tenants, who_asks
from loadtests.services.process import worked
from loadtests.tables import Table, rich_table
from muisti.core.index.eviction import Credits
from muisti.core.model.buckets import BUCKETS, bucket_of
from muisti.core.model.location import Location
from muisti.core.model.times import system_clock
from muisti.core.operations.whole_database import restore
from muisti.core.store.backup import back_up

FILE = Path(__file__).with_name("simulation.json")
FITTED, HELD_OUT = (1_000, 8_000), (3_000, 16_000)  # memories of a restore
GB = 1e9

# Placement: tenants have sizes of a log-normal law. A database is full where its restore takes four hours

TENANTS, DATABASES, NAMED = 10_000_000, 16, 1_000_000
SPREAD = 1.2  # of the logarithm of memories
RESTORE_SECONDS = 4 * 3_600
FULL, GOAL = 0.9, 0.7  # of a database's room: above the first buckets leave it, to databases below the second
PROMOTED = 1_000_000  # memories from which a tenant gets a place of its own
DAYS, START, GROWTH = 365, 0.2, 0.002  # a year that begins with a fifth of the tenants; memories grow by so much a day
PRICES = {"core": 15.0, "memory": 3.0, "disk": 0.1}  # a month, of a core and of GB: assumed


class Restored(Struct, frozen=True, kw_only=True):
    """A restore of a database: its bytes, and seconds of processor time of both sides together."""

    memories: int
    size: int
    seconds: float


class Balanced(Struct, frozen=True, kw_only=True):
    """Share of searches that found their index in memory, behind a real balancer."""

    balancer: str
    way: str
    hits: float


class Measured(Struct, frozen=True, kw_only=True):
    """Results of measurements on real servers, on one machine. `balanced` had the load that `BALANCED` describes."""

    machine: dict[str, str]
    restores: list[Restored]
    balanced: list[Balanced]

    @property
    def per_byte(self) -> tuple[float, float]:
        """Seconds of a restore: fixed, and for each byte, through the sizes that are fitted."""
        (x0, y0), (x1, y1) = ((one.size, one.seconds) for one in self.restores if one.memories in FITTED)
        each = (y1 - y0) / (x1 - x0)
        return y0 - each * x0, each

    def restore(self, size: float) -> float:
        fixed, each = self.per_byte
        return fixed + each * size


def load() -> Measured:
    return msgspec.json.decode(FILE.read_bytes(), type=Measured)


def keep(found: Measured) -> None:
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")


def restores() -> Iterator[Restored]:
    """Restore databases of several sizes into an empty sqld each."""
    known, _ = texts.invented(max(*FITTED, *HELD_OUT))
    for memories in sorted({*FITTED, *HELD_OUT}):
        with tempfile.TemporaryDirectory() as name, Sqld(Path(name) / "sqld") as sqld:
            folder = Path(name)
            fill(folder / "from.db", known[:memories])
            back_up(folder / "from.db", folder / "copy.db", system_clock())
            began = _worked(sqld)
            restore(folder / "copy.db", Location(url=sqld.url, namespace="default"), system_clock())
            yield Restored(memories=memories, size=(folder / "copy.db").stat().st_size, seconds=_worked(sqld) - began)


def _worked(sqld: Sqld) -> float:
    assert sqld.pid is not None
    return time.process_time() + worked(sqld.pid)


# Eviction: which index goes when memory is short


class Policy(Protocol):
    """Keys with a cost and a size, of which one goes; see `core.index.eviction`."""

    def put(self, key: int, cost: float, size: int) -> None: ...
    def pop_cheapest(self) -> int: ...


class Recent:
    """The least recently used goes first."""

    def __init__(self) -> None:
        self._keys: OrderedDict[int, None] = OrderedDict()

    def put(self, key: int, cost: float, size: int) -> None:
        del cost, size
        self._keys[key] = None
        self._keys.move_to_end(key)

    def pop_cheapest(self) -> int:
        return self._keys.popitem(last=False)[0]


class Loads(NamedTuple):
    """Share of searches that load an index, and seconds of loading for each search."""

    misses: float
    seconds: float


SPACES = 3_000


def sized(count: int, seed: int, typical: float = 1_500.0, spread: float = 1.6) -> np.ndarray:
    """Memories of each space: many small ones and a few large ones."""
    rng = np.random.default_rng(seed)
    return np.minimum(np.exp(rng.normal(np.log(typical), spread, count)), 500_000).astype(int) + 50


def loads(asked: Sequence[int], share: float, policy: Callable[[], Policy]) -> Loads:
    """Search spaces in this order with memory for a `share` of all bytes, and count from a fifth of the way."""
    found, memories = constants.load(), sized(SPACES, 3)
    sizes = [round(found.index(one)) for one in memories]
    costs = [max(found.load(one), 0.002) for one in memories]
    room, kept, held, free = share * sum(sizes), policy(), set[int](), 0
    counted, missed, seconds = len(asked) - len(asked) // 5, 0, 0.0
    for number, space in enumerate(asked):
        if space not in held:
            held.add(space)
            free += sizes[space]
            if number >= len(asked) // 5:
                missed += 1
                seconds += costs[space]
        if free > room:  # as the cache does it: the one in use is no candidate
            while free > room and len(held) > 1:
                gone = kept.pop_cheapest()
                if gone == space:
                    continue
                held.discard(gone)
                free -= sizes[gone]
        kept.put(space, costs[space], sizes[space])
    return Loads(missed / counted, seconds / counted)


def by_law(skew: float) -> Callable[[int], Sequence[int]]:
    """Return searches by Zipf's law; who asks most has nothing to do with who is largest."""

    def asked(count: int) -> Sequence[int]:
        order = np.random.default_rng(5).permutation(SPACES)
        return order[who_asks(SPACES, skew, count)].tolist()

    return asked


def in_sessions(count: int) -> Sequence[int]:
    """Return searches of sixty sessions at a time, of 25 searches each."""
    rng, coming = np.random.default_rng(9), iter(by_law(0.8)(count))
    made, going = list[int](), [[next(coming), 25] for _ in range(60)]
    while len(made) < count:
        session = going[rng.integers(len(going))]
        made.append(session[0])
        session[1] -= 1
        if not session[1]:
            session[:] = [next(coming), 25]
    return made


def beside_a_sweep(count: int) -> Sequence[int]:
    """Return searches by Zipf's law, each third of which is one of a sweep through all spaces."""
    usual = by_law(1.0)(count)
    return [number // 3 % SPACES if number % 3 == 2 else space for number, space in enumerate(usual)]


WORKLOADS: Mapping[str, Callable[[int], Sequence[int]]] = {
    "Zipf 1.0": by_law(1.0), "Zipf 0.8": by_law(0.8), "sessions": in_sessions, "beside a sweep": beside_a_sweep,
}  # fmt: skip


def evictions() -> Table:
    rows: list[list[str]] = []
    for name, made in WORKLOADS.items():
        asked = made(60_000)
        for share in (0.1, 0.3):
            costly, recent = loads(asked, share, Credits), loads(asked, share, Recent)
            rows.append([f"{name}, room for {share:.0%}", f"{recent.misses:.1%}", f"{costly.misses:.1%}",
                         f"{1000 * recent.seconds:.2f}", f"{1000 * costly.seconds:.2f}"])  # fmt: skip
    header = ["searches", "loads, least recent", "loads, by cost", "ms a search, least recent", "by cost"]
    return Table("simulated-eviction", "which index goes when memory is short", header, rows)


# Balancers: the same space always to the same replica, or to any

BALANCED = {"replicas": 3, "spaces": 60, "room": 12, "searches": 1_500, "skew": 0.6}


def hit_rate(way: str, seed: int = 1) -> float:
    """Share of searches whose index is in memory; a replica has room for `room` of the `spaces`, all of one size."""
    replicas, room = int(BALANCED["replicas"]), int(BALANCED["room"])
    asked = who_asks(int(BALANCED["spaces"]), BALANCED["skew"], int(BALANCED["searches"]), seed)
    kept: list[tuple[Recent, set[int]]] = [(Recent(), set()) for _ in range(replicas)]
    found = 0
    for number, space in enumerate(asked.tolist()):
        policy, held = kept[bucket_of(f"tenant-{space}") % replicas if way == "hash" else number % replicas]
        found += space in held
        held.add(space)
        policy.put(space, 1, 1)
        if len(held) > room:
            held.discard(policy.pop_cheapest())
    return found / len(asked)


def balancers(measured: Measured) -> Table:
    way = {"hash": "by hash of the path", "turns": "in turn"}
    rows = [[one.balancer, way[one.way], f"{one.hits:.1%}", f"{hit_rate(one.way):.1%}"] for one in measured.balanced]
    title = "{replicas:.0f} Muistis with room for {room:.0f} of {spaces:.0f} spaces each".format_map(BALANCED)
    return Table("simulated-balancers", title, ["balancer", "sends a space", "found loaded", "simulated"], rows)


# Placement


def placed(names: int) -> np.ndarray:
    """Count the names in each bucket."""
    return np.bincount([bucket_of(f"tenant-{number}") for number in range(names)], minlength=BUCKETS)


class Year(NamedTuple):
    """Results of a year of growth: databases, moves of buckets and of promoted spaces a day, and bytes moved."""

    databases: int
    moves: float
    busiest: int
    promoted: int
    moved: float  # bytes a day
    fullest: float  # of a database's room


def year(found: Constants, measured: Measured, tenants: int, memories: int, seed: int = 2) -> Year:
    """Let tenants come and grow day by day; buckets leave databases that a restore would take too long for."""
    rng = np.random.default_rng(seed)
    fixed, each = measured.per_byte
    room = (RESTORE_SECONDS - fixed) / each
    per_memory = found.file(1_000_000) / 1_000_000
    typical = memories / np.exp(SPREAD**2 / 2)  # of a law whose mean is `memories`
    share = rng.multinomial(tenants, [1 / BUCKETS] * BUCKETS) / tenants  # of all tenants, by bucket
    held = share * START * tenants * memories * per_memory
    place = np.arange(BUCKETS) % max(int(held.sum() / (GOAL * room)) + 1, 1)
    count, moves, moved, fullest, promoted = int(place.max()) + 1, list[int](), 0.0, 0.0, 0.0
    large = _share_above(PROMOTED, typical)
    for day in range(DAYS):
        arrived = (1 - START) / DAYS * tenants
        held = held * (1 + GROWTH) + rng.poisson(arrived * share) * memories * per_memory
        grown = typical * (1 + GROWTH) ** day
        promoted += large * arrived + (_share_above(PROMOTED, grown * (1 + GROWTH)) - _share_above(PROMOTED, grown)) * (
            tenants * (START + (1 - START) * day / DAYS)
        )
        used, today = np.bincount(place, held, minlength=count), 0
        for database in np.flatnonzero(used > FULL * room):
            own = np.flatnonzero(place == database)
            for bucket in own[np.argsort(held[own])][:-1]:  # the largest stays
                if used[database] <= GOAL * room:
                    break
                target = int(np.argmin(used))
                if used[target] + held[bucket] > GOAL * room:
                    target, count = count, count + 1
                    used = np.append(used, 0.0)
                used[database] -= held[bucket]
                used[target] += held[bucket]
                place[bucket], today, moved = target, today + 1, moved + held[bucket]
        moves.append(today)
        fullest = max(fullest, float(used.max() / room))
    return Year(count, float(np.mean(moves)), max(moves), round(promoted), float(moved) / DAYS, fullest)


def _share_above(limit: float, typical: float) -> float:
    """Share of tenants with more memories than a limit."""
    return 1 - NormalDist(np.log(typical), SPREAD).cdf(float(np.log(limit)))


def balance(names: int) -> Table:
    counts = placed(names)
    rows: list[list[str]] = []
    for databases in (4, DATABASES, 64):
        held = np.bincount(np.arange(BUCKETS) % databases, counts, minlength=databases)
        rows.append([f"{databases}", f"{held.min() / held.mean() - 1:+.1%}", f"{held.max() / held.mean() - 1:+.1%}"])
    title = f"{names:,} names over {BUCKETS:,} buckets, by database"
    return Table("simulated-balance", title, ["databases", "emptiest, of the mean", "fullest"], rows)


def years(found: Constants, measured: Measured) -> Table:
    rows: list[list[str]] = []
    for tenants in (100_000, 1_000_000, TENANTS):
        told, need = year(found, measured, tenants, 1_000), fleet(found, tenants, Tenants(), Traffic(), Replica())
        cost = need.replicas * (2 * PRICES["core"] + 4 * PRICES["memory"])
        cost += told.databases * (2 * PRICES["core"] + 4 * PRICES["memory"])
        cost += 3 * need.stored / GB * PRICES["disk"]  # primary, replica, backup
        rows.append([f"{tenants:,}", f"{told.databases:,}", f"{told.moves:.1f} ({told.busiest})", f"{told.promoted:,}",
                     f"{told.moved / GB:,.1f}", f"{told.fullest:.0%}", f"{100 * cost / tenants:.2f}"])  # fmt: skip
    header = ["tenants at the end", "databases", "moves a day (most)", "promoted in the year", "GB moved a day"]
    title = f"a year of growth; a database is full where its restore takes {RESTORE_SECONDS // 3600} hours"
    return Table("simulated-year", title, [*header, "fullest", "cents a tenant and month"], rows)


def restored(measured: Measured) -> Table:
    rows = [
        [f"{one.memories:,}", f"{one.size / 1e6:,.1f}", f"{one.seconds:.2f}", f"{measured.restore(one.size):.2f}",
         "fitted" if one.memories in FITTED else f"{measured.restore(one.size) / one.seconds - 1:+.0%}"]
        for one in measured.restores
    ]  # fmt: skip
    for size in (20 * GB, 200 * GB):
        rows.append(["", f"{size / 1e6:,.0f}", "", f"{measured.restore(size):,.0f}", "simulated"])
    header = ["memories", "database MB", "measured s", "predicted s", "off"]
    return Table("simulated-restores", "restores into sqld, processor time of both sides", header, rows)


def large(found: Constants, measured: Measured) -> Table:
    """One tenant, in one space or divided among spaces of a million that are searched together."""
    rows: list[list[str]] = []
    for memories in (1_000_000, 10_000_000, 100_000_000):
        one, parts = alone(found, memories, Replica()), memories // 1_000_000
        part = alone(found, 1_000_000, Replica())
        rows.append([f"{memories:,}", f"{1000 * one.search:,.0f}", f"{one.load:,.0f}", f"{one.index / GB:,.1f}",
                     f"{one.file / GB:,.1f}", f"{measured.restore(one.file) / 3600:,.1f}",
                     f"{1000 * part.search * max(parts / DATABASES, 1):,.0f}"])  # fmt: skip
    header = ["memories", "search ms", "load s", "index GB", "database GB", "restore h"]
    return Table(
        "simulated-large", "one tenant", [*header, f"search of spaces of a million, {DATABASES} cores, ms"], rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.simulation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made: Mapping[str, Callable[[Constants, Measured], Table]] = {
        "eviction": lambda *_: evictions(), "balance": lambda *_: balance(options.names), "year": years,
        "restores": lambda _, measured: restored(measured), "large": large,
        "balancers": lambda _, measured: balancers(measured),
    }  # fmt: skip
    parser.add_argument("--only", choices=made, action="append", help="one table; may be repeated")
    parser.add_argument("--names", type=int, default=NAMED, help="placed by their hash (%(default)s)")
    parser.add_argument("--measure", action="store_true", help="measure restores of this machine first")
    parser.add_argument("--docs", type=Path, help="write tables and pictures into this folder")
    options = parser.parse_args()
    if options.measure:
        kept: Any = load().balanced if FILE.exists() else []
        keep(Measured(machine=constants.load().machine, restores=list(restores()), balanced=kept))
    found, measured, console = constants.load(), load(), Console(width=140)
    tables = [make(found, measured) for name, make in made.items() if name in (options.only or made)]
    for table in tables:
        console.print(rich_table(table))
    if options.docs is not None:
        draw = import_module("loadtests.simulation_plot").draw  # which needs matplotlib
        draw(found, measured, options.docs / "img" / "scale-databases.svg")
        put({table.stage: markdown(table) for table in tables}, options.docs / "how-to" / "scaling.md")


if __name__ == "__main__":
    main()
