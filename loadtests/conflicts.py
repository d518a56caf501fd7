"""Contradictions called by two checkouts of Muisti in one run: on judged pairs, and in ordinary conversations.

    python -m loadtests.conflicts OTHER --pairs FOLDER --beam FOLDER [--chat FOLDER ...] [--show]

OTHER is the checkout to compare with, such as a `git worktree` of what was before. The pairs are those of
`loadtests.judged_changes`. A pair is called `refused` (a conflict) or `review` (a possible conflict). With --chat the
first 10,000 turns of these folders are added in their order, each checked as by default.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from loadtests.checkout import ROOT, THIS, Checkout
from loadtests.judged_changes import Pair, load
from loadtests.quality.merging import share

CALLS = {"refused": "conflict", "review": "possible_conflict"}
NAMES = ("before", "after")


@dataclass(frozen=True, slots=True)
class Score:
    """Counts behind precision and recall: pairs called, pairs that are conflicts, and both."""

    called: int
    true: int
    both: int

    def __str__(self) -> str:
        return f"{self.called} | {share(self.both, self.called, 2)} | {share(self.both, self.true, 2)}"


def verdicts(tree: Checkout, pairs: Sequence[Pair]) -> list[str]:
    """Return the kind of verdict on each pair by the rules of a checkout; empty for none."""
    lines = "".join(json.dumps([pair.existing, pair.new]) + "\n" for pair in pairs)
    return _run(tree, ROOT / "loadtests" / "verdicts.py", (), lines).split("\n")[: len(pairs)]


def score(pairs: Sequence[Pair], kinds: Sequence[str], call: str) -> Score:
    """Return how well one call finds the pairs that are conflicts."""
    called = [kind == CALLS[call] for kind in kinds]
    both = sum(hit and pair.conflict for hit, pair in zip(called, pairs, strict=True))
    return Score(sum(called), sum(pair.conflict for pair in pairs), both)


def table(pairs: Sequence[Pair], judged: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the table: a row for each source, part and call, with both checkouts beside each other."""
    columns = " | ".join(f"{name}: called | precision (95 %) | recall (95 %)" for name in NAMES)
    yield f"| pairs | conflicts of all | call | {columns} |\n|{' --- |' * 9}"
    for source, held_out in dict.fromkeys((pair.source, pair.held_out) for pair in pairs):
        rows = [row for row, pair in enumerate(pairs) if (pair.source, pair.held_out) == (source, held_out)]
        chosen = [pairs[row] for row in rows]
        name = f"{source}, {'held out' if held_out else 'tuning'}"
        for call in CALLS:
            scores = " | ".join(str(score(chosen, [kinds[row] for row in rows], call)) for kinds in judged)
            yield f"| {name} | {sum(pair.conflict for pair in chosen)} of {len(chosen):,} | {call} | {scores} |"


def _run(tree: Checkout, program: Path, arguments: Sequence[str], given: str | None = None) -> str:
    environment = {**os.environ, **tree.environment}
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True).stdout


@click.command()
@click.argument("other", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--pairs", "folder", required=True, type=click.Path(exists=True, path_type=Path), help="SICK and MRPC.")
@click.option("--beam", required=True, type=click.Path(exists=True, path_type=Path), help="BEAM's conversations.")
@click.option("--chat", multiple=True, type=click.Path(exists=True), help="A folder of conversations; repeatable.")
@click.option("--show", is_flag=True, help="Print each wrong call, and each call in conversations.")
def main(other: Path, folder: Path, beam: Path, chat: Sequence[str], show: bool) -> None:
    """Compare the contradictions that two checkouts call."""
    trees = (Checkout(other), THIS)
    for tree in trees:
        tree.prepare()
    pairs = load(folder, beam)
    judged = [verdicts(tree, pairs) for tree in trees]
    click.echo("\n".join(table(pairs, judged)))
    for pair, kind in zip(pairs, judged[1], strict=True) if show else ():
        if (kind in CALLS.values()) != pair.conflict and not pair.held_out:
            click.echo(f"{pair.source}: {kind or '-'}\n  {pair.existing[:300]!r}\n  {pair.new[:300]!r}")
    for tree, name in zip(trees, NAMES, strict=True) if chat else ():
        shown = ("--show",) if show and tree is THIS else ()
        alarms = _run(tree, ROOT / "loadtests" / "quality" / "reviews.py", ("--turns", "10000", *shown, *chat))
        click.echo(f"{name}\n{alarms}")


if __name__ == "__main__":
    sys.exit(main())
