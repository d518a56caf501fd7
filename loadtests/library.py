"""Latency of the library in process, beside the engine called directly and the client over HTTP.

    python -m loadtests.library [--size 10000] [--rounds 200]

All three have the same memories in files of their own, and take turns call by call. Processor time is that of this
process, and over HTTP that of the server as well.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

import muisti
from loadtests import fill, texts
from loadtests.services.muisti import serving
from loadtests.services.process import worked
from muisti.core.databases import open_file
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft
from muisti.core.query.query import Query

Way = Mapping[str, Callable[[int], Any]]
WARMING = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    memories, questions = texts.invented(options.size)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        paths = [Path(folder, f"{name}.db") for name in ("engine", "library", "server")]
        for path in paths:
            fill.fill(path, memories)
        engine = stack.enter_context(Engine(open_file(paths[0]), StaticEncoder(), system_clock))
        library = stack.enter_context(muisti.open(paths[1], space=fill.SPACE))
        server = stack.enter_context(serving(paths[2]))
        client = stack.enter_context(muisti.connect(f"http://127.0.0.1:{server.port}", space=fill.SPACE))
        ways = {
            "engine, called directly": (_of_engine(engine, questions), None),
            "library, in process": (_of_memory(library, questions), None),
            "client, over HTTP": (_of_memory(client, questions), server.pid),
        }
        Console(width=100).print(_table(ways, options.size, options.rounds))


def _of_engine(engine: Engine, questions: list[str]) -> Way:
    owner, first = engine.owner, engine.owner.read.search(fill.SPACE, Query(text=questions[0])).hits[0].memory.id
    return {
        "remember": lambda n: owner.write.add(fill.SPACE, [Draft(content=_text(n))]),
        "search": lambda n: owner.read.search(fill.SPACE, Query(text=questions[n % len(questions)], limit=10)),
        "get": lambda _: owner.read.get(fill.SPACE, first),
    }


def _of_memory(memory: muisti.Memory, questions: list[str]) -> Way:
    first = memory.search(questions[0]).hits[0].memory.id
    return {
        "remember": lambda n: memory.remember(_text(n), on_conflict="reject"),
        "search": lambda n: memory.search(questions[n % len(questions)], limit=10),
        "get": lambda _: memory.get(first),
    }


def _text(number: int) -> str:
    return f"parcel {number * 7919} arrived in hall {number * 104729 % 9973} of depot {number * 31}"


def _table(ways: dict[str, tuple[Way, int | None]], size: int, rounds: int) -> Table:
    table = Table("call", "way", "clock, ms", "processor, ms", title=f"{size:,} made memories, medians of {rounds}")
    for call in ("remember", "search", "get"):
        measured = {name: [] for name in ways}
        for n in range(rounds + WARMING):
            for name, (way, pid) in ways.items():
                spent = _spent(partial(way[call], n), pid)
                if n >= WARMING:
                    measured[name].append(spent)
        for name, found in measured.items():
            clock, processor = (statistics.median(column) * 1_000 for column in zip(*found, strict=True))
            table.add_row(call, name, f"{clock:.3f}", f"{processor:.3f}")
        table.add_section()
    return table


def _spent(call: Callable[[], Any], pid: int | None) -> tuple[float, float]:
    """Return the seconds of the clock and of the processor that a call takes."""
    before = time.process_time() + _worked(pid)
    start = time.perf_counter()
    call()
    stop = time.perf_counter()
    return stop - start, time.process_time() + _worked(pid) - before


def _worked(pid: int | None) -> float:
    return 0.0 if pid is None else worked(pid)


if __name__ == "__main__":
    main()
