"""Sort the words that only one of two texts has: values, negations, opposites and other words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal

import msgspec

from muisti.core.model.outcomes import Difference, DifferenceKind
from muisti.core.write.conflicts.opposites import opposites
from muisti.core.write.conflicts.words import Word, WordKind

_Found = tuple[DifferenceKind, Word | None, Word | None]  # the words of the existing and of the new text


class Parted(msgspec.Struct, frozen=True):
    """Differences of two texts, their words in pairs (existing, new), and the plain words left on each side."""

    differences: tuple[Difference, ...]
    pairs: tuple[tuple[Word | None, Word | None], ...]
    rest_existing: tuple[Word, ...]
    rest_new: tuple[Word, ...]


def part(existing: Sequence[Word], new: Sequence[Word]) -> Parted:
    """Sort the words that only one side has. Numbers, dates and names are paired in their order."""
    found = [*_paired("number", existing, new), *_paired("date", existing, new), *_negations(existing, new)]
    left_existing, left_new = _of(existing, "plain", "name"), _of(new, "plain", "name")
    for _, ours, theirs in (opposites := list(_opposites(left_existing, left_new))):
        left_existing.remove(ours)
        left_new.remove(theirs)
    found += opposites
    if _of(left_existing, "name") and _of(left_new, "name"):
        found += _paired("name", left_existing, left_new)
        left_existing, left_new = _of(left_existing, "plain"), _of(left_new, "plain")
    return Parted(
        differences=tuple(
            Difference(kind, None if ours is None else ours.text, None if theirs is None else theirs.text)
            for kind, ours, theirs in found
        ),
        pairs=tuple((ours, theirs) for _, ours, theirs in found),
        rest_existing=tuple(left_existing),
        rest_new=tuple(left_new),
    )


def _paired(kind: Literal["number", "date", "name"], existing: Sequence[Word], new: Sequence[Word]) -> list[_Found]:
    return [(kind, ours, theirs) for ours, theirs in zip_longest(_of(existing, kind), _of(new, kind))]


def _negations(existing: Sequence[Word], new: Sequence[Word]) -> list[_Found]:
    """Return at most one pair of negations, however many a text has."""
    ours, theirs = _of(existing, "negation"), _of(new, "negation")
    return [("negation", next(iter(ours), None), next(iter(theirs), None))] if ours or theirs else []


def _of(words: Iterable[Word], *kinds: WordKind) -> list[Word]:
    return [word for word in words if word.kind in kinds]


def _opposites(existing: Sequence[Word], new: Sequence[Word]) -> Iterator[tuple[DifferenceKind, Word, Word]]:
    left = list(new)
    keys = {word.key for word in new}
    for ours in existing:
        excluded = opposites(ours.key)
        if not keys.isdisjoint(excluded):
            theirs = next((word for word in left if word.key in excluded), None)
            if theirs is not None:
                left.remove(theirs)
                yield "opposite", ours, theirs
