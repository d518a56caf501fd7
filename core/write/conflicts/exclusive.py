"""Decide whether two claims exclude each other: one subject has two values of what it has one of."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from muisti.core.model.outcomes import Difference, DifferenceKind
from muisti.core.write.conflicts.claims import BECOMES, OWNERS, Claim, Slot, low, named, spelled
from muisti.core.write.conflicts.differences import opposites
from muisti.core.write.conflicts.relations import (
    CHANGING,
    MEASURES,
    OPINIONS,
    PASSING,
    POSTS,
    PROPERTIES,
    SINGLE,
    SOME,
    UNIQUE,
    WIDE,
    Strength,
    rivals,
)
from muisti.core.write.conflicts.suspected import RELATIVE
from muisti.core.write.conflicts.words import Word, equal

_OTHERS = frozenset({"he", "she", "they", "you"})  # pronouns: two texts may be about two people
_PERSONS = _OTHERS | {"i", "we"}
_SEVERAL = frozenset({"have", "allow", "need", "use", "go", "eat"})  # relations of several things at several times
_SET = frozenset({"is", "start", "end", "due", "open", "close"})  # relations of one time; a bus leaves at several
ROOT = 4  # letters of a word that its forms and spellings share
_ALIAS_MIN = 4  # letters that a name and its short form begin with
_JOBS = ("er", "or", "ist", "ian", "ant", "ent", "man", "woman", "nurse", "cook", "chef", "pilot")  # ends of words
_DATED = frozenset({"clock", "day", "date", "often"})


class Exclusive(msgspec.Struct, frozen=True):
    """The values of two claims that exclude each other, and whether that is sure."""

    difference: Difference
    sure: bool


def exclusive(existing: Claim, new: Claim) -> Exclusive | None:
    """Return the values by which two claims exclude each other, or None when both can be true.

    >>> from muisti.core.write.conflicts.claims import claim
    >>> read = lambda *texts: [claim(text) for text in texts]
    >>> found = exclusive(*read("The office is in Frankfurt.", "The office is in Dublin."))
    >>> found.difference.existing, found.difference.new, found.sure
    ('Frankfurt', 'Dublin', True)
    >>> exclusive(*read("The office is in Frankfurt.", "The office is near the station."))
    """
    likeness = _alike(existing, new)
    if likeness is None:
        return None
    if new.relation == BECOMES:
        return _changed(existing, new)
    opposed = _opposed(existing, new)
    if opposed is not None or existing.slots.keys() != new.slots.keys():
        return opposed
    apart = [slot for slot in new.slots if not _same(existing.slots[slot], new.slots[slot])]
    if len(apart) != 1:
        return None
    (slot,) = apart
    ours, theirs = existing.slots[slot], new.slots[slot]
    if may_both(ours, theirs) or not (existing.relation == new.relation or likeness == slot[1] == "amount"):
        return None
    strength = _strength(new, slot, ours, theirs)
    if strength is None:
        return None
    lows = {low(word) for word in new.who}
    doubted = likeness != "same" or lows & (_OTHERS | OPINIONS) or any(kind == "span" for _, kind in new.slots)
    return Exclusive(_difference(slot, ours, theirs), strength == "sure" and not doubted)


def of_several(existing: Claim, new: Claim) -> bool:
    """Return whether two claims are of what a subject has several of, of what passes, or of two things about it.

    >>> from muisti.core.write.conflicts.claims import claim
    >>> pairs = [(f"{who} is Ida.", f"{who} is Eva.") for who in ("Ann's sister", "Ann's boss")]
    >>> pairs += [("Today is Monday.", "Today is Tuesday."), ("I have a class at 9.", "I have a class at 11.")]
    >>> [of_several(*map(claim, pair)) for pair in pairs]
    [True, False, True, True]
    """
    if existing.subject != new.subject or existing.relation != new.relation:
        return False
    kinds = {kind for _, kind in new.slots}
    return (
        _passes(new)
        or (kinds == {"thing"} == {kind for _, kind in existing.slots} and existing.slots.keys().isdisjoint(new.slots))
        or (new.relation == "is" and spelled(low(new.who[-1])) in SOME and all(map(_is_name, new.slots.values())))
        or (new.relation == "have" and "thing" in kinds and not _DATED.isdisjoint(kinds))
    )


def _passes(new: Claim) -> bool:
    """Return whether a subject is another one soon, such as `the weather`."""
    return len(new.subject) == 1 and spelled(low(new.who[-1])) in PASSING


def _alike(existing: Claim, new: Claim) -> Literal["same", "owned", "amount"] | None:
    """Return whether two subjects are the same, but for an owner or the name of an amount; None for two subjects."""
    apart = existing.subject ^ new.subject
    if not apart:
        return "same"
    if not existing.subject & new.subject:
        return None
    if apart <= {"my", "our"} and len(apart) == 1:
        return "owned"
    nested = existing.subject < new.subject or new.subject < existing.subject
    return "amount" if nested and apart <= MEASURES else None


def may_be_about(text: str, one: Claim) -> bool:
    """Return whether a text may have the subject of a claim, in a quick test that drops most texts."""
    text = text.lower()
    return all(key[:ROOT] in text for key in one.subject - MEASURES - OWNERS)


def may_both(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Return whether two values may be of one thing: one is a part, a short form or a wider place of the other.

    >>> from muisti.core.write.conflicts.words import read
    >>> pairs = (("Lyon", "France"), ("Bob", "Bob Lee"), ("mongo", "mongodb"), ("Los Altos", "LA"), ("Pau", "Rome"))
    >>> [may_both(read(one), read(other)) for one, other in pairs]
    [True, True, True, True, False]
    """
    one, other = (
        {word.key for word in words if word.kind != "function" or word.text.isupper()} for words in (ours, theirs)
    )
    if one <= other or other <= one or not RELATIVE.isdisjoint(one | other):
        return True
    if WIDE.isdisjoint(map(low, ours)) != WIDE.isdisjoint(map(low, theirs)):
        return True
    short, long = sorted(("".join(map(low, ours)), "".join(map(low, theirs))), key=len)
    if len(short) >= _ALIAS_MIN and long.startswith(short) and short.isalpha():
        return True
    sides = ((ours, theirs), (theirs, ours))
    return any(len(a) > len(b) == 1 and low(b[0]).startswith("".join(low(word)[0] for word in a)) for a, b in sides)


