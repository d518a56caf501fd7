"""Scores as bars: what adds is side by side, and below it is what is taken away from the end."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WIDE = 1000  # units of the longest bar
USUAL = 0.5  # the probability of `applies: true`
LEAST = 0.5  # score that fills a bar at least, so that weak scores look weak


class Word(NamedTuple):
    """The name of a part of a score for people, its meaning in a sentence, and the class of its colour."""

    label: str
    told: str
    colour: str


PARTS: Mapping[str, Word] = {
    "lexical": Word("words", "Words of the question in the passage.", "one"),
    "cosine": Word("meaning", "Similarity of meaning, by the vectors.", "two"),
    "around": Word("words around", "Words of the question in neighbouring passages.", "three"),
    "related": Word("related words", "Words like those of the question, which the passage lacks.", "six"),
    "context": Word("meaning around", "Similarity of meaning with the turns before and after.", "three"),
    "expansion": Word("similar to the top hit", "More like the best passage than like others, or less.", "four"),
    "order": Word("word order", "Words as close together as in the question.", "five"),
    "speaker": Word("person", "It is by or about a person that the question names.", "four"),
    "similarity": Word("similarity", "The fused score of words and meaning.", "two"),
    "tag": Word("tags", "Tags that fit the question.", "three"),
    "position": Word("place in the text", "Passages early in a text.", "four"),
    "graph": Word("ties", "Ties to what the question names.", "six"),
    "symbol": Word("definition", "It defines the symbol that the question names.", "six"),
    "listed": Word("listed", "The mode ranks no text: every memory begins with 1.", "one"),
    "recency": Word("age", "How old it is.", "five"),
    "feedback": Word("feedback", "What callers said of it.", "four"),
    "answer": Word("kind of answer", "The question asks for a time or a place, and it has one.", "five"),
    "importance": Word("importance", "How important it was said to be.", "six"),
    "trust": Word("trust", "How much its source is trusted.", "three"),
    "time": Word("time", "Another time than the question names.", "five"),
    "late": Word("late words", "Words of the question come late in the passage.", "one"),
    "brevity": Word("brevity", "It is a short turn of a dialogue.", "two"),
    "bound": Word("capped at 1 (rankings)", "Keeps the sum of the rankings between 0 and 1.", "one"),
    "cap": Word("capped at 1", "No score is above 1.", "one"),
    "space_weight": Word("space", "The weight of its space.", "four"),
}


class Piece(NamedTuple):
    """A part of a bar: where it begins, how wide it is, and whether it takes away."""

    name: str
    label: str
    told: str
    colour: str
    value: float
    text: str
    x: str
    width: str
    takes: bool


class Bar(NamedTuple):
    """A score as a bar. `mark` is the place of the score; `pieces` add up to it."""

    pieces: Sequence[Piece]
    score: str
    mark: str
    told: str

    @property
    def total(self) -> float:
        """The sum of all pieces."""
        return sum(one.value for one in self.pieces)


def reach(parts: Mapping[str, float]) -> float:
    """Return the length of a bar: the sum of all that adds."""
    return sum(value for value in parts.values() if value > 0)


def bar(parts: Mapping[str, float], score: float, longest: float) -> Bar:
    """Return the bar of a score; `longest` is the reach of the longest beside it.

    >>> made = bar({"lexical": 0.5, "cosine": 0.25, "recency": -0.25}, 0.5, 1.0)
    >>> [(one.label, one.x, one.width, one.takes) for one in made.pieces]
    [('words', '0.0', '500.0', False), ('meaning', '500.0', '250.0', False), ('age', '500.0', '250.0', True)]
    >>> made.mark, made.told
    ('500.0', 'Score 0.500: words +0.500, meaning +0.250, age −0.250')
    """
    scale = WIDE / longest if longest > 0 else 0.0
    left, right = 0.0, reach(parts)
    pieces: list[Piece] = []
    for name, value in sorted(parts.items(), key=lambda part: part[1] < 0):
        word = PARTS.get(name, Word(name.replace("_", " "), "", "one"))
        if value >= 0:
            start, left = left, left + value
        else:
            start = right = right + value
        at, wide = max(start, 0.0) * scale, abs(value) * scale
        pieces.append(Piece(name, *word, value, signed(value), f"{at:.1f}", f"{wide:.1f}", value < 0))
    told = ", ".join(f"{one.label} {one.text}" for one in pieces)
    return Bar(pieces, f"{score:.3f}", f"{score * scale:.1f}", f"Score {score:.3f}: {told}")


def signed(value: float) -> str:
    """Return a number with its sign.

    >>> signed(0.25), signed(-0.0125)
    ('+0.250', '−0.013')
    """
    return f"{'−' if value < 0 else '+'}{abs(value):.3f}"


def legend(bars: Sequence[Bar]) -> list[Piece]:
    """Return one piece for each name in the bars, those that add first."""
    found: dict[tuple[bool, str], Piece] = {}
    for one in bars:
        for piece in one.pieces:
            found.setdefault((piece.takes, piece.name), piece)
    order = {name: place for place, name in enumerate(PARTS)}
    return [found[key] for key in sorted(found, key=lambda key: (key[0], order.get(key[1], len(order))))]


def factors(explain: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the factors of an explanation that people ask for, with their values."""
    named = {
        "Words, 0 to 1": explain["lexical"],
        "Meaning, cosine": explain["cosine"],
        "Both, fused": explain["fused"],
        "Factor of age": explain["recency"],
        "Factor of importance": explain["importance"],
        "Factor of trust": explain["trust"],
        "Factor of feedback": explain["feedback"],
        "Age in days": explain["age_days"],
    }
    found = [(name, f"{value:.3f}") for name, value in named.items() if value is not None]
    found += [(f"Word “{term}”", f"{value:.3f}") for term, value in explain["terms"].items()]
    if explain["time"] is not None:
        found.append((f"Factor of “{explain['time']['words']}”", f"{explain['time']['factor']:.3f}"))
    return found
