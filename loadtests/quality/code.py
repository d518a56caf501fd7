"""Measure the edges of calls in repositories against an independent reader of their language.

    python -m loadtests.quality.code REPO... [--oracle NAME] [--typescript FOLDER] [--show N]

`jedi` reads Python and `clang` C. `javac` is that of an installed JDK. `typescript` is the checker of TypeScript, from
a folder in which `npm install typescript` ran. Without `--oracle` it is that of most files of a repository.
Each repository gives one row. A call counts when the oracle names a definition inside the repository, or when there is
an edge for it. Sites about which the oracle says nothing count neither way and have a column of their own. The last
column is the precision of edges by name alone: each call refers to all definitions of its name.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from loadtests.quality.code_oracles import ORACLES, Site, Sites, Target
from muisti.core.parsing.code import projects
from muisti.core.parsing.code.reading import LANGUAGES, Resolved, read, resolve_all, source_language
from muisti.core.parsing.code.records import Record

SKIPPED = ("node_modules", ".git", ".venv")


class Score(NamedTuple):
    """Sites that agree with the oracle, differ from it, are missed, or that the oracle is silent about."""

    sites: int
    agree: list[tuple[Site, Target]]
    differ: list[tuple[Site, Target, set[Target]]]
    missed: list[tuple[Site, set[Target]]]
    silent: int
    by_name: float

    @property
    def precision(self) -> float:
        return len(self.agree) / max(1, len(self.agree) + len(self.differ))

    @property
    def recall(self) -> float:
        inside = sum(1 for _, _, targets in self.differ if targets)
        return len(self.agree) / max(1, len(self.agree) + len(self.missed) + inside)


def records_of(root: Path, languages: Iterable[str]) -> list[Record]:
    """Return the records of the source files of a folder, those that its repository would not have left out."""
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not {*path.parts} & {*SKIPPED})
    wanted = {*languages}
    return [
        read(path.relative_to(root).as_posix(), path.read_bytes(), language)
        for path in paths
        if (language := source_language(path.name)) in wanted and language is not None
    ]


def score(sites: Sites, resolved: Mapping[str, Resolved], records: list[Record]) -> Score:
    """Compare edges with an oracle's targets by site: an empty set is a target outside, None that it knows none."""
    edges = {
        Site(path, edge.line, edge.column): (edge.path, edge.name)
        for path, one in resolved.items()
        for edge in one.edges
        if edge.kind == "calls"
    }
    definitions: dict[str, list[tuple[str, str]]] = {}
    for record in records:
        for one in record.definitions:
            if one.kind != "constant":
                definitions.setdefault(one.name, []).append((record.path, one.qualified))
    agree, differ, missed = [], [], []
    silent = named = right = 0
    for site, targets in sites.items():
        found = edges.get(site)
        if targets is not None and (names := {name.rpartition(".")[2] for _, name in targets} or {site.name}):
            guesses = [one for name in names for one in definitions.get(name, ())]
            named += len(guesses)
            right += sum(one in targets for one in guesses)
        if found is None:
            if targets:
                missed.append((site, targets))
        elif targets is None:
            silent += 1
        elif found in targets:
            agree.append((site, found))
        else:
            differ.append((site, found, targets))
    return Score(len(sites), agree, differ, missed, silent, right / max(1, named))


def oracle_of(root: Path) -> str:
    """Return the oracle that reads most source files of a folder, `none` when no oracle reads any."""
    found = Counter(source_language(path.name) for path in root.rglob("*") if not {*path.parts} & {*SKIPPED})
    counts = {name: sum(found[language] for language in one.languages) for name, one in ORACLES.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "none"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", nargs="+", type=Path, help="folders of source code")
    parser.add_argument("--oracle", choices=[*ORACLES, "none"], help="default: by the files")
    parser.add_argument("--typescript", type=Path, help="a folder in which `npm install typescript` ran")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="list N calls that differ, N that are missed")
    options = parser.parse_args()
    console = Console(width=140)
    table = Table(
        "repository",
        "oracle",
        "files",
        "kB",
        "files/s",
        "resolve s",
        "calls",
        "in repo",
        "edges",
        "silent",
        "precision",
        "recall",
        "by name alone",
    )
    for repo in options.repos:
        repo = repo.resolve()
        chosen = options.oracle or oracle_of(repo)
        languages = LANGUAGES if chosen == "none" else ORACLES[chosen].languages
        began = time.process_time()
        records = records_of(repo, languages)
        read_in, began = time.process_time() - began, time.process_time()
        resolved = resolve_all([*records, *records_of(repo, [projects.LANGUAGE])])
        took = time.process_time() - began
        size = sum((repo / one.path).stat().st_size for one in records) / 1000
        speed = len(records) / max(1e-9, read_in + took)
        row = [repo.name, chosen, f"{len(records)}", f"{size:.0f}", f"{speed:.0f}", f"{took:.2f}"]
        if chosen == "none":
            calls = sum(edge.kind == "calls" for one in resolved.values() for edge in one.edges)
            mentions = sum(one.use == "call" for record in records for one in record.mentions)
            table.add_row(*row, f"{mentions}", "", f"{calls}")
            continue
        result = score(ORACLES[chosen].targets(repo, records, options.typescript), resolved, records)
        inside = len(result.agree) + len(result.missed) + sum(1 for _, _, targets in result.differ if targets)
        edges = len(result.agree) + len(result.differ) + result.silent
        table.add_row(
            *row,
            f"{result.sites}",
            f"{inside}",
            f"{edges}",
            f"{result.silent}",
            f"{result.precision:.3f}",
            f"{result.recall:.3f}",
            f"{result.by_name:.3f}",
        )
        for site, found, targets in result.differ[: options.show]:
            console.print("differs", site, found, targets or "outside", highlight=False)
        step = max(1, len(result.missed) // max(1, options.show))
        for site, targets in result.missed[::step][: options.show]:
            console.print("missed", site, targets, highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
