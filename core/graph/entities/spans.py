"""Spans of words: what the tags of a sentence say."""

from collections.abc import Iterator
from typing import NamedTuple

from muisti.core.kernels import Doubles, Longs
from muisti.core.model.graph_terms import EntityKind, MentionSource

KINDS: tuple[EntityKind, ...] = ("person", "organisation", "place", "other")
"""The kinds of PER, ORG, LOC and MISC."""


class Span(NamedTuple):
    """Words `[start, stop)` of a stretch; `share` is a probability that is not calibrated, or a rule's precision."""

    start: int
    stop: int
    kind: EntityKind
    share: float
    source: MentionSource


def spans(path: Longs, shares: Doubles) -> Iterator[Span]:
    """Yield the spans of a path of tags. Their share is the least of their words' probability to be in a name."""
    tags, at = path.tolist(), 0
    while at < len(tags):
        if tags[at] == 0:
            at += 1
            continue
        stop = at + 1
        while stop < len(tags) and tags[stop] == tags[at] + 1:
            stop += 1
        yield Span(at, stop, KINDS[(tags[at] - 1) // 2], _share(path, shares, at, stop), "recogniser")
        at = stop


def _share(path: Longs, shares: Doubles, start: int, stop: int) -> float:
    """Return how certain it is that these words, and no more, are a name of whatever kind."""
    begins = float(shares[start, 1::2].sum())
    inside = min((float(shares[at, 2::2].sum()) for at in range(start + 1, stop)), default=1.0)
    ends = 1.0 - float(shares[stop, 2::2].sum()) if stop < len(shares) else 1.0
    return min(begins, inside, ends)


def likeliest(shares: Doubles, start: int, stop: int) -> EntityKind:
    """Return the likeliest kind of words that are a name."""
    return KINDS[int((shares[start:stop, 1::2] + shares[start:stop, 2::2]).sum(0).argmax())]
