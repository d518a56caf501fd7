"""Measures the costs of a second model, off and on in turn: `python -m loadtests.second_model`.

Queries and passages are embedded by the static model, by its map to MiniLM, and by MiniLM. Writes go to three
databases. The first has no second model. The second has one, whose vectors nobody makes now. In the third a thread
embeds a backlog by MiniLM, in the turns of its own database alone. Sizes, cold loads and searches are those of many
memories. Their second vectors are made from hashes by a fast fake encoder: their bytes are as many. Numbers are
medians of rounds.
"""

import hashlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path

import apsw
import click
import msgspec
import numpy as np

from loadtests import texts
from loadtests.embedding_cache import WORDS
from muisti.core.databases import open_file
from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.embedding.minilm import minilm
from muisti.core.embedding.vectors import QueryMaps, Vectors
from muisti.core.engine import Engine
from muisti.core.kernels import Doubles, Floats
from muisti.core.model.choices import OFF, SecondQuery
from muisti.core.model.spaces import Policy
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft
from muisti.core.operations.generations import second_vectors
from muisti.core.query.query import Query

SPACE, EMPTY, NAME = "default", "empty", "minilm"
LENGTHS = (40, 241, 999)  # characters of a passage
WAYS: tuple[SecondQuery, ...] = ("off", "mapped", "transformer")
STATES = ("off", "on, idle", "on, embedding")
BLOCK, BATCH, BACKLOG = 20, 100, 200  # writes in a turn, memories of a batch, and the least texts that wait
LOADS = 5

Measured = dict[str, list[tuple[float, float]]]  # seconds by the clock and of the processor


