"""Titles, and extractive summaries: the sentences that cover most of what was said, within a number of tokens.

A word weighs √n · rarity², n being the sentences that have it; names and numbers weigh more. A sentence is worth the
weights of its words that no chosen sentence has, divided by the root of its tokens. The best sentence is taken first,
and the rest are valued again, until nothing more fits. This is greedy maximum coverage under a budget (Khuller, Moss
and Naor, 1999). As there, where few sentences fit, those that go with the heaviest one are tried as well. Words of one
sentence are looked at again only while it may be the best, so the time is nearly linear in the text.
"""

import heapq
import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from muisti.core.model.values import Memory
from muisti.core.support.regex import regex
from muisti.core.text.language import function_words, language_of
from muisti.core.text.sentences import pieces
from muisti.core.text.terms import query_terms, spans, tokenize

WORDS = 4  # in a title of a topic
LENGTH = 60  # characters of a title of a conversation
READ = 20_000  # characters of each turn that are read

_CODE = regex(r"```.*?(?:```|\Z)", re.DOTALL)

# Words of talk: they say how people speak, and in a short conversation they look like a subject.
_TALK_WORDS = """
actually again ah all also always any anything awesome back because bit btw cool course day definitely didn doesn
don done else even ever every everything feel fine get getting glad go going gonna good got great guess haha hello
help here hey hi hmm idea just keep kind know let like ll long look lot love made make many maybe mean mm more much
need never new next nice no not now oh ok okay one only other out over people please pretty really right said say
see so some something soon sort sounds still stuff such sure take talk tell than thank thanks then thing things
think time today too try two uh um up use very wait wanna want way well went while won wonderful work would wow yeah
yep yes yet
"""
TALK = frozenset(_TALK_WORDS.split())


def title_of(text: str) -> str:
    """Return the beginning of a text as a title.

    >>> title_of("\\n  We moved to Turku in the spring, because of the river and all of its bridges.  Really!")
    'We moved to Turku in the spring, because of the river and…'
    """
    line = next((line for line in text.splitlines() if line.strip()), text)
    words = " ".join(line.split())
    if len(words) <= LENGTH:
        return words
    head = words[:LENGTH].rpartition(" ")[0] or words[: LENGTH - 1]
    return f"{head}…"


def title_by(first: Memory) -> str:
    """Return the title of a conversation by its first turn: the title that its metadata names, or its beginning."""
    given = first.metadata.get("conversation_title", first.metadata.get("title"))
    return given if isinstance(given, str) and given.strip() else title_of(first.content)


def title(topic: Sequence[str], rest: Sequence[str] = (), rarity: Callable[[str], float] | None = None) -> str:
    """Return the most telling words of a topic's turns, best first; "" when none tells anything.

    A word counts by the turns that use it, and by how few turns of the `rest` do. `rarity` gives the weight of a term
    in a larger collection, such as its idf; it helps where the rest is short.

    >>> title(["The rent of the flat in Turku", "A flat near the river, Turku is nice"], ["Your cat is ill"])
    'Flat, Turku, rent, near'
    """
    inside, forms = _counted(topic)
    outside = Counter(term for turn in rest for term in set(tokenize(turn[:READ])))
    turns = max(1, len(topic)), max(1, len(rest))

    def telling(term: str) -> float:
        here, elsewhere = inside[term] / turns[0], (outside[term] + 0.5) / (turns[1] + 1)
        return inside[term] * math.log(here / elsewhere) * (rarity(term) if rarity else 1.0)

    first = {term: place for place, term in enumerate(inside)}
    best = sorted(inside, key=lambda term: (-telling(term), first[term]))[:WORDS]
    words = [forms[term].most_common(1)[0][0] for term in best]
    joined = ", ".join(words)
    return joined[:1].upper() + joined[1:]


