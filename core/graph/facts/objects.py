"""Where the object of a verb ends, whether it is one that a fact may have, and the items of a list."""

from collections.abc import Callable, Sequence

from muisti.core.graph.facts import lexicon
from muisti.core.graph.facts.words import Word, listed

LONGEST = 18  # words of an object
_ENDS = listed(
    '. ! ? ; : - ( ) " “ ” ‘ ’ … — – because since which but although though unless if when while whenever whereas'
    " where after before until due except despite regardless however yet"
)
_PRONOUNS = listed("i we you he she it they there this that these those")
_JOINS = listed("and or but nor")
_EXAMPLES = listed("including such like or and")
_LIST = 12  # words after a comma in which a list ends with "and"
_NO_ITEMS = listed("especially particularly so as not even maybe just hopefully plus which")
_NUMBERS = listed("one two three four five six seven few couple")
_TIMES = listed("day days week weeks month months year years hours nights")
EVENT_ENDS = listed("to last yesterday today next for during while on this before after with using from recently")
USED_ENDS = listed("to for as during while when daily")
PREFERRED_ENDS = listed("over")
_PREPOSITIONS = listed("for in on at with as when from by of about like if")
_TRAILING = listed(
    "entirely anymore too well lot now though lately altogether completely much very really again today yesterday"
    " tomorrow all ago recently either also as a at possible whenever when in and or to with for , - the of by so"
    " already personally actually currently always here there then instead lol haha whatsoever ever yet often"
)
_VAGUE = listed(
    "it that this them those these him her you me us how what to is your yours everything something nothing anything"
    " things stuff one ones more some any so all everyone someone anyone too being hearing seeing i we they he she"
    " whatever who why where lots lot much my myself"
)
_OPEN = listed("anything everything something things all any some more being those lots")  # "anything with nuts"
_LIGHT = listed("the a an my our his her their its some any this that these those such")
_MADE = listed("a an the this that these some my our one two three four five several many another")
_LIGHT_WORKS = listed(
    "difference decision decisions mistake mistakes progress friends friend effort point time change changes deal"
    " memories plans plan connections connection bond appointment reservation list choice mess promise impact space"
    " break way day days lot name living transition switch sense one most comment commitment move trip few"
    " relationship"
)
_NOT_PLACES = listed("family parents friend friends mom dad grandma grandparents sister brother doctor therapist")
_NO_EMPLOYERS = listed(
    "home night nights least it that this them him her you me us a while now long ages years hours free fun days"
    " money weeks months once all my myself the best being everyone it's these those"
)
_NO_PLANS = listed(
    "be have say tell keep stay let give forget push need see miss never not always love stop hold ask cry win do"
    " rock show continue use put"
)
_NO_GOALS = listed(
    "it that this them those these him me you sure on up out better harder hard something everything happen what how"
    " all"
)
_DIETS = listed("diet lifestyle regimen routine approach regime")
_ADJECTIVAL = tuple(listed("y ive al ous ful ic less able ible ed ing ern ish ant ent ary"))
_ADJECTIVES = listed(
    "loud big small large old new long short hot cold warm bright dark free cheap fast slow strong hard soft quiet"
    " mild raw fresh sweet sour deep high low modern simple plain good bad rich casual animal private public safe"
    " clean healthy local modern natural fun cozy bold whole vegan matte smaller"
)
_NOUNS_IN_ING = listed("hiking camping swimming running painting fishing hunting reading cooking dancing skiing biking")
_INSIDE = listed(
    "that to of in with for on at from by about containing involving like such including than related over through"
    " without where"
)


def end(words: Sequence[Word], at: int, until: int, stops: frozenset[str] = frozenset()) -> int:
    """Return where the object that begins at a word ends, before the next clause and the `stops` at the latest."""
    stop = min(until, at + LONGEST)
    if at < stop and words[at].text in _JOINS:
        return at
    for place in range(at, stop):
        word, after = words[place].text, words[place + 1].text if place + 1 < len(words) else ""
        if _closes(word, after) or (place > at and word in stops) or (word == "," and _ends_at_comma(words, at, place)):
            return _trimmed(words, at, place)
    return _trimmed(words, at, stop)


def _ends_at_comma(words: Sequence[Word], at: int, comma: int) -> bool:
    """Return whether no list, adjective or example goes on after a comma."""
    if is_adjective(words[comma - 1].text) or words[comma + 1 : comma + 2] and words[comma + 1].text in _EXAMPLES:
        return False
    return not any(word.text in ("and", "or") for word in words[comma + 1 : comma + _LIST])


def _closes(word: str, after: str) -> bool:
    if word in _ENDS:
        return True
    if word == "so":
        return after not in ("much", "many", "called", "far")
    if word == "'":
        return after == "cause"
    if word in ("and", "or", ",", "as", "than"):
        return after in _PRONOUNS or after in _ENDS or after in _NO_ITEMS
    if word in _NUMBERS or word.isdigit():
        return after in _TIMES
    return (word, after) in (("rather", "than"), ("instead", "of"))


def _trimmed(words: Sequence[Word], at: int, stop: int) -> int:
    while stop > at and (words[stop - 1].text in _TRAILING or not words[stop - 1].text[0].isalnum()):
        stop -= 1
    return stop


