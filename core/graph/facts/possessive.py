"""Facts after "my": the people and pets that belong to the author, and favourites."""

from collections.abc import Iterator, Sequence

from muisti.core.graph.facts import lexicon, objects
from muisti.core.graph.facts.stating import Stated
from muisti.core.graph.facts.words import Word, listed

_NAMING = (("'s", "name", "is"), ("is", "called"), ("is", "named"), ("named",), ("called",), ("name", "is"), (",",), ())
_FAVOURITES = listed("favorite favourite go-to preferred fave")
_BE = listed("is are was")
_MARKS = listed(", . ! ; : ) - — – and")
_REACH = 6  # words between "favourite" and "is"
_NO_NAMES = listed("i the it and but so she he we they you if when then this that my our all for god")


def possessed(words: Sequence[Word], at: int) -> Iterator[tuple[int, Stated]]:
    """Yield the facts that "my" at a place states, each with the place after its last word.

    "my sister Ann", "my dog is called Rex", "Ann is my sister", "my favourite food is pizza".
    """
    after = [word.text for word in words[at + 1 : at + 3]]
    if any(word in _FAVOURITES for word in after):
        yield from _favourite(words, at, at + 1 + after.index(next(word for word in after if word in _FAVOURITES)))
        return
    role = next((at + 1 + place for place, word in enumerate(after) if word in lexicon.ROLES_OF_PEOPLE), None)
    if role is None:
        return
    kind = lexicon.ROLES_OF_PEOPLE[words[role].text]
    for first, last in _names(words, role + 1):
        yield last, Stated(kind, True, first, last)
    if at > 1 and words[at - 2].capital and _is_before(words, at, role):
        yield role + 1, Stated(kind, True, at - 2, at - 1)


def _is_before(words: Sequence[Word], at: int, role: int) -> bool:
    """Return whether a name is before "my": "Ann is my sister", "with Ann, my sister"."""
    name = words[at - 2].text
    if name in _NO_NAMES or name.endswith("ly"):
        return False
    return words[at - 1].text == "is" or (words[at - 1].text == "," and at > 2 and _closes(words, role + 1))


def _closes(words: Sequence[Word], at: int) -> bool:
    return at >= len(words) or words[at].text in _MARKS


def _names(words: Sequence[Word], at: int) -> list[tuple[int, int]]:
    """Return the names after "my sister", and both of "my kids Ann and Bob"."""
    for naming in _NAMING:
        if tuple(word.text for word in words[at : at + len(naming)]) == naming:
            first = at + len(naming)
            last = _name(words, first)
            if last == first or (naming == (",",) and not _closes(words, last)):
                return []
            if last + 1 < len(words) and words[last].text == "and" and (more := _name(words, last + 1)) > last + 1:
                return [(first, last), (last + 1, more)] if words[at - 1].text.endswith("s") else [(first, last)]
            return [(first, last)]
    return []


def _name(words: Sequence[Word], at: int) -> int:
    """Return the place after the capitalised words at a place, at most two."""
    last = at
    while last < min(len(words), at + 2) and words[last].capital and words[last].text not in _NO_NAMES:
        last += 1
    return last


def _favourite(words: Sequence[Word], at: int, place: int) -> Iterator[tuple[int, Stated]]:
    """Yield what is a favourite: "my favourite food is pizza", "pizza is my favourite"."""
    for be in range(place + 1, min(len(words), place + _REACH)):
        if words[be].text in _BE:
            first = be + 1
            stop = objects.end(words, first, len(words))
            if stop > first and objects.CONDITIONS["thing"](words, first, stop) and words[first].text not in _HEDGES:
                for one, last in objects.items(words, first, stop):
                    yield last, Stated("likes", True, one, last)
            return
        if not words[be].text[0].isalnum():
            return


_HEDGES = listed("probably definitely when how where not also of")