def _counted(turns: Sequence[str]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Return the number of turns with each telling term, and the forms in which each is written."""
    counts = Counter[str]()
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        seen: dict[str, None] = {}
        for term, form in _telling_words(_CODE.sub(" ", turn[:READ])):
            forms[term][form] += 1
            seen[term] = None
        counts.update(seen.keys())
    return counts, forms


def _telling_words(turn: str) -> Iterator[tuple[str, str]]:
    """Yield each term with the word that gave it, lower-cased where the capital letter only opens a sentence."""
    found = [(span, turn[span.start : span.stop]) for span in spans(turn)]
    empty = function_words(language_of([word.casefold() for _, word in found]))
    done = 0
    for span, word in found:
        if span.start < done:
            continue  # a part of the name before it
        done = span.stop
        folded = word.casefold()
        plain = folded in empty or folded in TALK or (len(word) < 2 and word.isascii()) or word.isdigit()
        if not plain:
            yield span.terms[0], folded if _opens(turn, span.start) and word.istitle() else word


def _opens(text: str, at: int) -> bool:
    before = text[max(0, at - 8) : at].rstrip(" \t\"'(*#-")
    return not before or before[-1] in ".!?\n:…"


SHORTEST = 8  # tokens that a sentence is counted as, at least
LONGEST = 60  # words; a longer sentence is cut into pieces
LEAST = 2  # telling words that a sentence has at least
FEW = 3  # chosen sentences, at most, to which others are compared
ASKED = 10.0  # how much more a word of the query weighs
NAMED = 2.0  # how much more a name weighs
COUNTED = 3.0  # how much more a number weighs, such as that of a date

Count = Callable[[str], int]
Rarity = Callable[[str], float]

_WORD = regex(r"\S+")
_INNER = regex(r"(?<=[\w,;:] )[^\W\d_]\w+")  # a word that opens no sentence
_WORDS = regex(rf"\S+(?:\s+\S+){{0,{LONGEST - 1}}}")
_TALK = frozenset(term for word in TALK for term in tokenize(word))


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to be summarised; `author` may be empty."""

    number: int
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """The chosen sentences of a turn, as a line of a summary. `cut`: a part of a sentence, as no whole one fits."""

    number: int
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to choose: the place of its turn, its tokens with a line break, and those of the author's name.

    The name comes before the first chosen sentence of a turn.
    """

    turn: int
    text: str
    terms: frozenset[str]
    tokens: int
    frame: int


def summarise(
    turns: Sequence[Turn],
    tokens: int,
    count: Count,
    rarity: Rarity | None = None,
    *,
    query: str = "",
    code: bool = False,
) -> list[Line]:
    r"""Return the lines of a summary, in the order of the turns. Joined by "\n" they have at most `tokens`.

    `count` gives the tokens of a text, `rarity` the idf of a term; without it, idf is that of the sentences. `query`
    makes its words weigh more. `code`: blocks of code are sentences, otherwise they are left out.

    >>> turns = [Turn(1, "ann", "I moved to Turku. Ok!"), Turn(2, "bob", "Ok! How big is the flat in Turku?")]
    >>> [line.text for line in summarise(turns, 14, lambda text: len(text.split()))]
    ['ann: I moved to Turku.', 'bob: How big is the flat in Turku?']
    """
    found = _telling(sentences_of(turns, count, code))
    weights = _weights(found, rarity or _rarity_within(found), frozenset(query_terms(query)))
    chosen = _best(found, weights, tokens)
    while chosen:
        lines = lines_of(turns, found, chosen)
        if count(text_of(lines)) <= tokens:
            return lines
        chosen.pop()
    return _cut(turns, found, weights, tokens, count)


@dataclass(frozen=True, slots=True)
class Compressed:
    """A text within a number of tokens: what is left of it, and of how many tokens."""

    text: str
    tokens: int
    before: int


def compress(text: str, tokens: int, count: Count, query: str = "") -> Compressed:
    """Return a text as it is where it fits, else the sentences and blocks of code that say most, in their order.

    >>> compress("Ok. We moved to Turku. Ok.", 4, lambda text: len(text.split())).text
    'We moved to Turku.'
    """
    before = count(text)
    if before <= tokens:
        return Compressed(text, before, before)
    turns: list[Turn] = []
    end = 0
    for piece in pieces(text):
        said = text[piece.start : piece.stop]
        if turns and not piece.code and "\n" not in text[end : piece.start]:
            turns[-1] = Turn(turns[-1].number, "", f"{turns[-1].text} {said}")
        else:
            turns.append(Turn(len(turns), "", said))
        end = piece.stop
    left = text_of(summarise(turns, tokens, count, query=query, code=True))
    return Compressed(left, count(left), before)


def text_of(lines: Iterable[Line]) -> str:
    """Return a summary as one text."""
    return "\n".join(line.text for line in lines)


def sentences_of(turns: Sequence[Turn], count: Count, code: bool = False) -> list[Sentence]:
    """Return the sentences of turns, in order; blocks of code only with `code`, or where a turn has nothing else."""
    return [sentence for place, turn in enumerate(turns) for sentence in _of_turn(place, turn, count, code)]


def _of_turn(place: int, turn: Turn, count: Count, code: bool) -> Iterator[Sentence]:
    texts = [*_pieces(turn.text, code)] or [*_pieces(turn.text, True)]
    terms = [tokenize(text) for text in texts]
    empty = function_words(language_of([term for some in terms for term in some]))
    frame = count(_framed(turn.author, "")) if turn.author else 0
    for text, some in zip(texts, terms, strict=True):
        yield Sentence(place, text, frozenset(some) - empty, count(text) + 1, frame)


def _pieces(text: str, code: bool) -> Iterator[str]:
    for piece in pieces(text):
        if not piece.code:
            yield from (some[0] for some in _WORDS.finditer(text, piece.start, piece.stop))
        elif code:
            yield text[piece.start : piece.stop]


def _telling(found: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences with enough telling words or a number; all where none has."""
    return [one for one in found if len(one.terms - _TALK) >= LEAST or any(map(_is_number, one.terms))] or found


def _weights(found: Sequence[Sentence], rarity: Rarity, asked: Collection[str]) -> dict[str, float]:
    names = _names(found)

    def factor(term: str) -> float:
        named = COUNTED if _is_number(term) else NAMED if term in names else 1.0
        return named * (ASKED if term in asked else 1.0)

    return {term: math.sqrt(n) * max(0.0, rarity(term)) ** 2 * factor(term) for term, n in _uses(found).items()}


def _names(found: Sequence[Sentence]) -> frozenset[str]:
    """Return the terms of words that have a capital letter within a sentence."""
    words = {word for sentence in found for word in _INNER.findall(sentence.text) if word[0].isupper()}
    return frozenset(term for word in words for term in tokenize(word))


def _is_number(term: str) -> bool:
    return term[:1].isdecimal()


def _rarity_within(found: Sequence[Sentence]) -> Rarity:
    uses = _uses(found)
    return lambda term: math.log((len(found) + 1) / (uses[term] + 0.5))


def _uses(found: Sequence[Sentence]) -> Counter[str]:
    return Counter(term for sentence in found for term in sentence.terms)


def _worth(sentence: Sentence, weights: Mapping[str, float], said: Collection[str]) -> float:
    new = math.fsum(weights[term] for term in sentence.terms if term not in said)
    return new / math.sqrt(max(SHORTEST, sentence.tokens))


def _best(found: Sequence[Sentence], weights: Mapping[str, float], tokens: int) -> list[int]:
    """Return the places of the chosen sentences, in the order in which they were chosen."""
    chosen = _chosen(found, weights, tokens)
    if not chosen or len(chosen) > FEW:
        return chosen

    def covered(places: Iterable[int]) -> float:
        return math.fsum(weights[term] for term in frozenset[str]().union(*(found[place].terms for place in places)))

    fitting = [place for place, one in enumerate(found) if one.tokens + one.frame <= tokens + 1]
    heaviest = max(fitting, key=lambda place: covered([place]))
    return max(chosen, _chosen(found, weights, tokens, heaviest), key=covered)


def _chosen(
    found: Sequence[Sentence], weights: Mapping[str, float], tokens: int, first: int | None = None
) -> list[int]:
    """Return the places of sentences that are worth most one after another, after the `first`, which must fit."""
    said = set[str]()
    spoken = set[int]()
    chosen: list[int] = []
    left = tokens + 1  # the last line has no line break
    if first is not None:
        chosen.append(first)
        left -= found[first].tokens + found[first].frame
        spoken.add(found[first].turn)
        said |= found[first].terms
    waiting = [(-_worth(sentence, weights, said), place) for place, sentence in enumerate(found)]
    heapq.heapify(waiting)
    while waiting:
        before, place = heapq.heappop(waiting)
        sentence = found[place]
        price = sentence.tokens + (0 if sentence.turn in spoken else sentence.frame)
        now = -_worth(sentence, weights, said)
        if price > left or now == 0:
            continue
        if now > before:
            heapq.heappush(waiting, (now, place))
            continue
        chosen.append(place)
        left -= price
        spoken.add(sentence.turn)
        said |= sentence.terms
    return chosen


def lines_of(turns: Sequence[Turn], found: Sequence[Sentence], chosen: Sequence[int]) -> list[Line]:
    """Join the sentences at the chosen places by turn, in the order of the text."""
    said: dict[int, list[str]] = {}
    for place in sorted(chosen):
        said.setdefault(found[place].turn, []).append(found[place].text)
    return [Line(turns[turn].number, _framed(turns[turn].author, " ".join(texts))) for turn, texts in said.items()]


def _framed(author: str, text: str) -> str:
    return f"{author}: {text}" if author else text


def _cut(
    turns: Sequence[Turn], found: Sequence[Sentence], weights: Mapping[str, float], tokens: int, count: Count
) -> list[Line]:
    """Return the first words of the best sentence, as many as fit; nothing when none does."""
    if not found or tokens < 1:
        return []
    best = max(found, key=lambda sentence: _worth(sentence, weights, ()))
    words = [word.end() for word in _WORD.finditer(best.text)]
    turn = turns[best.turn]

    def line(n: int) -> str:
        return _framed(turn.author, best.text[: words[n - 1]])

    fitting = bisect_right(range(1, len(words) + 1), tokens, key=lambda n: count(line(n)))
    while fitting and count(line(fitting)) > tokens:
        fitting -= 1
    return [Line(turn.number, line(fitting), cut=fitting < len(words))] if fitting else []
