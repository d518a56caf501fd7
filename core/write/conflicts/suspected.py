"""Decide whether two texts that differ in one place may exclude each other, when the stricter rules of `states` do not.

These rules are wider and less precise. So such a memory is stored and opens a review: a person or an agent decides.
"""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from muisti.core.model.outcomes import Difference
from muisti.core.write.conflicts.quantities import equal
from muisti.core.write.conflicts.stance import ANNOUNCING
from muisti.core.write.conflicts.states import IDENTIFIED, OPPOSED_VERBS, RELATIVE, TAKING_VALUES
from muisti.core.write.conflicts.words import Word

SUBJECT_MAX = 3  # words that a subject may have where another subject is a contradiction: "Bob is the owner of ..."

_BE = frozenset({"is", "are"})
# Verbs that take one thing at a time, whatever kind of word names it.
_EXCLUSIVE = frozenset({"prefer", "prefers", "favors", "favours"})
# Words that make a subject the only one of its kind: "the default editor is ...".
_UNIQUE = frozenset({"favorite", "favourite", "preferred", "default", "primary", "current", "official", "main"})
# Participles of states that hold for one thing at a time: "is owned by Ann", "is written in Go".
_PARTICIPLES = """
owned led managed maintained run handled hosted located based written built deployed stored kept served backed named
called scheduled pinned assigned paid billed reviewed approved
"""
_PREPOSITIONS = frozenset({"by", "in", "on", "at", "with", "to", "as"})
# Past tense that does not end in -ed: such a sentence is about an event.
_PAST_TENSE = """
was were had did went ate ran got made took came saw met bought paid spent sold won lost left wrote sent told gave
found thought began broke built caught drove flew felt grew held kept knew rose slept spoke stood swam taught wore said
"""
_STATIVE, _PAST = (frozenset(words.split()) for words in (_PARTICIPLES, _PAST_TENSE))
_UPDATES = ANNOUNCING | {"set"}  # words by which a new text says that it replaces what held before
# Verbs between the only holder of a post and what is held: "Bob is the owner of", "Bob leads the team".
_HOLDING = frozenset({"is", "are", "leads", "owns", "manages", "maintains", "heads", "chairs"})
_SUBJECTS = frozenset({"i", "we", "they", "you"})  # whose verb has no -s
_OWN = frozenset({"i", "i'm", "i've", "i'll", "i'd", "me", "my", "mine", "myself"})


class Change(msgspec.Struct, frozen=True):
    """Words that only the existing text has, and words that only the new text has, in their order."""

    existing: tuple[Word, ...]
    new: tuple[Word, ...]


def may_contradict(
    existing: Sequence[Word], new: Sequence[Word], differences: Sequence[Difference], change: Change
) -> bool:
    """Return whether both texts may be unable to be true at the same time.

    `differences` are the values, negations and opposites that differ. With more than one the answer is no. `change` has
    all words that only one of the texts has.
    """
    ours = change.existing
    theirs = tuple(word for word in change.new if _low(word) not in _UPDATES)
    if not ours or not theirs or len(differences) > 1 or happened(existing) or happened(new, but=_UPDATES):
        return False
    if differences and differences[0].kind in ("number", "date", "opposite"):
        return len(ours) == len(theirs) == 1 and _is_one_value(existing, ours[0], new, theirs[0])
    return (
        _is_sole_holder(existing, ours, new, theirs)
        or _is_stative(existing, ours, new, theirs)
        or _is_exclusive(existing, ours, new, theirs)
    )


def _is_one_value(existing: Sequence[Word], ours: Word, new: Sequence[Word], theirs: Word) -> bool:
    """Return whether two words are values of one kind, each in the predicate of its sentence, and not equal."""
    if ours.kind != theirs.kind or equal((ours,), (theirs,)) or not RELATIVE.isdisjoint((ours.key, theirs.key)):
        return False
    return is_predicate(existing, ours) and is_predicate(new, theirs)


def is_of_the_speaker(words: Sequence[Word]) -> bool:
    """Return whether a text is about its author, in the first person. Two authors then write about two people."""
    return any(_low(word).replace("’", "'") in _OWN for word in words)


def _low(word: Word) -> str:
    return word.text.lower()


def happened(words: Sequence[Word], but: frozenset[str] = frozenset()) -> bool:
    """Return whether a text is about an event in the past or one that is under way."""
    lows = [_low(word) for word in words]
    for place, low in enumerate(lows):
        if low in but:
            continue
        if low in _PAST and not (place and lows[place - 1] in _BE):
            return not (low in ("was", "were") and place + 1 < len(lows) and lows[place + 1] in but)
        if low.endswith("ed") and len(low) > 4 and not (place and lows[place - 1] in _BE):
            return True
        if low.endswith("ing") and place and lows[place - 1] in _BE:
            return True
    return False


def is_predicate(words: Sequence[Word], value: Word) -> bool:
    """Return whether a value follows a subject and a verb in the present, and is no part of a name like `order 12`."""
    before = words[: value.place]
    if not before or before[-1].key == "#" or before[-1].key in IDENTIFIED or _low(value) in OPPOSED_VERBS:
        return False
    return any(_is_verb(word) or _low(one) in _SUBJECTS for one, word in pairwise(before))


def _is_verb(word: Word) -> bool:
    """Return whether a word looks like a verb in the third person, or like one that announces a change."""
    low = _low(word)
    if low in _BE or low in _UPDATES or low in (":", "=") or low in TAKING_VALUES:
        return True
    return word.kind in ("plain", "function") and low.endswith("s") and not low.endswith(("ss", "us", "is", "'s"))


def _is_sole_holder(
    existing: Sequence[Word], ours: Sequence[Word], new: Sequence[Word], theirs: Sequence[Word]
) -> bool:
    """Return whether only the subject of `X is the owner of Y` differs."""
    return _holds_a_post(existing, ours) and _holds_a_post(new, theirs)


def _holds_a_post(words: Sequence[Word], subject: Sequence[Word]) -> bool:
    stop = subject[-1].place + 1
    return (
        stop <= SUBJECT_MAX
        and [word.place for word in subject] == list(range(subject[0].place, stop))
        and all(word.kind == "function" for word in words[: subject[0].place])
        and stop + 1 < len(words)
        and _low(words[stop]) in _HOLDING
        and _low(words[stop + 1]) == "the"
        and subject[-1].kind in ("name", "plain")
    )


def _is_stative(existing: Sequence[Word], ours: Sequence[Word], new: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Return whether a name differs after a participle of a state and its preposition: `is owned by Ann`."""
    return all(
        all(word.kind == "name" for word in side)
        and side[0].place >= 3
        and _low(words[side[0].place - 1]) in _PREPOSITIONS
        and _low(words[side[0].place - 2]) in _STATIVE
        and _low(words[side[0].place - 3]) in _BE
        for words, side in ((existing, ours), (new, theirs))
    )


def _is_exclusive(existing: Sequence[Word], ours: Sequence[Word], new: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Return whether a preference differs, or the value of a unique subject (`the default editor is ...`)."""
    return len(ours) == len(theirs) == 1 and all(
        _is_chosen(words, side[0]) for words, side in ((existing, ours), (new, theirs))
    )


def _is_chosen(words: Sequence[Word], value: Word) -> bool:
    before = [_low(word) for word in words[: value.place]]
    if len(before) < 2:
        return False
    if before[-1] in _EXCLUSIVE:
        return True
    verb = next((place for place, low in enumerate(before) if low in _BE or low in (":", "=")), None)
    return verb is not None and len(before) - verb <= 2 and not _UNIQUE.isdisjoint(before[:verb])
