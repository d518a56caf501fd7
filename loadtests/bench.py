"""`make bench`: Muisti beside what it is compared with, in one run. Compare the ratios, not the milliseconds.

Each stage at each size saves its figures as JSON under `runs/`. Artefacts that take long to make are cached under
`runs/cache`, so an interrupted run resumes. `--fresh` measures again, with the cached artefacts.
"""

import argparse
import importlib
import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from loadtests import tables, texts
from loadtests.bed import Bed, machine

UNSEEN = 1_000  # texts that are not stored
STAGES = ("dense", "lexical", "hybrid", "context", "conflicts", "http", "concurrency", "memory")
SIZES = (10_000, 100_000, 1_000_000)

console = Console(width=140)


def main() -> int:
    options = _options()
    cache = options.runs / "cache"
    asked = _list(options.only, STAGES)
    if options.text is None:
        console.print("[bold]No real text[/]: give a folder with ARGS='--text DIR'. Measuring on made words instead.")
        corpus, questions = texts.invented(max(options.size))
    else:
        corpus, questions = texts.real(options.text, cache)
    folder = options.runs / ("bench" if options.peers else "bench-alone")
    for size in options.size:
        if size > len(corpus):
            console.print(f"[red]only {len(corpus):,} texts, {size:,} wanted: not measured[/]")
            continue
        with Bed(
            corpus[:size],
            questions,
            cache,
            peers=options.peers,
            slow=options.slow,
            model=options.model,
            unseen=corpus[size : size + UNSEEN],
        ) as bed:
            for stage in asked:
                _run(stage, bed, folder / f"{stage}-{size}.json", options)
    results = load(folder)
    if results:
        tables.show(results, console)
        if options.docs is not None:
            importlib.import_module("loadtests.plots").draw(results, options.docs / "img")
    return 0


def load(folder: Path) -> dict[str, dict[int, Any]]:
    """The saved figures: stage, then size."""
    found: dict[str, dict[int, Any]] = {}
    for path in sorted(folder.glob("*-*.json")):
        stage, _, size = path.stem.rpartition("-")
        found.setdefault(stage, {})[int(size)] = json.loads(path.read_text("utf-8"))
    return {stage: dict(sorted(found[stage].items())) for stage in STAGES if stage in found}


def _run(stage: str, bed: Bed, path: Path, options: argparse.Namespace) -> None:
    if path.exists() and not options.fresh and not options.prepare:
        console.print(f"{stage} at {bed.size:,}: as measured before ({path})")
        return
    module = importlib.import_module(f"loadtests.stages.{stage}")
    began, load_before = time.perf_counter(), os.getloadavg()[0]
    if options.prepare:
        module.prepare(bed)
        console.print(f"{stage} at {bed.size:,}: prepared in {time.perf_counter() - began:,.0f} s")
        return
    measured = module.measure(bed)
    took = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": time.perf_counter() - began,
        "load": [load_before, os.getloadavg()[0]],
        "text": "made words" if options.text is None else "real text",
        "machine": machine(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps({"run": took, **measured}, indent=1), "utf-8")
    unfinished.rename(path)
    console.print(f"{stage} at {bed.size:,}: {took['seconds']:,.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--text", type=Path, help="folder of judged sets, or with texts.txt and questions.txt")
    parser.add_argument("--size", type=_sizes, default=SIZES, help="memories: 10000,100000,1000000 (default)")
    parser.add_argument("--only", default=",".join(STAGES), help=f"stages: {','.join(STAGES)} (default)")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure others too")
    parser.add_argument("--slow", action="store_true", help="also build graphs that take many minutes at a million")
    parser.add_argument("--model", help="path of another static model (default: the one that ships with Muisti)")
    parser.add_argument("--prepare", action="store_true", help="only make what is kept; measure nothing")
    parser.add_argument("--fresh", action="store_true", help="measure again what is measured already")
    parser.add_argument("--docs", type=Path, help="draw plots into this folder's img/")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where figures and caches are kept")
    return parser.parse_args()


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size.replace("_", "")) for size in text.split(","))


def _list(text: str, known: tuple[str, ...]) -> list[str]:
    wanted = text.split(",")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"no stage {', '.join(unknown)}; there are {', '.join(known)}")
    return [name for name in known if name in wanted]


if __name__ == "__main__":
    sys.exit(main())
