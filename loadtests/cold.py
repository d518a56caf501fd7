"""`make bench-cold`: from the start of a process to its first right answer, on a file, on sqld, by chroma, in turn."""

import argparse
import compileall
import importlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

import muisti.core
import muisti.service
from deploy.cluster.sqld import Sqld
from loadtests import http_load, tables, texts
from loadtests.bed import Bed
from loadtests.fill import ANYTHING, SPACE
from loadtests.services import chroma, muisti
from loadtests.services.service import Running
from loadtests.tables import Table
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Database
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token

SIZE = 100_000
STARTS = 7
BATCH = 500
MUISTI = ("imports", "database", "application", "model")  # what it tells of itself
STAGES = (*MUISTI, "ready", "index", "answer")


class Case(NamedTuple):
    """A service on its data. `told` is where it logs its laps."""

    name: str
    memories: int
    start: Callable[[], AbstractContextManager[Running]]
    hits: Callable[[bytes], list[object]]
    told: Path | None


def main() -> None:
    options = _options()
    for package in (muisti.core, muisti.service):  # as an installation has them, whatever PYTHONDONTWRITEBYTECODE says
        compileall.compile_dir(package.__path__[0], quiet=1)
    if options.text is None:
        corpus, questions = texts.invented(options.size)
    else:
        corpus, questions = texts.real(options.text, options.cache)
    console = Console(width=140)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bed = stack.enter_context(Bed(corpus[: options.size], questions, options.cache))
        cases = _cases(bed, folder, stack)
        found = _measured(cases, bed, options.starts)
    console.print(tables.rich_table(_table(cases, found)))
    if options.docs is not None:
        importlib.import_module("loadtests.plots").starts(
            {(case.name, case.memories): found[case] for case in cases}, STAGES, options.docs / "img"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-cold", description=__doc__)
    parser.add_argument("--text", type=Path, help="folder of judged sets, or with texts.txt and questions.txt")
    parser.add_argument("--size", type=int, default=SIZE, help="memories of the full cases (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=STARTS, help="of each case (default: %(default)s)")
    parser.add_argument("--docs", type=Path, help="draw the plot into this folder's img/")
    parser.add_argument("--cache", type=Path, default=Path("runs/cache"), help="what takes long to make is kept here")
    return parser.parse_args()


def _cases(bed: Bed, folder: Path, stack: ExitStack) -> list[Case]:
    full, empty = folder / "full.db", folder / "empty.db"
    shutil.copy(bed.database()[0], full)
    _pack(FileDatabase(full), bed)
    _fill(FileDatabase(empty), [])
    servers = [folder / "sqld-empty", folder / "sqld-full"]
    kept, _ = bed.embedded.kept("sqld", partial(_filled, texts=bed.texts))
    shutil.copytree(kept, servers[1])
    remote = [stack.enter_context(Sqld(path)) for path in servers]
    _fill(_remote(remote[0]), [])
    _pack(_remote(remote[1]), bed)
    cases = [
        _muisti("Muisti, file", 0, empty, folder),
        _muisti("Muisti, sqld", 0, remote[0].url, folder),
        _muisti("Muisti, file", bed.size, full, folder),
        _muisti("Muisti, sqld", bed.size, remote[1].url, folder),
    ]
    for memories, peer in ((bed.size, chroma.service(bed)),):
        if peer is not None:
            data = folder / "chroma"
            shutil.copytree(peer.data, data)
            cases.append(Case("chroma", memories, partial(peer.start, data), _chroma_hits, None))
    return cases


def _muisti(name: str, memories: int, database: Path | str, folder: Path) -> Case:
    log = folder / f"{name}-{memories}.log"
    return Case(name, memories, partial(muisti.serving, database, log=log), _muisti_hits, log)


def _muisti_hits(body: bytes) -> list[object]:
    return [(hit["memory"]["id"], hit["score"]) for hit in json.loads(body)["hits"]]


def _chroma_hits(body: bytes) -> list[object]:
    return json.loads(body)["ids"][0]


def _remote(sqld: Sqld) -> Database:
    return RemoteDatabase(Server(sqld.url, Token(), "default"))


def _filled(folder: Path, texts: Sequence[str]) -> None:
    with Sqld(folder) as sqld:
        _fill(_remote(sqld), texts)


def _fill(database: Database, texts: Sequence[str]) -> None:
    with Engine(database, StaticEncoder(), lambda: time.time_ns() // 1000, policy=ANYTHING) as engine:
        engine.spaces.create(SPACE, CONTENT_ONLY)
        for start in range(0, len(texts), BATCH):
            drafts = [Draft(content=text) for text in texts[start : start + BATCH]]
            engine.owner.write.add(SPACE, drafts, on_conflict="keep")


def _pack(database: Database, bed: Bed) -> None:
    """A database that is in use has packed what is in it."""
    with Engine(database, StaticEncoder(), lambda: time.time_ns() // 1000, index_memory=8 << 30) as engine:
        engine.owner.read.search(SPACE, Query(text=bed.questions(1)[0]))
        engine.settle()


def _measured(cases: Sequence[Case], bed: Bed, starts: int) -> dict[Case, dict[str, float]]:
    """Median milliseconds of the stages of each case, and in all."""
    found: dict[Case, list[dict[str, float]]] = {case: [] for case in cases}
    questions, directions = bed.questions(starts), bed.directions(starts)
    for question, direction in zip(questions, directions, strict=True):
        for case in cases:
            found[case].append(_started(case, question, direction))
    return {
        case: {stage: float(np.median([start.get(stage, 0.0) for start in all_of])) for stage in (*STAGES, "in all")}
        for case, all_of in found.items()
    }


def _started(case: Case, question: str, direction: np.ndarray) -> dict[str, float]:
    began = time.perf_counter()
    with case.start() as running:
        ready = time.perf_counter() - began
        request = running.search(question, direction)
        first = http_load.run(running.port, [request], 1)
        answered = time.perf_counter() - began
        second = http_load.run(running.port, [request], 1)
        again = time.perf_counter() - began - answered
    if first.failures or case.hits(first.bodies[0]) != case.hits(second.bodies[0]):
        raise RuntimeError(f"{case.name} did not answer right: {first.bodies[0]!r:.200}")
    laps = {} if case.told is None else _told(case.told)
    return {
        **laps,
        "ready": 1000 * ready - sum(laps.values()),
        "index": 1000 * (answered - ready - again),
        "answer": 1000 * again,
        "in all": 1000 * answered,
    }


def _told(log: Path) -> dict[str, float]:
    for line in log.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event.get("event") == "started":
            return {stage: event["ms"][stage] for stage in MUISTI}
    raise RuntimeError(f"{log} does not say what the start spent its time on")


def _table(cases: Sequence[Case], found: dict[Case, dict[str, float]]) -> Table:
    rows = [
        [case.name, f"{case.memories:,}", *(f"{found[case][stage]:,.0f}" for stage in (*STAGES, "in all"))]
        for case in cases
    ]
    title = "cold start, from process to first answer, ms"
    return Table("starts", title, ["service", "memories", *STAGES, "in all"], rows)


if __name__ == "__main__":
    main()
