"""A ratchet: how many findings each file is allowed, a number that only falls."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.language.rules import Finding

# The findings of a kind of text, by path.
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Kinds whose sum grew, with the files that grew most likely because of it, and whether any sum fell."""

    grown: Mapping[str, list[str]]
    fallen: bool


def counts(found: Iterable[Finding]) -> Counts:
    """Count findings by kind and path."""
    counted = Counter((finding.kind, finding.path.as_posix()) for finding in found)
    result: Counts = {}
    for (kind, path), number in sorted(counted.items()):
        result.setdefault(kind, {})[path] = number
    return result


def compare(now: Counts, allowed: Counts) -> Verdict:
    """Compare by the sum of each kind, so that a file may be moved or divided; name the files that have more."""
    grown: dict[str, list[str]] = {}
    fallen = False
    for kind in sorted({*now, *allowed}):
        ours, theirs = now.get(kind, {}), allowed.get(kind, {})
        if sum(ours.values()) > sum(theirs.values()):
            grown[kind] = [path for path, number in ours.items() if number > theirs.get(path, 0)]
        fallen = fallen or sum(ours.values()) < sum(theirs.values())
    return Verdict(grown, fallen)


def load(path: Path) -> Counts:
    """Read the allowed counts; without a file none are allowed."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def save(path: Path, allowed: Counts) -> None:
    """Write the allowed counts, a line for each file so that branches meet rarely."""
    path.write_text(json.dumps(allowed, indent=1, ensure_ascii=False) + "\n", "utf-8")
