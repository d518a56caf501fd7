"""Ask graph libraries the questions of `loadtests.graph`. Runs by itself, under a Python that has some of them."""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np


def memory() -> float:
    """Return the largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(call: Callable[[Any], object], over: list[Any]) -> float:
    """Return the median milliseconds of a call."""
    times = []
    for one in over:
        began = time.perf_counter()
        call(one)
        times.append(1000 * (time.perf_counter() - began))
    return round(median(times), 3)


def of_networkx(edges: Any, seeds: list[int], pairs: list[Any]) -> dict[str, float]:
    import networkx as nx  # noqa: PLC0415  # it may be missing

    before, began = memory(), time.perf_counter()
    graph = nx.Graph()
    graph.add_edges_from(edges.tolist())
    built = time.perf_counter() - began
    near = {
        f"depth {depth}": timed(
            lambda one, depth=depth: nx.single_source_shortest_path_length(graph, one, depth), seeds
        )
        for depth in (1, 2, 3)
    }
    path = timed(lambda pair: nx.bidirectional_shortest_path(graph, *pair), pairs)
    return {"build s": round(built, 1), "MB": round(memory() - before), **near, "path": path}


def of_igraph(edges: Any, seeds: list[int], pairs: list[Any]) -> dict[str, float]:
    import igraph  # noqa: PLC0415  # it may be missing

    before, began = memory(), time.perf_counter()
    graph = igraph.Graph(n=int(edges.max()) + 1, edges=edges.tolist())
    built = time.perf_counter() - began
    near = {
        f"depth {depth}": timed(lambda one, depth=depth: graph.neighborhood(one, depth), seeds) for depth in (1, 2, 3)
    }
    path = timed(lambda pair: graph.get_shortest_path(*pair), pairs)
    return {"build s": round(built, 1), "MB": round(memory() - before), **near, "path": path}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    folder = Path(sys.argv[1])
    edges = np.load(folder / "edges.npy")
    asked = json.loads((folder / "asked.json").read_text())
    for library, ask in (("networkx", of_networkx), ("igraph", of_igraph)):
        try:
            say(json.dumps({"library": library, **ask(edges, asked["seeds"], asked["pairs"])}))
        except ImportError:
            say(json.dumps({"library": library, "missing": True}))


if __name__ == "__main__":
    main()
