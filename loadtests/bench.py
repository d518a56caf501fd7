"""`make bench`: Muisti beside what it is compared with, in one run. Compare the ratios, not the milliseconds."""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi
from rich.console import Console
from rich.table import Table

from core.embed import StaticEncoder
from core.engine import Engine
from core.index.dense import nearest, rotated
from core.index.lexical import best_matches, rank_lexical
from core.index.snapshot import Allowed
from core.query import Query
from core.store.file import FileDatabase
from core.text import query_terms, tokenize
from core.values import CONTENT_ONLY, Draft, Mode
from loadtests import http_load, texts
from loadtests.server import serving

console = Console(width=110)
SPACE = "bench"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 memories and fewer repetitions, about a minute")
    parser.add_argument(
        "--size", type=int, action="append", help="memories (default 10,000); may be given several times"
    )
    parser.add_argument("--text", type=Path, help="folder with corpus.jsonl and queries.jsonl; made texts otherwise")
    options = parser.parse_args()
    sizes: list[int] = options.size or ([2_000] if options.quick else [10_000])
    repeats = 100 if options.quick else 400
    console.print(f"texts: {options.text.name if options.text else 'made, Zipf-distributed'}; one run, shared machine")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            bench(Path(folder) / "bench.db", size, repeats, options.text)


