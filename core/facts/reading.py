"""Read the facts of a text."""

from collections.abc import Iterator, Mapping, Sequence

from muisti.core.facts import confidence, objects
from muisti.core.facts.clauses import clauses
from muisti.core.facts.fact import ADDRESSEE, AUTHOR, Fact, Named
from muisti.core.facts.possessive import possessed
from muisti.core.facts.stating import Stated, state
from muisti.core.facts.words import Word, words
from muisti.core.text.sentences import pieces
from muisti.core.text.speakers import ASSISTANTS
from muisti.core.text.terms import fold

_OF_AUTHOR = ("i", "we")


def facts(text: str, mentions: Sequence[Named], author: str | None, *, two: bool = False) -> list[Fact]:
    """Return what a text states, in the order of the text, each fact once. Takes linear time.

    `author` is the name of who wrote the text, who is "I"; an assistant's "I" states nothing. With `two` the text
    belongs to a dialogue of two, so that "you" is the other side.
    """
    speaks = author is None or fold(author) not in ASSISTANTS
    reader = _Reader(mentions, speaks, two)
    found = dict.fromkeys(
        fact
        for piece in pieces(text)
        if not piece.code and text[piece.stop - 1] != "?"
        for fact in reader.sentence(words(text, piece.start, piece.stop))
    )
    return list(found)


class _Reader:
    """Reads sentences of one text; knows its mentions by their places."""

    def __init__(self, mentions: Sequence[Named], speaks: bool, two: bool) -> None:
        self._persons = {one.start: number for number, one in enumerate(mentions) if one.kind == "person"}
        self._spans = {(one.start, one.stop): number for number, one in enumerate(mentions)}
        self._mentions = mentions
        self._codes = dict.fromkeys(_OF_AUTHOR, AUTHOR) if speaks else {}
        if two:
            self._codes["you"] = ADDRESSEE

    def sentence(self, sentence: Sequence[Word]) -> Iterator[Fact]:
        """Yield the facts of a sentence."""
        subjects = self._subjects(sentence)
        if subjects:
            for clause in clauses(sentence, subjects):
                for one in state(sentence, clause):
                    yield self._fact(sentence, clause.subject, one, clause.first, max(one.stop, clause.at + 1))
        if "i" in self._codes:
            for at, word in enumerate(sentence):
                if word.text == "my":
                    for last, one in possessed(sentence, at):
                        yield self._fact(sentence, AUTHOR, one, min(at, one.at), last)

    def _subjects(self, sentence: Sequence[Word]) -> Mapping[int, tuple[int, int]]:
        """Return the subjects that a clause may have, by their first words: who they are, and their last words."""
        found: dict[int, tuple[int, int]] = {}
        for at, word in enumerate(sentence):
            code = self._codes.get(word.text)
            if code is not None and (at == 0 or sentence[at - 1].start != word.start):
                found[at] = (code, at)
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
        return Fact(
            subject=subject,
            kind=one.kind,
            object=number,
            literal=(begin, stop) if number is None else None,
            polarity=one.polarity,
            confidence=confidence.of_rule(one.kind),
            start=sentence[first].start,
            stop=max(sentence[last - 1].stop, stop),
        )
