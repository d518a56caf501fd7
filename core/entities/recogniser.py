"""The recogniser of entities: the tagger, capital letters in mid-sentence, rules, and names known elsewhere."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Protocol

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.entities.capitals import trimmed, unread
from muisti.core.entities.knowing import Names
from muisti.core.entities.patterns import forms, times, titles
from muisti.core.entities.spans import Span, likeliest, spans
from muisti.core.entities.tagger import SHIPPED, Tagger, load
from muisti.core.entities.tokens import Stretch, stretches
from muisti.core.model.graph import Mention
from muisti.core.support.priority import give_way

RULES = "1"  # raised with each change of what the rules find


class Recogniser(Protocol):
    """Interface of recognisers. Equal identities give equal mentions of equal texts."""

    @property
    def identity(self) -> str: ...

    def read(self, text: str, *, speakers: Collection[str] = (), known: Collection[str] = ()) -> list[Mention]:
        """Return the mentions of a text, in order, without overlaps.

        `speakers` are names of those who speak or are spoken to: each counts, and each word of it, wherever it has a
        capital. `known` are keys (`names.folded`) of entities of the same space: they count where they have a
        capital and the tagger missed them.
        """
        ...


class ShippedRecogniser:
    """The recogniser that ships with Muisti. Pure and thread-safe."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger

    @property
    def identity(self) -> str:
        return f"muisti-{self._tagger.identity}-{RULES}"

    def read(self, text: str, *, speakers: Collection[str] = (), known: Collection[str] = ()) -> list[Mention]:
        names = Names(speakers, known)
        every: list[Mention] = []
        for stretch in stretches(text):
            give_way()
            every += self.stretch(text, stretch, names)
        return every

    def stretch(self, text: str, stretch: Stretch, names: "Names") -> list[Mention]:
        """Return the mentions of one stretch, in order, whose words may come from elsewhere."""
        return with_rules(text, stretch, names, self._tagged(text, stretch, names))

    def _tagged(self, text: str, stretch: Stretch, names: "Names") -> Iterator[Mention]:
        words = [text[start:stop] for start, stop in stretch.words]
        path, shares = self._tagger.tag(words)
        found = [*spans(path, shares)]
        found += unread(words, found, shares, stretch.plain)
        found += names.known(words, found, partial(likeliest, shares))
        for span in found:
            first, last = trimmed(words, span.start, span.stop)
            if first < last:
                yield self._mention(stretch.words, Span(first, last, span.kind, span.share, span.source))

    def _mention(self, words: Sequence[tuple[int, int]], span: Span) -> Mention:
        share = self._tagger.calibrated(span.share) if span.source == "recogniser" else span.share
        return Mention(words[span.start][0], words[span.stop - 1][1], span.kind, round(share, 3), span.source)


def with_rules(text: str, stretch: Stretch, names: Names, named: Iterable[Mention]) -> list[Mention]:
    """Return the mentions of one stretch, in order: those of the rules and of speakers, and `named` between them.

    Where they overlap, forms come first, then quoted titles, speakers, `named`, and times.
    """
    start, stop = stretch.words[0][0], stretch.words[-1][1]
    found = [*forms(text, start, stop)]
    found += _apart(titles(text, start, stop), found)
    found += _apart(names.speakers(text, stretch.words), found)
    found += _apart(named, found)
    found += _apart(times(text, start, stop), found)
    return sorted(found, key=lambda one: one.start)


def _apart(new: Iterable[Mention], found: Iterable[Mention]) -> list[Mention]:
    """Return the mentions that overlap none of `found`, which do not overlap each other."""
    places = sorted((one.start, one.stop) for one in found)
    starts = [start for start, _ in places]
    kept: list[Mention] = []
    for one in new:
        at = bisect_left(starts, one.stop)  # those before `at` begin before it ends
        if at == 0 or places[at - 1][1] <= one.start:
            kept.append(one)
    return kept


@cache
def shipped() -> ShippedRecogniser:
    """Load the recogniser that ships with Muisti, once."""
    return ShippedRecogniser(Tagger(load(SHIPPED.read_bytes()), StaticEncoder()))
