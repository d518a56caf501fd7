"""`python -m tests.language`: count what is not plain English, and fail when it grew.

Prints a table by kind of text and rule. The allowed counts are in `allowed.json`; `--update` writes today's.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.language import pages, ratchet, tree
from tests.language.rules import RULES, Finding

ROOT = Path(__file__).parents[2]
ALLOWED = Path(__file__).with_name("allowed.json")
AGAIN = "python -m tests.language"


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 when a kind of text has more findings than it is allowed, else 0."""
    options = _options(arguments)
    if options.pages:
        _say(pages.table(options.root))
        return 0
    found = [*tree.read(options.root)]
    if options.list or options.paths:
        _list([one for one in found if _wanted(one, options.paths)])
        return 0
    _say(table(found))
    now, allowed = ratchet.counts(found), ratchet.load(options.allowed)
    if options.update:
        ratchet.save(options.allowed, now)
        return 0
    verdict = ratchet.compare(now, allowed)
    for kind, paths in verdict.grown.items():
        _say(f"\n{kind}: more than the {sum(allowed.get(kind, {}).values())} findings that are allowed. New here:")
        _list([one for one in found if one.kind == kind and one.path.as_posix() in paths])
    if verdict.grown:
        return 1
    if verdict.fallen:
        _say(f"\nFewer than allowed, thank you. Keep it so: {AGAIN} --update")
    return 0


def table(found: Sequence[Finding]) -> str:
    """Return a table of counts, a row for each rule and a column for each kind of text."""
    cells = Counter((one.rule, one.kind) for one in found)
    width = max(map(len, RULES))
    heads = [kind.split(" of ") for kind in tree.KINDS]
    lines = [
        " " * width + "".join(f"{head[0]:>12}" for head in heads) + f"{'all':>8}",
        " " * width + "".join(f"{head[1] if head[1:] else '':>12}" for head in heads),
    ]
    for rule in RULES:
        lines.append(_row(rule, width, [cells[rule, kind] for kind in tree.KINDS]))
    sums = Counter(one.kind for one in found)
    lines.append(_row("all", width, [sums[kind] for kind in tree.KINDS]))
    return "\n".join(lines)


def _row(name: str, width: int, numbers: Sequence[int]) -> str:
    return f"{name:<{width}}" + "".join(f"{number:>12}" for number in numbers) + f"{sum(numbers):>8}"


def _wanted(one: Finding, paths: Sequence[str]) -> bool:
    return not paths or any(one.path.as_posix().startswith(path) for path in paths)


def _list(found: Sequence[Finding]) -> None:
    for one in found:
        _say(f"{one.path}:{one.line}: {one.rule} ({one.advice}): {one.text}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=AGAIN, description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("paths", nargs="*", help="List the findings of these files or folders alone.")
    parser.add_argument("--pages", action="store_true", help="Print a line for each document, and stop.")
    parser.add_argument("--list", action="store_true", help="List each finding with its file and line.")
    parser.add_argument("--update", action="store_true", help="Write today's counts as the allowed ones.")
    parser.add_argument("--root", type=Path, default=ROOT, help="Check another copy of the repository.")
    parser.add_argument("--allowed", type=Path, default=ALLOWED, help="File with the allowed counts.")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