class Hashed:
    """MiniLM for queries; its passages get vectors from hashes, in microseconds."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.identity, self.name, self.dimensions = encoder.identity, encoder.name, encoder.dimensions
        self.deferred = True

    def encode(self, texts: Sequence[str]) -> Vectors:
        made = np.array([self._vector(text) for text in texts], np.float32).reshape(-1, self.dimensions)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def encode_query(self, text: str) -> Floats:
        return self._encoder.encode_query(text)

    def _vector(self, text: str) -> Doubles:
        return np.random.default_rng(list(hashlib.sha256(text.encode()).digest())).standard_normal(self.dimensions)


def opened(path: Path, second: Encoder, chosen: str) -> Engine:
    """Open a database whose spaces choose the second model or none."""
    policy = Policy(second_model=chosen, graph="off")
    return Engine(open_file(path), StaticEncoder(), system_clock, seconds={NAME: second}, policy=policy, cache_bytes=0)


def follow(engine: Engine) -> None:
    """Give all passages their second vectors."""
    while any([engine.second_vectors.step(space) for space in engine.second_vectors.lagging()]):
        pass


def add(engine: Engine, contents: Sequence[str]) -> None:
    engine.owner.write.add(SPACE, [Draft(content=text) for text in contents], on_conflict="keep")


def timed(into: Measured, name: str, work: Callable[[], object], clock: Callable[[], float] = time.thread_time) -> None:
    worked, began = clock(), time.perf_counter()
    work()
    into.setdefault(name, []).append((time.perf_counter() - began, clock() - worked))


def english(least: int, most: int, seed: int) -> Iterator[str]:
    """Yield endless lines of English words, which the models cut into as few tokens as real texts."""
    rng = np.random.default_rng(seed)
    while True:
        yield " ".join(rng.choice(WORDS, rng.integers(least, most)))


def embedders(rounds: int) -> Iterator[str]:
    """Yield rows with the processor time of a query and of passages by each embedder."""
    static, transformer = StaticEncoder(), minilm()
    map = QueryMaps().find(static.identity, transformer.identity)
    assert map is not None
    made, questions = english(8, 30, seed=3), english(4, 14, seed=2)
    ways: Mapping[str, Callable[[str], object]] = {
        "off": static.encode_query,
        "mapped": lambda text: map.of(static.encode_query(text)),
        "transformer": lambda text: (static.encode_query(text), transformer.encode_query(text)),
    }
    seen: Measured = {}
    for _ in range(rounds):
        for way, embed in ways.items():
            for text in islice(questions, BLOCK):
                timed(seen, f"query {way}", lambda text=text, embed=embed: embed(text), time.process_time)
        for length in LENGTHS:
            passages = [". ".join(islice(made, 40))[:length] for _ in range(BLOCK)]
            for text in passages:
                timed(seen, f"{length} off", lambda text=text: static.encode([text]), time.process_time)
            for text in passages[:5]:
                timed(seen, f"{length} on", lambda text=text: transformer.encode([text]), time.process_time)
    cells = (f"{micros(seen[f'query {way}']):,.0f}" for way in WAYS)
    yield f"| a query, processor µs | {' | '.join(cells)} |"
    for length in LENGTHS:
        own, other = (micros(seen[f"{length} {state}"]) for state in ("off", "on"))
        yield f"| a passage of {length} characters, processor µs | {own:,.0f} | {own:,.0f} + {other:,.0f} | the same |"


def searches(engines: Mapping[str, Engine], rounds: int) -> Iterator[str]:
    """Yield rows with the time of a search by each way."""
    seen: Measured = {}
    questions = list(islice(texts.made((4, 14), seed=4), (rounds + 1) * BLOCK))
    for round in range(rounds + 1):
        for way in WAYS:
            engine = engines[OFF if way == "off" else NAME]
            for text in questions[round * BLOCK : (round + 1) * BLOCK]:
                query = Query(text=text, second_query=way)
                timed(seen, way if round else "warming", lambda q=query, e=engine: e.owner.read.search(SPACE, q))
    for name, value in (("latency", clock_ms), ("processor", cpu_ms)):
        yield f"| a search, {name} ms | {' | '.join(f'{value(seen[way]):.2f}' for way in WAYS)} |"


class Background:
    """A thread that gives passages their second vectors while it is let."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._may, self._idle, self._ended = engine, threading.Event(), threading.Lock(), False
        self._thread = threading.Thread(target=self._work)
        self.steps = 0

    def _work(self) -> None:
        while not self._ended:
            self._may.wait()
            with self._idle:
                if self._may.is_set() and not self._ended:
                    self.steps += self._engine.second_vectors.step(SPACE)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within this, the thread works; at the end it has stopped."""
        self._may.set()
        try:
            yield
        finally:
            self._may.clear()
            with self._idle:
                pass

    def __enter__(self) -> "Background":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._may.set()
        self._thread.join()


def writes(folder: Path, rounds: int) -> Iterator[str]:
    """Yield rows with the time of writes, without a second model, beside an idle one, and while it embeds."""
    seen: Measured = {}
    fresh = texts.made((8, 50), seed=5)
    with ExitStack() as stack:
        engines: dict[str, Engine] = {}
        for number, state in enumerate(STATES):
            engine = opened(folder / f"writes{number}.db", minilm(), OFF if state == "off" else NAME)
            engines[state] = stack.enter_context(engine)
            add(engine, list(islice(texts.made((8, 50), seed=6), BACKLOG)))
            engine.second_vectors.step(SPACE)  # which chooses the model
        background = stack.enter_context(Background(engines["on, embedding"]))
        for round in range(rounds + 1):
            for state, engine in engines.items():
                name = state if round else "warming"
                alone, batch = list(islice(fresh, BLOCK)), list(islice(fresh, BATCH))
                with ExitStack() as turn:
                    if state == "on, embedding":
                        turn.enter_context(background.working())
                        time.sleep(0.05)
                    for text in alone:
                        timed(seen, f"one {name}", lambda text=text, engine=engine: add(engine, [text]))
                    timed(seen, f"batch {name}", lambda batch=batch, engine=engine: add(engine, batch))
        assert background.steps, "nothing was embedded meanwhile"
    for what, label in (("one", "a write"), ("batch", f"a batch of {BATCH}")):
        for measure, value in (("latency", clock_ms), ("processor", cpu_ms)):
            cells = " | ".join(f"{value(seen[f'{what} {state}']):.2f}" for state in STATES)
            yield f"| {label}, {measure} ms | {cells} |"


def filled(path: Path, chosen: str, memories: int) -> Engine:
    """Open a database with many memories, their second vectors, and their packed index."""
    engine = opened(path, Hashed(minilm()), chosen)
    every = texts.made((8, 50), seed=1)
    for _ in range(0, memories, 500):
        add(engine, list(islice(every, 500)))
    follow(engine)
    engine.settle()
    engine.close()
    engine = opened(path, Hashed(minilm()), chosen)
    engine.owner.read.search(SPACE, Query(text="a"))
    engine.settle()
    return engine


def size(path: Path) -> int:
    """Return the bytes of a database file that nobody has open."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("wal_checkpoint(truncate)")
    return path.stat().st_size


