"""Sentences of a text as words, with the names in them. Code is left out."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from muisti.core.facts.between import Span
from muisti.core.facts.fact import Named
from muisti.core.facts.words import Word, listed, words
from muisti.core.text.sentences import pieces

_ABBREVIATED = listed(
    "mr mrs ms dr sen rep gov gen col lt sgt capt st prof rev hon jr sr inc corp co ltd vs no mt ft jan feb mar apr"
    " jun jul aug sep sept oct nov dec u.s u.n"
)

_SHORT = 3  # words, among which capital letters may be those of names


class Sentence(NamedTuple):
    """The words of a sentence, the names in it in order, and whether it is a question."""

    words: list[Word]
    spans: list[Span]
    asks: bool


def sentences(text: str, mentions: Sequence[Named]) -> Iterator[Sentence]:
    """Yield the sentences of a text. An abbreviation ends none, nor does a full stop inside a name."""
    order = sorted(range(len(mentions)), key=lambda number: (mentions[number].start, -mentions[number].stop))
    at = 0
    for start, stop in _stretches(text, mentions, order):
        inside: list[int] = []
        while at < len(order) and mentions[order[at]].start < stop:
            inside.append(order[at])
            at += 1
        found = words(text, start, stop)
        if text[start:stop].isupper() and len(found) > _SHORT:
            found = [word._replace(capital=False) for word in found]  # shouted: capital letters say nothing
        yield Sentence(found, [*_spans(found, mentions, inside)], text[stop - 1] == "?")


def _stretches(text: str, mentions: Sequence[Named], order: Sequence[int]) -> Iterator[tuple[int, int]]:
    start, stop = 0, 0
    at = 0
    for piece in pieces(text):
        if piece.code:
            continue
        while at < len(order) and mentions[order[at]].stop <= stop:
            at += 1
        inside = at < len(order) and mentions[order[at]].start < stop
        if stop > start and (inside or _abbreviated(text, start, stop)) and "\n" not in text[stop : piece.start]:
            stop = piece.stop
            continue
        if stop > start:
            yield start, stop
        start, stop = piece.start, piece.stop
    if stop > start:
        yield start, stop


def _abbreviated(text: str, start: int, stop: int) -> bool:
    """Return whether a stretch ends with an abbreviation or an initial."""
    if text[stop - 1] != ".":
        return False
    word = text[max(start, stop - 6) : stop - 1].rpartition(" ")[2]
    return word.lower() in _ABBREVIATED or (len(word) == 1 and word.isupper() and word != "I")


def _spans(found: Sequence[Word], mentions: Sequence[Named], inside: Sequence[int]) -> Iterator[Span]:
    """Yield the mentions of a sentence by their words. A mention inside another is left out."""
    at, before = 0, -1
    for number in inside:
        one = mentions[number]
        if one.start < before:
            continue
        while at < len(found) and found[at].stop <= one.start:
            at += 1
        first = at
        while at < len(found) and found[at].start < one.stop:
            at += 1
        if at > first:
            before = one.stop
            yield Span(number, one.kind, first, at)