def _same(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    return equal(ours, theirs) or [word.key for word in ours] == [word.key for word in theirs]


def _strength(new: Claim, slot: Slot, ours: Sequence[Word], theirs: Sequence[Word]) -> Strength | None:
    """Return how sure it is that a subject has one value in a slot; None when it may have several."""
    preposition, kind = slot
    if _passes(new):
        return None
    person = not _PERSONS.isdisjoint(map(low, new.who))
    if kind in _DATED:
        return None if new.relation in _SEVERAL else "maybe" if person or new.relation not in _SET else "sure"
    if kind == "span":
        return None
    names = _is_name(ours), _is_name(theirs)
    if kind == "amount" and not (all(names) and ours[0].key != theirs[0].key):
        several = person or new.relation in _SEVERAL
        return None if not _of_one_thing(ours, theirs) else "maybe" if several else "sure"
    if new.relation == "is":
        return _of_being(new, preposition, ours, theirs)
    strength = SINGLE.get((new.relation, "" if preposition == "a" else preposition))
    if strength is None or any(names) != all(names):
        whole = new.relation == "instruct" and not preposition and len(new.slots) > 1
        return "maybe" if whole or _rival(ours, theirs) else None
    return strength if all(names) else "maybe"


def _of_one_thing(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Return whether two amounts are one number each, of the same thing."""
    one, other = ([word.key for word in words if word.kind != "number"] for words in (ours, theirs))
    return one == other and len(ours) - len(one) == len(theirs) - len(other) == 1


def _of_being(new: Claim, preposition: str, ours: Sequence[Word], theirs: Sequence[Word]) -> Strength | None:
    """Return how sure it is that a subject is one thing, or in one place."""
    names = _is_name(ours), _is_name(theirs)
    if preposition not in ("", "a"):
        if ("is", preposition) not in SINGLE or not _PERSONS.isdisjoint(map(low, new.who)) or any(names) != all(names):
            return None
        return "sure" if all(names) else "maybe"
    by_property = _is_property(new)
    if all(names):
        if spelled(low(new.who[-1])) in SOME:
            return None
        return "maybe" if by_property or POSTS.isdisjoint(map(low, new.who)) else "sure"
    jobs = preposition == "a" and _is_job(ours) and _is_job(theirs)
    return "maybe" if by_property or jobs or _rival(ours, theirs) else None


def _is_property(new: Claim) -> bool:
    """Return whether a subject names a property, such as `the default editor`."""
    lows = [spelled(low(word)) for word in new.who if word.kind != "function"]
    return bool(lows) and not (PROPERTIES.isdisjoint((lows[0], lows[-1])) and UNIQUE.isdisjoint(lows))


def _is_job(words: Sequence[Word]) -> bool:
    last = low(words[-1])
    return last.endswith(_JOBS) and last not in SOME | {"father", "mother"}


def _rival(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    return any(rivals(low(one), low(other)) for one in ours for other in theirs)


def _is_name(words: Sequence[Word]) -> bool:
    found = [word for word in words if word.kind != "number"]
    return bool(found) and named(found[0]) and named(found[-1])


def _opposed(existing: Claim, new: Claim) -> Exclusive | None:
    """Return the opposites that two claims say, each in one word beside those of both."""
    one, other = _predicate(existing), _predicate(new)
    ours, theirs = one.keys() - other.keys(), other.keys() - one.keys()
    if len(ours) != 1 or len(theirs) != 1:
        return None
    (mine,), (yours,) = ours, theirs
    return Exclusive(Difference("opposite", one[mine], other[yours]), sure=False) if mine in opposites(yours) else None


def _predicate(one: Claim) -> Mapping[str, str]:
    """Return the words of a predicate by key: its values, or its verb where it has none."""
    return {word.key: word.text for words in one.slots.values() for word in words} or {one.relation: one.relation}


def _changed(existing: Claim, new: Claim) -> Exclusive | None:
    """Return the value that a new claim says has changed."""
    if existing.relation not in CHANGING:
        return None
    old = next((words for (preposition, _), words in new.slots.items() if preposition == "from"), None)
    value = next(((slot, words) for slot, words in new.slots.items() if slot[0] in ("to", "at", "on", "")), None)
    if value is None:
        return None
    (_, kind), theirs = value
    for slot, ours in existing.slots.items():
        if slot[1] != kind or _same(ours, theirs) or may_both(ours, theirs) or (old and not _same(old, ours)):
            continue
        if kind in _DATED or kind == "amount" or (_is_name(ours) == _is_name(theirs)):
            return Exclusive(_difference(slot, ours, theirs), sure=False)
    return None


def _difference(slot: Slot, ours: Sequence[Word], theirs: Sequence[Word]) -> Difference:
    kinds: dict[str, DifferenceKind] = {"amount": "number", "thing": "name", "span": "date"}
    one, other = (" ".join(word.text for word in words) for words in (ours, theirs))
    return Difference(kinds.get(slot[1], "date"), one, other)
