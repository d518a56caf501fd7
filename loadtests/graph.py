"""`python -m loadtests.graph`: questions to the graph of a large space, on a file and on sqld, in turn.

Entities and relations are synthetic: degrees follow a power law, and most relations stay within a community. Memories
state four relations each. With `--peer-python`, the libraries that another Python has are asked the same.
"""

import argparse
import json
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console

from deploy.cluster.sqld import Sqld
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.graph.extraction import entity_row
from muisti.core.graph.sql import graph_rows
from muisti.core.graph.sql.graph_rows import Gathered
from muisti.core.model.choices import RELATION_KINDS, TIE_KINDS
from muisti.core.model.values import Draft
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from muisti.core.store.sql.spaces import SpaceRow
from muisti.service.background.tasks import GRAPH_SECONDS, STEP, GraphReading

SPACE = "default"
say = Console(soft_wrap=True, highlight=False, markup=False).print
EACH = 4  # relations of a memory
PEOPLE = ("Caroline Smith", "Bob Lindqvist", "Maria Garcia", "Tom Okafor", "Yuki Tanaka", "Eva Novak", "Liam Byrne")
PLACES = ("Berlin", "Oslo", "Turku", "Lisbon", "Nairobi", "Kyoto")
COMMUNITY = 400  # entities
WITHIN = 0.8  # of the relations stay in their community
POWER = 0.55
BATCH = 2_000  # memories
Edges = npt.NDArray[np.int64]


class Asked(NamedTuple):
    """Seeds of moderate degree, and pairs for paths."""

    seeds: list[int]
    pairs: list[tuple[int, int]]