def items(words: Sequence[Word], at: int, stop: int) -> list[tuple[int, int]]:
    """Return the items of a list of short phrases that ends in "and" or "or"; else the whole object.

    A list of adjectives before one noun is one object, and so is a phrase that a preposition leads into.
    """
    cuts = [place for place in range(at, stop) if words[place].text in ("and", "or", ",")]
    if not cuts or any(words[place].text in _INSIDE for place in range(at, cuts[-1])):
        return [(at, stop)]
    parts: list[tuple[int, int]] = []
    begin = at
    for place in [*cuts, stop]:
        if place > begin:
            parts.append((begin, place))
        begin = place + 1
    if len(parts) < 2 or not _is_list(words, parts, any(words[place].text != "," for place in cuts)):
        return [(at, stop)]
    return parts


def _is_list(words: Sequence[Word], parts: Sequence[tuple[int, int]], joined: bool) -> bool:
    if any(stop - at > 4 for at, stop in parts[:-1]) or not joined:
        return False
    at, stop = parts[-1]
    if stop - at == 1:
        first, last = parts[0]
        return last - first == 1 or not (is_adjective(words[at].text) and is_adjective(words[last - 1].text))
    if words[parts[0][0]].text in _LIGHT and words[at].text not in _LIGHT:
        return False  # "the red and blue paint"
    return not any(is_adjective(words[last - 1].text) and not words[last - 1].capital for _, last in parts[:-1])


def is_adjective(word: str) -> bool:
    """Return whether a word looks like an adjective by its end."""
    return (
        word in _ADJECTIVES
        or "-" in word
        or (word not in _NOUNS_IN_ING and len(word) > 4 and word.endswith(_ADJECTIVAL))
    )


def bare(words: Sequence[Word], at: int, stop: int) -> int:
    """Return the place after an article or a possessive at the beginning of a phrase."""
    return at + 1 if stop - at > 1 and words[at].text in _LIGHT else at


def _any(words: Sequence[Word], at: int, stop: int) -> bool:
    if words[at].text in _PREPOSITIONS and words[at].text != "at":
        return False
    return not (stop - at == 1 and words[at].text in _VAGUE) and words[at].text not in (
        "it",
        "that",
        "you",
        "me",
        "them",
    )


def _liked(words: Sequence[Word], at: int, stop: int) -> bool:
    first = words[at].text
    if first in ("to", "being"):
        return stop - at > 1
    if first in _PREPOSITIONS or first == "death" or (stop - at == 2 and words[at + 1].text in ("it", "them", "that")):
        return False
    return (first not in _VAGUE or (stop - at > 1 and first in _OPEN)) and not (
        stop - at == 2 and first in ("the",) and words[at + 1].text in ("way", "idea")
    )


def _thing(words: Sequence[Word], at: int, stop: int) -> bool:
    return _liked(words, at, stop) and words[at].text not in ("to", "being")


def _owned(words: Sequence[Word], at: int, stop: int) -> bool:
    return words[at].text in _MADE or words[at].capital or words[at].text.isdigit()


def _possession(words: Sequence[Word], at: int, stop: int) -> bool:
    return any(word.text in lexicon.THINGS for word in words[at : min(stop, at + 5)]) and words[at].text != "the"


def _possessed(words: Sequence[Word], at: int, stop: int) -> bool:
    return words[at].text in ("a", "an", "our", "my") and stop - at > 1 and words[at + 1].text not in _VAGUE | _NUMBERS


def _work(words: Sequence[Word], at: int, stop: int) -> bool:
    light = any(word.text in _LIGHT_WORKS for word in words[at : at + 4])
    return _owned(words, at, stop) and stop - at > 1 and not light and words[stop - 1].text != "down"


def _started(words: Sequence[Word], at: int, stop: int) -> bool:
    return words[at].text in _MADE and any(word.text in lexicon.VENTURES for word in words[at : min(stop, at + 6)])


def _event(words: Sequence[Word], at: int, stop: int) -> bool:
    return any(word.text in lexicon.EVENTS for word in words[at : min(stop, at + 6)])


def _place(words: Sequence[Word], at: int, stop: int) -> bool:
    if any(word.text in _NOT_PLACES for word in words[at : at + 3]):
        return False
    return _named(words, at, stop) or any(word.text in lexicon.PLACES for word in words[at : min(stop, at + 5)])


def _named(words: Sequence[Word], at: int, stop: int) -> bool:
    return any(word.capital for word in words[at : min(stop, at + 2)]) and words[at].text not in ("i", "my")


def _employer(words: Sequence[Word], at: int, stop: int) -> bool:
    if words[at].text in ("a", "an", "the") and stop - at > 1:
        return words[at + 1].text not in (
            "while",
            "moment",
            "long",
            "few",
            "couple",
            "last",
            "next",
            "best",
            "day",
            "bit",
        )
    return words[at].capital and words[at].text not in _NO_EMPLOYERS


def _verb(words: Sequence[Word], at: int, stop: int) -> bool:
    word = words[at]
    if stop - at < 2 or word.capital or word.text in _LIGHT or word.text in _NO_PLANS:
        return False
    return words[at + 1].text not in _NO_GOALS


def _gerund(words: Sequence[Word], at: int, stop: int) -> bool:
    return words[at].text.endswith("ing")


def _diet(words: Sequence[Word], at: int, stop: int) -> bool:
    return any(word.text in _DIETS for word in words[at:stop])


CONDITIONS: dict[str, Callable[[Sequence[Word], int, int], bool]] = {
    "any": _any,
    "liked": _liked,
    "thing": _thing,
    "owned": _owned,
    "possession": _possession,
    "possessed": _possessed,
    "work": _work,
    "event": _event,
    "started": _started,
    "place": _place,
    "name": _named,
    "employer": _employer,
    "verb": _verb,
    "diet": _diet,
    "gerund": _gerund,
}
"""Conditions on objects, by name: tests of the words from one place to another."""