def bench(path: Path, size: int, repeats: int, source: Path | None) -> None:
    """Fill a space, then print the four tables."""
    corpus, queries = texts.memories(size, source), texts.questions(repeats, source)
    encoder = StaticEncoder()
    with Engine(FileDatabase(path), encoder, lambda: time.time_ns() // 1000) as engine:
        engine.create_space(SPACE, CONTENT_ONLY)
        seconds = fill(engine, corpus)
        first = timed(lambda: engine.search(SPACE, Query(text=queries[0])))
        console.print(f"\n[bold]{size:,} memories[/]: stored at {size / seconds:,.0f}/s in batches of 500, ", end="")
        console.print(f"first search {1000 * first:,.0f} ms, index {engine.index_bytes / size:,.0f} bytes a memory")
        rankings(engine, encoder, corpus, queries)
        searches(engine, queries)
        writes(engine, repeats)
    over_http(path, queries, repeats)


def fill(engine: Engine, corpus: Sequence[str]) -> float:
    began = time.perf_counter()
    for start in range(0, len(corpus), 500):
        engine.add(SPACE, [Draft(content=text) for text in corpus[start : start + 500]], on_conflict="keep")
    return time.perf_counter() - began


def rankings(engine: Engine, encoder: StaticEncoder, corpus: Sequence[str], queries: Sequence[str]) -> None:
    """The two rankings alone against numpy and rank-bm25, interleaved query by query."""
    _, snapshot = engine._indexes.fresh(SPACE)  # pyright: ignore[reportPrivateUsage]  # below the engine, on purpose
    population = snapshot.population(time.time_ns() // 1000)
    vectors = encoder.encode(list(corpus))
    oracle = BM25Okapi([tokenize(text) for text in corpus])
    asked = queries[: min(len(queries), 60)]
    directions = [encoder.encode([query])[0] for query in asked]

    def dense(at: int) -> np.ndarray:
        return nearest(snapshot, rotated(directions[at]), Allowed(population.mask, population.rows), 10).rows

    def exact(at: int) -> np.ndarray:
        scores = vectors @ directions[at]
        best = np.argpartition(scores, -10)[-10:]
        return best[np.argsort(-scores[best], kind="stable")]

    def lexical(at: int) -> np.ndarray:
        matches = rank_lexical(snapshot, population, dict.fromkeys(query_terms(asked[at]), 1), population.mask)
        return best_matches(snapshot, matches, population.mask, 10)

    def okapi(at: int) -> np.ndarray:
        return np.argsort(-oracle.get_scores(query_terms(asked[at])), kind="stable")[:10]

    table = Table(
        "ranking", "Muisti ms", "p95", "peer", "peer ms", "Muisti is", "recall@10", title="one ranking, top 10"
    )
    for name, ours, peer, theirs in (("dense", dense, "numpy float32", exact), ("BM25", lexical, "rank-bm25", okapi)):
        pairs = [(timed_result(ours, at), timed_result(theirs, at)) for at in range(len(asked))]
        mine, other = [1000 * a[0] for a, _ in pairs], [1000 * b[0] for _, b in pairs]
        shared = [len(set(a[1].tolist()) & set(b[1].tolist())) / 10 for a, b in pairs]
        ratio = statistics.median(other) / statistics.median(mine)
        recall = f"{statistics.fmean(shared):.3f}" if name == "dense" else "other idf and b"
        table.add_row(name, *milliseconds(mine), peer, milliseconds(other)[0], f"{ratio:.1f} x as fast", recall)
    console.print(table)


def searches(engine: Engine, queries: Sequence[str]) -> None:
    table = Table("mode", "ms", "p95", "per second, 1 thread", title="whole searches in process, distinct queries")
    modes: tuple[Mode, ...] = ("hybrid", "keyword", "semantic")
    for mode in modes:
        engine.search(SPACE, Query(text="warm up", mode=mode))
        times = [1000 * timed(lambda q=query, m=mode: engine.search(SPACE, Query(text=q, mode=m))) for query in queries]
        table.add_row(mode, *milliseconds(times), f"{1000 / statistics.fmean(times):,.0f}")
    console.print(table)


def writes(engine: Engine, repeats: int) -> None:
    """Single durable writes: alone each waits for its own sync, together they share one."""
    table = Table("writers", "writes a second", "ms", "p95", title="single writes in process, synchronous=FULL")
    for writers in (1, 16):
        drafts = [
            Draft(content=f"written by {writers} in turn {n}") for n in range(repeats * (1 if writers == 1 else 4))
        ]
        began = time.perf_counter()
        with ThreadPoolExecutor(writers) as pool:
            times = list(pool.map(lambda d: 1000 * timed(lambda: engine.add(SPACE, [d], on_conflict="keep")), drafts))
        table.add_row(str(writers), f"{len(drafts) / (time.perf_counter() - began):,.0f}", *milliseconds(times))
    console.print(table)


def over_http(path: Path, queries: Sequence[str], repeats: int) -> None:
    """The same through a real server process on loopback; the client shares the machine."""
    table = Table("request", "clients", "per second", "ms", "p95", "failed", title="over HTTP on loopback, one worker")
    with serving(path) as (host, port):
        search = f"/v1/spaces/{SPACE}/search"
        http_load.run(host, port, search, [json.dumps({"query": query}).encode() for query in queries[:20]], 1, 200)
        for clients in (1, 16):
            bodies = [json.dumps({"query": f"{query} {clients}"}).encode() for query in queries]
            table.add_row("search", *row(clients, http_load.run(host, port, search, bodies, clients, 200)))
        for clients in (1, 16):
            notes = [{"content": f"note {n} over HTTP of {clients}", "on_conflict": "keep"} for n in range(repeats)]
            bodies = [json.dumps(note).encode() for note in notes]
            load = http_load.run(host, port, f"/v1/spaces/{SPACE}/memories", bodies, clients, 201)
            table.add_row("add, durable", *row(clients, load))
    console.print(table)


def row(clients: int, load: http_load.Load) -> tuple[str, ...]:
    return str(clients), f"{load.per_second:,.0f}", *milliseconds(load.milliseconds.tolist()), str(load.failures)


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def timed_result(act: Callable[[int], np.ndarray], at: int) -> tuple[float, np.ndarray]:
    began = time.perf_counter()
    result = act(at)
    return time.perf_counter() - began, result


def milliseconds(times: Sequence[float]) -> tuple[str, str]:
    """Median and 95th percentile."""
    return f"{statistics.median(times):.2f}", f"{np.percentile(times, 95):.2f}"


if __name__ == "__main__":
    sys.exit(main())
