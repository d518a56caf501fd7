"""Read the facts of a text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from muisti.core.graph.facts import between, objects
from muisti.core.graph.facts.between import ADDRESSEE, AUTHOR, Fact, Named, Span
from muisti.core.graph.facts.clauses import clauses
from muisti.core.graph.facts.lexicon import Word, listed, words
from muisti.core.graph.facts.stating import Stated, possessed, state
from muisti.core.model.choices import RelationKind
from muisti.core.text.sentences import pieces
from muisti.core.text.speakers import ASSISTANTS, USERS
from muisti.core.text.terms import fold

# Sentences of a text as words, with the names in them. Code is left out

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


# Shares of the facts of a kind that are right.
MEASURED: dict[RelationKind, float] = {"likes": 0.91, "dislikes": 0.94, "avoids": 0.97, "prefers": 0.84}
OTHERS = 0.94  # of the other kinds together: 29 were read


_OF_AUTHOR = ("i", "we")
_OF_NAMES = frozenset({
    "works_at", "lives_in", "visited", "located_in", "based_in", "comes_from", "knows", "kin", "spouse",
})  # fmt: skip
"""Kinds whose object is the name at the beginning of its words: "Acme" of "Acme in Berlin"."""
_OWNS = frozenset({"'s", "’s", "'", "’", "s"})
_NO_NAMES = frozenset({"date", "identifier", "symbol"})


def facts(text: str, mentions: Sequence[Named], author: str | None, *, two: bool = False) -> list[Fact]:
    """Return what a text states, in the order of the text, each fact once. Takes linear time.

    `author` is the name of who wrote the text, who is "I"; an assistant's "I" states nothing. Without an author, or
    when it is "user", "the user" is the author as well. With `two` the text belongs to a dialogue of two, so that "you"
    is the other side.
    """
    speaks = author is None or fold(author) not in ASSISTANTS
    user = author is None or fold(author) in USERS
    reader = _Reader(mentions, speaks, user, two)
    found = dict.fromkeys(
        fact for sentence in sentences(text, mentions) if not sentence.asks for fact in reader.sentence(sentence)
    )
    return list(found)


class _Reader:
    def __init__(self, mentions: Sequence[Named], speaks: bool, user: bool, two: bool) -> None:
        self._persons = {one.start: number for number, one in enumerate(mentions) if one.kind == "person"}
        self._spans = {(one.start, one.stop): number for number, one in enumerate(mentions)}
        self._mentions, self._speaks = mentions, speaks
        self._codes: dict[str, int] = dict.fromkeys(_OF_AUTHOR, AUTHOR) if speaks else {}
        if user:
            self._codes["user"] = AUTHOR
        if two:
            self._codes["you"] = ADDRESSEE

    def sentence(self, sentence: Sentence) -> Iterator[Fact]:
        """Yield the facts of a sentence: those of its clauses, those of "my", those between its names."""
        words = sentence.words
        stated: set[tuple[int, RelationKind]] = set()
        if subjects := self._subjects(words):
            for clause in clauses(words, subjects):
                for one in state(words, clause):
                    stated.add((clause.subject, one.kind))
                    yield self._fact(words, clause.subject, one, clause.first, max(one.stop, clause.at + 1))
        if self._speaks:
            for at, word in enumerate(words):
                if word.text == "my":
                    for last, one in possessed(words, at):
                        yield self._fact(words, AUTHOR, one, min(at, one.at), last)
        if len(sentence.spans) > 1:
            yield from (one for one in self._between(sentence) if (one.subject, one.kind) not in stated)

    def _between(self, sentence: Sentence) -> Iterator[Fact]:
        judge = between.shipped()
        for pair in between.pairs(sentence.words, sentence.spans):
            ends = [self._mentions[pair.subject], self._mentions[pair.object]]
            sure = between.confidence(judge.probability(pair.features), ends)
            if sure >= judge.sure[pair.kind]:
                start, stop = min(one.start for one in ends), max(one.stop for one in ends)
                yield Fact(pair.subject, pair.kind, pair.object, None, True, round(sure, 3), start, stop)

    def _subjects(self, sentence: Sequence[Word]) -> Mapping[int, tuple[int, int]]:
        """Return the subjects that a clause may have, by their first words: who they are, and their last words."""
        found: dict[int, tuple[int, int]] = {}
        for at, word in enumerate(sentence):
            code = self._codes.get(word.text)
            if code is not None and (at == 0 or sentence[at - 1].start != word.start):
                found[at - _articles(sentence, at)] = (code, at)
            elif self._persons and (number := self._persons.get(word.start)) is not None:
                stop = self._mentions[number].stop
                last = at
                while last + 1 < len(sentence) and sentence[last + 1].stop <= stop:
                    last += 1
                found[at] = (number, last)
        return found

    def _fact(self, sentence: Sequence[Word], subject: int, one: Stated, first: int, last: int) -> Fact:
        begin, stop = sentence[one.at].start, sentence[one.stop - 1].stop
        bare = sentence[objects.bare(sentence, one.at, one.stop)].start
        number = self._spans.get((begin, stop), self._spans.get((bare, stop)))
        if number is None and one.kind in _OF_NAMES:
            number = self._name_at(sentence, begin, bare, stop)
        certain = self._mentions[subject].confidence if subject >= 0 else 1.0
        literal = (begin, stop) if number is None else None
        sure = round(MEASURED.get(one.kind, OTHERS) * certain, 3)
        end = max(sentence[last - 1].stop, stop)
        return Fact(subject, one.kind, number, literal, one.polarity, sure, sentence[first].start, end)

    def _name_at(self, sentence: Sequence[Word], begin: int, bare: int, stop: int) -> int | None:
        """Return the longest mention at the beginning of an object, or around it; none that owns what follows."""
        after = {word.stop: place + 1 for place, word in enumerate(sentence)}
        at = [
            (one.stop, number)
            for number, one in enumerate(self._mentions)
            if (one.start in (begin, bare) or (one.start < begin and one.stop >= stop))
            and one.kind not in _NO_NAMES
            and one.stop in after
            and not any(word.text in _OWNS for word in sentence[after[one.stop] : after[one.stop] + 1])
        ]
        return max(at)[1] if at else None


def _articles(sentence: Sequence[Word], at: int) -> int:
    """Return 1 for "the user", whose subject begins at the article."""
    return int(at > 0 and sentence[at].text == "user" and sentence[at - 1].text == "the")
