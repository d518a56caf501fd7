"""The constants of this machine, by Muisti itself: in process, over HTTP, over sqld, and shared by tenants."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from deploy.cluster.sqld import Sqld
from loadtests import http_load
from loadtests.bed import Bed, machine
from loadtests.fill import ANYTHING
from loadtests.muisti import loading
from loadtests.scale.constants import Constants, Shared, Size
from loadtests.scale.simulate import who_asks
from loadtests.services import muisti
from loadtests.services.process import resident, worked
from loadtests.shelf import Shelf
from loadtests.timing import WARMING as ASKED_BEFORE
from loadtests.timing import Engine as Way
from loadtests.timing import interleaved
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token

MEASURED = (1_000, 8_000, 30_000, 1_000_000)
CHECKS = (3_000, 100_000)
SEARCHES = 200
LOADS = 3
OVER_HTTP = 600
WRITES = 800
CLIENTS = 16
TENANTS, EACH, HELD, SKEW, TURNS, WARMING = 120, 1_000, 30, 1.0, 1_200, 300
BATCH = 500
REMOTE_WRITES = 20  # of each of the clients

Say = Callable[[str], None]


def measure(texts: Sequence[str], asked: Sequence[str], cache: Path, say: Say) -> Constants:
    """Takes a few minutes, most of them to fill databases, which are kept in `cache`."""

    found = _sizes(texts, asked, cache)
    for memories, size in found.items():
        say(f"{memories:,} memories: a search {1000 * size.search:.2f} ms, loading {size.load:.3f} s")
    os.sync()  # what was filled in haste is on its way to the disk still
    with Bed(texts[: MEASURED[1]], asked, cache, peers=False) as bed:
        http_search, http_write, writes, base = _over_http(bed, found[MEASURED[1]].search)
    say(f"over HTTP: a search {1000 * http_search:.2f} ms, a write {1000 * http_write:.2f} ms, {writes:.0f} writes/s")
    remote_load, remote_writes = _remote(texts)
    say(f"over sqld: loading {EACH:,} memories {remote_load:.3f} s, {remote_writes:.0f} writes/s")
    shared = _shared(texts, asked, Shelf(cache), found[EACH].index)
    say(f"{TENANTS} tenants in memory for {HELD}: {shared.misses:.0%} loads, {1000 * shared.search:.2f} ms a search")
    return Constants(
        machine=machine(),
        measured=[found[memories] for memories in MEASURED],
        checks=[found[memories] for memories in CHECKS],
        shared=shared,
        http_search=http_search,
        http_write=http_write,
        writes_per_second=writes,
        remote_load=remote_load,
        remote_writes_per_second=remote_writes,
        base_bytes=base,
    )


def _sizes(texts: Sequence[str], asked: Sequence[str], cache: Path) -> dict[int, Size]:
    """All sizes, measured in turn: the speed of a machine changes while one is measured after the other."""
    with ExitStack() as stack:
        beds = [
            stack.enter_context(Bed(texts[:memories], asked, cache, peers=False))
            for memories in sorted({*MEASURED, *CHECKS})
        ]
        for bed in beds:  # what is packed in the background is packed once
            loading(bed.database()[0], bed.encoder())
        loads = [[loading(bed.database()[0], bed.encoder()) for bed in beds] for _ in range(LOADS)]
        questions = beds[0].questions(SEARCHES + ASKED_BEFORE)
        ways = [Way(f"{bed.size}", partial(_searched, bed, questions)) for bed in beds]
        times = interleaved(ways, SEARCHES)
        return {
            bed.size: Size(
                memories=bed.size,
                search=median(times[f"{bed.size}"].cpu),
                load=median(turn[place][0] for turn in loads),
                index=loads[-1][place][1],
                file=bed.database()[0].stat().st_size,
            )
            for place, bed in enumerate(beds)
        }


def _searched(bed: Bed, questions: Sequence[str], number: int) -> int:
    return bed.muisti().search(questions[number], "hybrid")


def _over_http(bed: Bed, inside: float) -> tuple[float, float, float, int]:
    """Seconds that HTTP adds to a search, and of a write; writes a second; bytes of a process without an index."""
    path, _ = bed.database()
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, Path(folder) / "copy.db")
        with muisti.serving(Path(copy)) as running:
            base = resident(running.pid)
            questions = [muisti.search(question) for question in bed.questions(OVER_HTTP + 50)]
            http_load.run(running.port, questions[OVER_HTTP:], 1)
            before = worked(running.pid)
            http_load.run(running.port, questions[:OVER_HTTP], 1)
            search = (worked(running.pid) - before) / OVER_HTTP
            notes = [muisti.write(text, "keep") for text in bed.unused(WRITES, "scale")]
            before = worked(running.pid)
            load = http_load.run(running.port, notes, CLIENTS)
            return search - inside, (worked(running.pid) - before) / WRITES, load.per_second, base


def _remote(texts: Sequence[str]) -> tuple[float, float]:
    """Seconds until a space of `EACH` memories on sqld has answered, and durable writes a second of many callers."""
    with tempfile.TemporaryDirectory() as folder, Sqld(Path(folder) / "primary") as primary:
        with _engine(primary) as engine:
            for start in range(0, EACH, BATCH):
                _add(engine, "default", texts[start : start + BATCH])
        loads: list[float] = []
        for _ in range(LOADS):
            with _engine(primary) as engine:
                engine.warm()
                began = time.perf_counter()
                engine.owner.read.search("default", Query(text="what is known"))
                loads.append(time.perf_counter() - began)
        with _engine(primary) as engine:
            callers = [
                threading.Thread(target=_write, args=(engine, f"{number}", REMOTE_WRITES)) for number in range(CLIENTS)
            ]
            began = time.perf_counter()
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
            return median(loads), CLIENTS * REMOTE_WRITES / (time.perf_counter() - began)


def _shared(texts: Sequence[str], asked: Sequence[str], shelf: Shelf, index: int) -> Shared:
    """Measure many tenants whose indexes do not all fit into memory, and who search by Zipf's law."""

    def fill(path: Path) -> None:
        with Engine(FileDatabase(path), StaticEncoder(), _now, policy=ANYTHING) as engine:
            for tenant in range(TENANTS):
                engine.spaces.create(f"tenant-{tenant}")
                for start in range(tenant * EACH, (tenant + 1) * EACH, BATCH):
                    _add(engine, f"tenant-{tenant}", texts[start : start + BATCH])

    path, _ = shelf.kept(f"tenants-{StaticEncoder().identity[:8]}.db", fill)
    asking = who_asks(TENANTS, SKEW, TURNS + WARMING)
    with Engine(FileDatabase(path), StaticEncoder(), _now, index_memory=HELD * index) as engine:
        engine.warm()
        for number in range(WARMING):
            _search(engine, int(asking[number]), asked[number])
        before, began = engine.indexes_evicted, time.process_time()
        for number in range(WARMING, TURNS + WARMING):
            _search(engine, int(asking[number]), asked[number % len(asked)])
        took = time.process_time() - began
        misses = (engine.indexes_evicted - before) / TURNS
    return Shared(
        tenants=TENANTS, memories=EACH, held=HELD, skew=SKEW, searches=TURNS, misses=misses, search=took / TURNS
    )


@contextmanager
def _engine(primary: Sqld) -> Iterator[Engine]:
    database = RemoteDatabase(Server(primary.url, Token(), "default"))
    with Engine(database, StaticEncoder(), _now, policy=ANYTHING) as engine:
        yield engine


def _add(engine: Engine, space: str, texts: Sequence[str]) -> None:
    engine.owner.write.add(space, [Draft(content=text) for text in texts], on_conflict="keep")


def _write(engine: Engine, caller: str, count: int) -> None:
    for number in range(count):
        _add(engine, "default", [f"note {number} of {caller}"])


def _search(engine: Engine, tenant: int, question: str) -> None:
    engine.owner.read.search(f"tenant-{tenant}", Query(text=question))


def _now() -> int:
    return time.time_ns() // 1000
