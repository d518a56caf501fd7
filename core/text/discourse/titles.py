"""Titles: of conversations from what is said first, of topics from the words that set them apart from the rest."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from muisti.core.model.values import Memory
from muisti.core.text.language import function_words, language_of
from muisti.core.text.terms import spans, tokenize

WORDS = 4  # in a title of a topic
LENGTH = 60  # characters of a title of a conversation
READ = 20_000  # characters of each turn that are read

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

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
    """Return whether a sentence or line begins at a place."""
    before = text[max(0, at - 8) : at].rstrip(" \t\"'(*#-")
    return not before or before[-1] in ".!?\n:…"