class Loaded(msgspec.Struct):
    """A cold load in a process of its own: seconds by the clock and of the processor, and what memory it took."""

    seconds: float
    cpu: float
    resident: int
    index: int


def loaded(path: Path) -> Loaded:
    command = [sys.executable, "-m", "loadtests.second_model", "--load", str(path)]
    return msgspec.json.decode(subprocess.check_output(command), type=Loaded)


def load(path: Path) -> Loaded:
    """Load the index of a database, in this process, which has no second model: an index needs none to be loaded."""
    with Engine(open_file(path), StaticEncoder(), system_clock) as engine:
        engine.spaces.ensure(EMPTY)
        engine.owner.read.search(EMPTY, Query(text="a"))
        before, worked, began = resident(), time.process_time(), time.perf_counter()
        engine._indexes.fresh(SPACE)
        took, used = time.perf_counter() - began, time.process_time() - worked
        return Loaded(took, used, resident() - before, engine.index_bytes)


def resident() -> int:
    """Return the memory of this process that is in use, in bytes."""
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields["VmRSS"].split()[0])


def sizes(paths: Mapping[str, Path], memories: int) -> Iterator[str]:
    """Yield rows with the bytes of a memory and the time of a cold load, without a second model and with it."""
    bytes = {chosen: size(path) / memories for chosen, path in paths.items()}
    found: dict[str, list[Loaded]] = {chosen: [] for chosen in paths}
    for _ in range(LOADS):
        for chosen, path in paths.items():
            found[chosen].append(loaded(path))

    def row(name: str, value: Callable[[str], float], form: str = ",.0f") -> str:
        off, on = value(OFF), value(NAME)
        return f"| {name} | {off:{form}} | {on:{form}} | {on - off:+{form}} |"

    def median(chosen: str, name: str) -> float:
        return statistics.median(getattr(one, name) for one in found[chosen])

    yield row("file, bytes a memory", lambda chosen: bytes[chosen])
    yield row("arrays of the index, bytes a memory", lambda chosen: median(chosen, "index") / memories)
    yield row("resident after loading it, bytes a memory", lambda chosen: median(chosen, "resident") / memories)
    yield row("cold load, ms", lambda chosen: 1e3 * median(chosen, "seconds"))
    yield row("cold load, processor ms", lambda chosen: 1e3 * median(chosen, "cpu"))


def micros(seen: Sequence[tuple[float, float]]) -> float:
    return 1e6 * statistics.median(cpu for _, cpu in seen)


def clock_ms(seen: Sequence[tuple[float, float]]) -> float:
    return 1e3 * statistics.median(seconds for seconds, _ in seen)


def cpu_ms(seen: Sequence[tuple[float, float]]) -> float:
    return 1e3 * statistics.median(cpu for _, cpu in seen)


@click.command()
@click.option("--memories", default=10_000, show_default=True, help="Memories of the sizes, loads and searches.")
@click.option("--rounds", default=15, show_default=True)
@click.option("--load", "one", type=Path, hidden=True)
def main(memories: int, rounds: int, one: Path | None) -> None:
    """Print the tables."""
    if one is not None:
        click.echo(msgspec.json.encode(load(one)))
        return
    second_vectors.MANY = 1 << 40  # all by steps, and none by a task, which could not be stopped between turns
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        click.echo("| | off | mapped | transformer |\n| --- | ---: | ---: | ---: |")
        for row in embedders(rounds):
            click.echo(row)
        paths = {chosen: folder / f"{chosen}.db" for chosen in (OFF, NAME)}
        with ExitStack() as stack:
            engines = {chosen: stack.enter_context(filled(path, chosen, memories)) for chosen, path in paths.items()}
            for row in searches(engines, rounds):
                click.echo(row)
        click.echo(f"\n| | {' | '.join(STATES)} |\n| --- | ---: | ---: | ---: |")
        for row in writes(folder, rounds):
            click.echo(row)
        click.echo(f"\n| {memories:,} memories | off | on | difference |\n| --- | ---: | ---: | ---: |")
        for row in sizes(paths, memories):
            click.echo(row)


if __name__ == "__main__":
    main()