def drawn(entities: int, edges: int, seed: int) -> Edges:
    """Return different edges between entities, (edges, 2), without loops."""
    rng = np.random.default_rng(seed)
    weights = (1 + np.arange(COMMUNITY)) ** -POWER
    weights /= weights.sum()
    found = np.zeros((0, 2), np.int64)
    while len(found) < edges:
        size = int(1.3 * (edges - len(found))) + 1000
        one = rng.integers(0, entities // COMMUNITY, size)
        other = np.where(rng.random(size) < WITHIN, one, rng.integers(0, entities // COMMUNITY, size))
        ends = [group * COMMUNITY + rng.choice(COMMUNITY, size, p=weights) for group in (one, other)]
        pairs = np.sort(np.stack(ends, 1), 1)
        found = np.unique(np.concatenate([found, pairs[pairs[:, 0] != pairs[:, 1]]]), axis=0)
    return rng.permutation(found)[:edges]


def asked(edges: Edges, entities: int, number: int, seed: int) -> Asked:
    rng = np.random.default_rng(seed + 1)
    degrees = np.bincount(edges.ravel(), minlength=entities)
    fit = np.flatnonzero((degrees >= 5) & (degrees <= 30))
    pairs = rng.choice(fit, (number, 2))
    return Asked([int(one) for one in rng.choice(fit, number)], [(int(a), int(b)) for a, b in pairs if a != b])


def name(entity: int) -> str:
    return f"n{entity:06d}"


def fill(engine: Engine, database: Database, edges: Edges) -> float:
    """Store the memories and what is read out of them, and return the seconds that it took."""
    began = time.perf_counter()
    engine.owner.write.add(SPACE, [Draft(content="synthetic")], on_conflict="keep")
    engine.owner.graph.extend(SPACE)
    space = find_space(database, SPACE)
    (rows,) = database.read([Statement("SELECT max(id), max(born) FROM versions")])
    first, born = int(str(rows[0][0])), int(str(rows[0][1]))
    groups = [edges[start : start + EACH] for start in range(0, len(edges), EACH)]
    for start in range(0, len(groups), BATCH):
        some = groups[start : start + BATCH]
        ids = [first + 1 + start + place for place in range(len(some))]
        contents = [" ".join(f"{name(int(a))} {name(int(b))}" for a, b in group) for group in some]
        database.write(_batch(space, first, born - first, ids, contents, some))
    database.write([
        Statement("UPDATE spaces SET seq = (SELECT max(born) FROM versions) WHERE id = ?", (space.id,)),
        Statement("UPDATE graph_spaces SET through = (SELECT seq FROM spaces s WHERE s.id = graph_spaces.space_id)"),
    ])  # fmt: skip
    return time.perf_counter() - began


def _batch(
    space: SpaceRow, template: int, shift: int, ids: Sequence[int], contents: Sequence[str], groups: Sequence[Edges]
) -> list[Statement]:
    columns = "space_id, version, kind, type, status, importance, tags, metadata, created_at, updated_at, tokens"
    copied = ", ".join(f"v.{one}" for one in columns.split(", "))
    names: list[tuple[str, str, str, str, str, int]] = []
    mentions: list[tuple[int, int, int, str, str, float, str]] = []
    relations: list[tuple[int, int, str, str, str | None, int | None, int | None, int, float, int, int, str]] = []
    for id_, group in zip(ids, groups, strict=True):
        width = len(name(0)) + 1
        for place, end in enumerate(group.ravel()):
            names.append((*entity_row(name(int(end))), id_))
            mentions.append(
                (id_, place * width, place * width + width - 1, name(int(end)), "person", 0.9, "recogniser")
            )
        for number, (one, two) in enumerate(group):
            at = 2 * number * width
            kind = RELATION_KINDS[(int(one) + int(two)) % len(RELATION_KINDS)]
            relations.append(
                (id_, number, name(int(one)), kind, name(int(two)), None, None, 1, 0.9, at, at + 2 * width - 1, "text")
            )
    found = Gathered(names, mentions, relations, [])
    return [
        Statement(
            "INSERT INTO versions (id, memory_id, born, content, content_hash, source_class, derived_from, trust, "
            f"{columns}) "
            "SELECT j.value ->> 0, randomblob(16), (j.value ->> 0) + ?, j.value ->> 1, randomblob(8), v.source_class, "
            f"v.derived_from, v.trust, {copied} FROM json_each(?) j, versions v WHERE v.id = ?",
            (shift, json.dumps(list(zip(ids, contents, strict=True))), template),
        ),
        *graph_rows.store(space, ids, found)[3:],
    ]


class Meter:
    """Measures calls by the clock, and by processor time of this process and of a server."""

    def __init__(self, server: int | None = None) -> None:
        """`server` is the id of the process of the database."""
        self._server = server

    def timed(self, call: Callable[[int], object], number: int) -> list[tuple[float, float]]:
        """Return milliseconds of each call: by the clock, and of processors."""
        found: list[tuple[float, float]] = []
        for place in range(number):
            began, busy = time.perf_counter(), self._busy()
            call(place)
            found.append((1000 * (time.perf_counter() - began), 1000 * (self._busy() - busy)))
        return found

    def _busy(self) -> float:
        own = time.process_time()
        return own if self._server is None else own + _scheduled(self._server)


def _scheduled(process: int) -> float:
    """Return the processor seconds of all threads of a process."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(one.read_text().split()[0]) for one in threads) / 1e9


def ask(engine: Engine, what: Asked, meter: Meter) -> dict[str, tuple[list[tuple[float, float]], str]]:
    """Return the milliseconds of each question, and what was found."""
    graph, found = engine.owner.graph, {}
    for label, kinds in (("relations", RELATION_KINDS), ("with mentions", TIE_KINDS)):
        for depth in (1, 2, 3):
            totals: list[int] = []

            def near(place: int, depth: int = depth, kinds: Sequence[str] = kinds, totals: list[int] = totals) -> None:
                answer = graph.neighbours(SPACE, name(what.seeds[place]), depth=depth, kinds=kinds, limit=50)  # pyright: ignore[reportArgumentType]
                totals.append(answer.total)

            times = meter.timed(near, len(what.seeds))
            found[f"depth {depth}, {label}"] = times, f"{median(totals):.0f} entities"
    lengths: list[int] = []

    def way(place: int) -> None:
        answer = graph.path(SPACE, *map(name, what.pairs[place]), kinds=RELATION_KINDS)
        lengths.append(len(answer.steps))

    found["path"] = meter.timed(way, len(what.pairs)), f"{median(lengths):.0f} ties"
    found["entity"] = meter.timed(lambda place: graph.entity(SPACE, name(what.seeds[place])), len(what.seeds)), ""
    found["prefix"] = meter.timed(lambda place: graph.entities(SPACE, prefix=name(what.seeds[place])[:4]), 10), ""
    return found


def peers(python: str, edges: Edges, what: Asked, folder: Path) -> list[dict[str, object]]:
    np.save(folder / "edges.npy", edges)
    (folder / "asked.json").write_text(json.dumps({"seeds": what.seeds, "pairs": what.pairs}))
    script = Path(__file__).parent / "peers" / "graph_libraries.py"
    told = subprocess.run([python, str(script), str(folder)], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in told.splitlines()]


def write_costs(rounds: int) -> None:
    """Print what writes cost without a graph and with one that a thread reads, in turn. The reading is apart."""
    say("| writes | graph | ms each by the clock, median of rounds | processor ms each | processor ms to read later |")
    say("| --- | --- | --- | --- | --- |")
    for label, each, number in (("single", 1, 1_500), ("batches of 100", 100, 10_000)):
        found: dict[bool, list[tuple[float, float, float]]] = {False: [], True: []}
        for _ in range(rounds):
            for reads in (False, True):
                found[reads].append(_written(each, number, reads=reads))
        for reads, times in found.items():
            clock, busy, rest = map(median, zip(*times, strict=True))
            say(f"| {label} | {'on' if reads else 'off'} | {clock:.3f} | {busy:.3f} | {rest:.3f} |")


def _written(each: int, number: int, *, reads: bool) -> tuple[float, float, float]:
    """Write memories; return milliseconds each: by the clock, of processors meanwhile, and of these to read the rest.

    What the sweep and its task leave for a time without writes is the rest.
    """
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(FileDatabase(Path(folder) / "a.db"), StaticEncoder(), lambda: time.time_ns() // 1000)
        drafts = [Draft(content=_text(place), author="Ann Lee") for place in range(number + 1)]
        engine.owner.write.add(SPACE, drafts[-1:], on_conflict="keep")
        if reads:
            engine.extend_graph(SPACE, STEP)
        stop = threading.Event()
        thread = threading.Thread(target=_read_on, args=(engine, stop))
        busy, began = time.process_time(), time.perf_counter()
        if reads:
            thread.start()
        for start in range(0, number, each):
            engine.owner.write.add(SPACE, drafts[start : start + each], on_conflict="keep")
        clock, used = time.perf_counter() - began, time.process_time() - busy
        if reads:
            stop.set()
            thread.join()
            engine.owner.graph.extend(SPACE)
            assert not engine.owner.graph.status(SPACE).pending
        rest = time.process_time() - busy - used
        engine.close()
    return 1000 * clock / number, 1000 * used / number, 1000 * rest / number


def _read_on(engine: Engine, stop: threading.Event) -> None:
    """Do what the sweep does: steps with pauses as long as they take, and a look every second."""
    reading = GraphReading()
    while not stop.wait(GRAPH_SECONDS):
        for space in reading.where(engine, 0):
            more = True
            while more and not stop.is_set():
                began = time.perf_counter()
                more = reading.step(engine, space, 0)
                stop.wait(time.perf_counter() - began)


def _text(place: int) -> str:
    """Return a text of about thirty words with some names."""
    one, two = PEOPLE[place % len(PEOPLE)], PEOPLE[(3 * place + 1) % len(PEOPLE)]
    return (
        f"{one} met {two} in {PLACES[place % len(PLACES)]} on day {place} to discuss draft {place % 97} of the "
        "report, and I said that the numbers of the last quarter look better than expected in spring."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=700_000)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-sqld", action="store_true")
    parser.add_argument("--writes", action="store_true", help="measure writes with and without a graph instead")
    parser.add_argument("--peer-python", help="a Python that has networkx or igraph")
    given = parser.parse_args()
    if given.writes:
        write_costs(given.rounds)
        return
    edges = drawn(given.entities, given.edges, 1)
    what = asked(edges, given.entities, given.questions, 1)
    degrees = np.bincount(edges.ravel())
    say(f"{given.entities:,} entities, {len(edges):,} edges, degree {np.median(degrees):.0f} to {degrees.max():,}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if given.peer_python:
            for row in peers(given.peer_python, edges, what, folder):
                say(row)
        with Sqld(folder / "sqld") as sqld:
            stores: dict[str, Database] = {"file": FileDatabase(folder / "a.db")}
            if not given.no_sqld:
                sqld.create("graph")
                stores["sqld"] = RemoteDatabase(Server(sqld.url, Token(), "graph"))
            meters = {"file": Meter(), "sqld": Meter(sqld.pid)}
            engines = {label: Engine(one, None, lambda: time.time_ns() // 1000) for label, one in stores.items()}
            for label, engine in engines.items():
                say(f"{label}: filled in {fill(engine, stores[label], edges):.0f} s")
            say(f"file: {(folder / 'a.db').stat().st_size / 1e6:.0f} MB")
            _rounds(engines, meters, what, given.rounds)
            for engine in engines.values():
                engine.close()
    say(f"largest resident memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _rounds(engines: dict[str, Engine], meters: dict[str, Meter], what: Asked, rounds: int) -> None:
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    notes: dict[str, str] = {}
    for _ in range(rounds):
        for label, engine in engines.items():
            for question, (times, note) in ask(engine, what, meters[label]).items():
                found.setdefault((question, label), []).extend(times)
                notes[question] = note
    say("| question | " + " | ".join(f"{label}: median (p95) ms, processor" for label in engines) + " | found |")
    say("| --- |" + " --- |" * (len(engines) + 1))
    for question, note in notes.items():
        cells = [_cell(found[question, label]) for label in engines]
        say(f"| {question} | {' | '.join(cells)} | {note} |")


def _cell(times: Sequence[tuple[float, float]]) -> str:
    clock, busy = zip(*times, strict=True)
    return f"{median(clock):.2f} ({np.percentile(clock, 95):.2f}), {median(busy):.2f} ({np.percentile(busy, 95):.2f})"


if __name__ == "__main__":
    main()
