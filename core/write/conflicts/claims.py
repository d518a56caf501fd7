"""Read a sentence as a claim: what it says of its subject, with values by their place in it.

Only plain sentences of one clause in the present are read. So two claims can be compared whatever their words' vectors.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import structs

from muisti.core.support.memo import memoised
from muisti.core.support.regex import regex
from muisti.core.write.conflicts.relations import POSTS, STATED_BY, STATES, relation_of
from muisti.core.write.conflicts.stance import ANNOUNCING, label
from muisti.core.write.conflicts.words import Word, read

LONGEST = 160  # characters of a sentence that is read
WORDS_MAX, SUBJECT_MAX = 18, 7  # words of a sentence and of its subject
BECOMES = "becomes"  # relation of a text that announces a new value

_MEMO = 512  # texts; a new one is compared with few others
_BE = frozenset({"is", "are", "am"})
_HAS = frozenset({"was", "were", "has", "have", "been", "is", "got"})  # before a participle that announces a change
_ARTICLES = frozenset({"the", "a", "an"})
OWNERS = frozenset({"my", "our", "your", "his", "her", "their", "its"})
_DEFINITE = OWNERS | {"the"}
# First words of a subject that is not known by its words.
_UNKNOWN_WORDS = """
a an some any another one no each someone somebody many most few several both it this that these those there here who
what which whose how why where when
"""
_LINKED_WORDS = """
and or but nor if unless that which who whom whose because although while when whether so
"""
_PREPOSITION_WORDS = """
in on at by for from to with as until since after before every under during
"""
# Words that say that a claim holds today. They are no part of it.
_NOW_WORDS = """
now nowadays currently already still actually just current really again back
"""
_SPAN_WORDS = """
week weekend month year quarter sprint time morning afternoon evening season semester
"""
# Verbs that begin an instruction, whose subject they are.
_INSTRUCTING_WORDS = """
use indent format write keep run store name wrap limit log set
"""
_UNKNOWN, _LINKED, PREPOSITIONS, _NOW, _SPANS, _INSTRUCTING = (
    frozenset(listed.split())
    for listed in (_UNKNOWN_WORDS, _LINKED_WORDS, _PREPOSITION_WORDS, _NOW_WORDS, _SPAN_WORDS, _INSTRUCTING_WORDS)
)
_ONCE = frozenset({"born", "up", "founded", "established", "graduated", "retired"})  # what happens once
_SPANNING = frozenset({"last", "this", "next", "past"})
_OFTEN = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
EVENTS = frozenset({"deploy", "meet"})  # relations whose subject is the event: `we deploy on Fridays`
_SAME = {("work", "for"): "at", ("is", "at"): "in", ("build", "on"): "with", ("live", "at"): "in"}  # prepositions
_CLOCK = regex(r"\d{1,2}:\d\d(:\d\d)?|(\d{1,2}(:\d\d)?) ?[ap]\.?m|noon|midnight")
_TITLES = regex(r"\b(Dr|Mr|Mrs|Ms|Prof|St)\.(?= )")
_ASIDE = regex(r", (?:who|which) (?:is|are|has|have) [^,.;:!?]{1,60}(?:,|(?=[.!]?$))")  # what it also says of a thing
_LEADS = r"no|wait|actually|correction|update|note|fyi|btw|sorry|oh|ok|okay|well|yes|yeah|hey|remember|reminder"
_LEAD = regex(rf"\A\s*(?:(?:{_LEADS})\b[ ,:!–-]*)*(?:{_LEADS})\s*[,:!–-]+\s*", re.IGNORECASE)
_SHORT = regex(r"\b(I)['’]m\b|\b(we|they|you)['’]re\b|\b(I|we|they|you)['’]ve\b", re.IGNORECASE)
_LONG = ("", "am", "are", "have")  # of the groups of a short form
_SEVERAL = regex(r"[?;\n\"“”„«`()\[\]{}]|!\s+\S")  # marks of a question, a quotation, code, or a second sentence
_INSIDE = regex(r"[.!](?=\s)|,")  # where a second sentence or clause begins

Slot = tuple[str, str]  # preposition, and kind of value: clock, day, date, often, amount or thing


class Claim(msgspec.Struct, frozen=True):
    """A subject by the keys of its words, a relation, and values by slot. `who` are the words of the subject."""

    subject: frozenset[str]
    who: tuple[Word, ...]
    relation: str
    slots: Mapping[Slot, tuple[Word, ...]]


@memoised(_MEMO)
def claim(text: str) -> Claim | None:
    """Return the claim of a text, or None for a text that makes none or several.

    >>> found = claim("On weekdays the gym closes at 22:00.")
    >>> sorted(found.subject), found.relation, sorted(found.slots)
    (['gym'], 'close', [('at', 'clock'), ('on', 'thing')])
    >>> [claim(text) for text in ("Buy milk.", "Is the gym open?", "A man is in the gym.", "Ann was in Rome.")]
    [None, None, None, None]
    """
    sentence = plain(text)
    if sentence is None:
        return None
    words = read(sentence)
    speaker = label(words)
    words = [word for word in words[len(speaker) + bool(speaker) :] if low(word) not in _NOW and word.text != "new"]
    if not 2 < len(words) <= WORDS_MAX or any(word.kind == "negation" or low(word) in _LINKED for word in words):
        return None
    words, scope = _led(words)
    if low(words[0]) in _INSTRUCTING and not any(low(word) in _BE for word in words):
        slots = _slots(words[1:])
        return Claim(frozenset({words[0].key}), (words[0],), "instruct", slots) if slots else None
    verb = _verb(words)
    return None if verb is None else _claimed(words, scope, *verb)


def plain(text: str) -> str | None:
    """Return the only sentence of a text, without `No wait,` before it, asides, short forms and the points of titles.

    None is for texts of several sentences or clauses, questions, quotations and code.

    >>> plain("No wait, I'm in room 4."), plain("Hi! I am in room 4.")
    ('I am in room 4', None)
    """
    if len(text) > LONGEST or _SEVERAL.search(text):
        return None
    if "," in text or ":" in text or "!" in text:
        text = _ASIDE.sub("", _LEAD.sub("", text))
    if "." in text:
        text = _TITLES.sub(r"\1", text)
    if "'" in text or "’" in text:
        text = _SHORT.sub(lambda found: f"{found[found.lastindex or 0]} {_LONG[found.lastindex or 0]}", text)
    text = text.strip().rstrip(".! ")
    return None if _INSIDE.search(text) else text


def low(word: Word) -> str:
    """Return a word in lower case."""
    return word.text.lower()


def named(word: Word) -> bool:
    """Return whether a word is written like a name."""
    return word.kind == "name" or word.text[0].isupper()


def spelled(key: str) -> str:
    """Return a key under which British and American spelling are equal.

    >>> spelled("favourit"), spelled("colour"), spelled("our")
    ('favorit', 'color', 'our')
    """
    return key.replace("our", "or") if len(key) > 4 else key


def _led(words: Sequence[Word]) -> tuple[Sequence[Word], Sequence[Word]]:
    """Return a sentence without a leading phrase such as `On weekdays`, and the phrase."""
    if low(words[0]) not in PREPOSITIONS:
        return words, ()
    stop = next((place for place in range(2, len(words)) if low(words[place]) in _DEFINITE | {"i", "we"}), 0)
    return words[stop:], words[:stop]


def _verb(words: Sequence[Word]) -> tuple[int, int, str] | None:
    """Return where a verb begins and ends, and its relation; None without a verb of a state."""
    for place in range(1, min(len(words), SUBJECT_MAX + 1)):
        word, following = low(words[place]), [low(each) for each in words[place + 1 : place + 3]]
        if low(words[place - 1]) in _DEFINITE | _ARTICLES or (following and following[0] in _BE):
            continue
        if word in ("was", "grew") and following and following[0] in _ONCE:
            return place, place + 2, following[0]
        if word in _ONCE:
            return place, place + 1, word
        change = next((end for end, each in enumerate([word, *following]) if each in ANNOUNCING), None)
        if change is not None and all(each in _HAS for each in [word, *following][:change]):
            return place, place + change + 1, BECOMES
        if word.endswith("ing") and words[place - 1].text.endswith(("'s", "’s")):
            return _be(place - 1, [word])
        if word in _BE or word in (":", "="):
            return _be(place, following)
        relation = relation_of(word)
        if relation is not None:
            return place, place + 1, relation
    return None


def _be(place: int, following: Sequence[str]) -> tuple[int, int, str] | None:
    """Return the verb that a form of `be` begins: of a state, or of what has a value by itself."""
    if not following:
        return None
    state = STATES.get(following[0])
    if state is not None:
        return place, place + 2, state
    ongoing = following[0].endswith("ing") and relation_of(following[0].removesuffix("ing"))
    if ongoing:
        return place, place + 2, ongoing
    happens = following[0].endswith(("ing", "ed")) and len(following[0]) > len("being")
    return None if happens else (place, place + 1, "is")


def _claimed(words: Sequence[Word], scope: Sequence[Word], start: int, stop: int, relation: str) -> Claim | None:
    subject, rest = words[:start], words[stop:]
    first = low(subject[0])
    if first in _UNKNOWN or (relation == "is" and not rest):
        return None
    if relation == "last" and rest and low(rest[0]) == "place":
        relation, rest = "is", rest[1:]
    if _names_a_holder(subject, relation, rest):
        subject, rest = rest, subject
    keys = _keys(subject)
    if relation in EVENTS and first in ("i", "we"):
        keys, relation = frozenset({relation}), "is"
    stated = next((each for each in (subject[-1].key, subject[min(1, len(subject) - 1)].key) if each in STATED_BY), "")
    if relation == "is" and stated and len(keys) > 1:
        keys, relation = keys - {stated}, STATED_BY[stated]  # `my cat's name`, `the name of my cat`
    slots = _slots([*rest, *scope])
    if not keys or slots is None:
        return None
    alike = {
        (_SAME.get((relation, preposition), preposition), kind): words for (preposition, kind), words in slots.items()
    }
    return Claim(keys, tuple(subject), relation, alike)


def _names_a_holder(subject: Sequence[Word], relation: str, rest: Sequence[Word]) -> bool:
    """Return whether a sentence says who holds a post, as `Ann is the editor of the paper` does, or what leads."""
    if relation == "lead":
        return bool(rest) and low(rest[0]) != "by"
    if relation != "is" or not all(named(word) or word.kind == "number" for word in subject):
        return False
    first, posts = low(rest[0]), not POSTS.isdisjoint(low(word) for word in rest)
    return low(subject[0]) != "i" and (first == "the" or (posts and (first in OWNERS or first in POSTS)))


def _keys(subject: Iterable[Word]) -> frozenset[str]:
    return frozenset(spelled(word.key) for word in subject) - _ARTICLES - {"this", "of", "for"}


def _slots(rest: Sequence[Word]) -> Mapping[Slot, tuple[Word, ...]] | None:
    """Return the values of a predicate by preposition and kind, or None where two are of one kind."""
    found: dict[Slot, tuple[Word, ...]] = {}
    parts: list[tuple[str, list[Word]]] = [("", [])]
    for word in rest:
        if low(word) in PREPOSITIONS and word is not rest[-1]:
            parts.append((low(word), []))
        elif low(word) in _SPANNING:
            parts.append(("during", []))
        elif word.text in ("a", "an") and parts == [("", [])]:
            parts = [("a", [])]
        elif word.kind != "function" or word is rest[-1] or low(word) in OWNERS or word.text == "A":
            parts[-1][1].append(word)
    for preposition, words in parts:
        if not words:
            continue
        slot = _slot(preposition, words)
        if slot in found:
            return None
        found[slot] = tuple(structs.replace(word, key=_OFTEN.get(low(word), word.key)) for word in words)
    return found


def _slot(preposition: str, words: Sequence[Word]) -> Slot:
    lows = [low(word) for word in words]
    if preposition == "every" or lows[0] in _OFTEN:
        return "every", "often"
    if preposition == "during" or lows[-1] in _SPANS and not any(word.kind == "number" for word in words):
        return preposition, "span"
    if any(_CLOCK.fullmatch(each) for each in lows) or (preposition == "at" and [w.kind for w in words] == ["number"]):
        return "at", "clock"
    if any(word.kind == "date" for word in words):
        return "on", "day" if all(word.key.endswith("day") for word in words) else "date"
    if preposition == "on" and len(words) == 1 and words[0].kind == "number":
        return "on", "date"
    if any(word.kind == "number" for word in words):
        return preposition, "amount"
    return preposition, "thing"
