"""Decide whether a new text changes a value that an existing text states. Such a pair opens a review.

There are three forms. The new text names the old value: `moved from Berlin to Oslo`, `Zulip instead of Slack`. Or it
announces a change: `was raised to 10 MB`, `now prefers light themes`. Or only a value of several words differs:
`expires after 30 minutes` and `2 hours`. Everything else that either text says must be in the other.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from muisti.core.model.outcomes import Difference, DifferenceKind
from muisti.core.write.conflicts.attribution import label
from muisti.core.write.conflicts.opposites import opposites
from muisti.core.write.conflicts.quantities import class_of, equal
from muisti.core.write.conflicts.stance import ANNOUNCING
from muisti.core.write.conflicts.suspected import happened, is_predicate
from muisti.core.write.conflicts.words import Word

LONGEST = 30  # words of a text; longer ones say several things
VALUE_MAX = 4  # words of a value, function words included
SUBJECT_MIN = 3  # common words from which a change need not repeat everything that an existing text says
COUNTED_MIN = 2  # common words of two counts of what has been done
NARROWING = 1  # words by which an existing text may say of its subject what a change does not repeat

_UP_OR_DOWN = frozenset({"up", "down", "over", "back"})
# Words that begin the old value, and words before or after which the new one is.
_OLD_AFTER = frozenset({"from", "instead", "than", "replaced", "replaces"})
_NOW = frozenset({"now", "nowadays", "currently"})
_PREFERS, _OVER = frozenset({"prefer", "prefers"}), frozenset({"over", "to", "than"})
_NEW_AFTER = frozenset({"to", "reached"})
_HAVE = frozenset({"have", "has", "i've", "we've", "they've"})
# Words that say when or how something changed. They are no part of what is stated.
_WHEN_WORDS = """
just recently lately already today yesterday last past this week month year since has have been
"""
_WHEN = frozenset(_WHEN_WORDS.split())
# States that a change of the same kind ends: a place, a choice, and what is in use.
_STATES_WORDS = """
live lives living reside resides based located stay stays work works use uses using run runs running prefer prefers
like likes love loves favor favors favour favours want wants stand stands cost costs
"""
_STATES = frozenset(_STATES_WORDS.split())
# All words that a change adds to what it says, beside its verb.
_CUES = _OLD_AFTER | _WHEN | _NOW | _UP_OR_DOWN | {"rather", "went"}
# Words without which a text announces no change.
_SIGNALS = ANNOUNCING | _OLD_AFTER | _NOW | {"went"}
_PRONOUNS = frozenset({"i", "we", "he", "she", "they", "you"})


class _Sides(msgspec.Struct, frozen=True):
    """Content words of both texts, and the words that only one of them has."""

    existing: Sequence[Word]
    new: Sequence[Word]
    only_existing: Sequence[Word]
    only_new: Sequence[Word]
    common: int


def changed_value(existing: Sequence[Word], new: Sequence[Word]) -> Difference | None:
    """Return the value that differs between a statement and a later one, or None when the later one changes none.

    >>> from muisti.core.write.conflicts.words import read
    >>> found = changed_value(read("Ann lives in Berlin."), read("Ann moved from Berlin to Oslo."))
    >>> (found.existing, found.new) if found else None
    ('Berlin', 'Oslo')
    >>> changed_value(read("Ann lives in Berlin."), read("Bob moved from Berlin to Oslo."))
    """
    if max(len(existing), len(new)) > LONGEST:
        return None
    lows = [word.text.lower() for word in new]
    if _SIGNALS.isdisjoint(lows) and _differ_in_more(existing, new):
        return None
    if happened(existing):
        return _changed_since(existing, new, lows)
    if not _OLD_AFTER.isdisjoint(lows):
        found = _named(existing, new, lows)
        if found is not None:
            return found
    if not ANNOUNCING.isdisjoint(lows) or "went up" in " ".join(lows) or "went down" in " ".join(lows):
        return _announced(existing, new, lows)
    sides = _sides(existing, new)
    if not sides.only_existing and not sides.only_new:
        return _swapped(existing, new)
    if not _NOW.isdisjoint(lows):
        found = _of_runs(_without_states(sides), existing, new)
        if found is not None:
            return found
    return _differing(sides, existing, new)


def _differ_in_more(existing: Sequence[Word], new: Sequence[Word]) -> bool:
    """Return whether more than a value differs, in a quick test that drops most pairs."""
    ours, theirs = ({word.key for word in words if word.kind != "function"} for words in (existing, new))
    only_existing, only_new = ours - theirs, theirs - ours
    if max(len(only_existing), len(only_new)) > VALUE_MAX:
        return True
    return max(len(only_existing), len(only_new)) > 1 and not any(
        word.kind in ("number", "date") for word in (*existing, *new)
    )


def _changed_since(existing: Sequence[Word], new: Sequence[Word], lows: Sequence[str]) -> Difference | None:
    """Return the change of what an existing text says has happened so far, or None."""
    found = _denied(existing, new)
    if found is None and any(word.text.lower().replace("’", "'") in _HAVE for word in existing):
        found = _counted_up(existing, new) or _announced(existing, new, lows)
    return found


def _named(existing: Sequence[Word], new: Sequence[Word], lows: Sequence[str]) -> Difference | None:
    """Return the change of a new text that names the old value."""
    place = next(place for place, low in enumerate(lows) if low in _OLD_AFTER)
    keys = {word.key for word in existing}
    start = place + 2 if lows[place : place + 2] == ["instead", "of"] else place + 1
    stop = start
    while stop < len(new) and stop - start < VALUE_MAX and new[stop].key in keys and new[stop].kind != "function":
        stop += 1
    old = new[start:stop]
    if not old or not _announces(lows):
        return None
    sides = _sides(existing, [word for word in new if word.place not in range(start, stop) and not _is_cue(word)], old)
    value = sides.only_new
    joined = _run(value)
    if joined is None or not _same_subject(existing, new, sides):
        return None
    beside = new[stop : stop + 2] if lows[place] not in ("instead", "than") else new[:place]
    if not any(word is value[0] or word is value[-1] for word in beside):
        return None
    if not _is_state(sides.only_existing) or equal(old, value):
        return None
    return Difference(_kind(value), _text(old), _text(value))


def _announced(existing: Sequence[Word], new: Sequence[Word], lows: Sequence[str]) -> Difference | None:
    """Return the change of a new text that says what something was changed to, but not from what."""
    before = [place for place, low in enumerate(lows) if low in _NEW_AFTER]
    if not before or "from" in lows:
        return None
    sides = _without_states(_sides(existing, [word for word in new if not _is_cue(word)]))
    if not sides.only_new or not before[-1] < sides.only_new[0].place <= before[-1] + 2:
        return None
    if sides.common >= SUBJECT_MIN:
        values = [word for word in sides.only_existing if class_of([word]) == class_of(sides.only_new[:1])]
        sides = msgspec.structs.replace(sides, only_existing=values)
    return _of_runs(sides, existing, new)


def _swapped(existing: Sequence[Word], new: Sequence[Word]) -> Difference | None:
    """Return the choice that two texts of the same words make: `prefers tabs over spaces`, `spaces over tabs`."""
    chosen = [_chosen(words) for words in (existing, new)]
    one, other = chosen
    if one is None or other is None or one.key == other.key:
        return None
    return Difference("name", one.text, other.text)


def _chosen(words: Sequence[Word]) -> Word | None:
    """Return the word that follows a verb of preference, where another thing is named after it."""
    lows = [word.text.lower() for word in words]
    verb = next((place for place, low in enumerate(lows) if low in _PREFERS), None)
    if verb is None or _OVER.isdisjoint(lows[verb + 2 :]):
        return None
    return words[verb + 1]


def _counted_up(existing: Sequence[Word], new: Sequence[Word]) -> Difference | None:
    """Return the number that differs in what has been done so far, as in `I have read 3 chapters`."""
    sides = _sides(existing, new)
    ours, theirs = sides.only_existing, sides.only_new
    if len(ours) != 1 or len(theirs) != 1 or sides.common < COUNTED_MIN:
        return None
    if _frame(existing, ours) != _frame(new, theirs):
        return None
    return _of_runs(sides, existing, new) if class_of(ours) == "number" else None


def _denied(existing: Sequence[Word], new: Sequence[Word]) -> Difference | None:
    """Return the negation by which one text denies what the other counts: `never fixed any bugs`, `fixed 3 bugs`."""
    sides = _sides(existing, new)
    ours, theirs = sides.only_existing, sides.only_new
    if sides.common < SUBJECT_MIN or not ours or not theirs or not _same_subject(existing, new, sides):
        return None
    for denying, counting in ((ours, theirs), (theirs, ours)):
        if all(word.kind == "negation" for word in denying) and all(word.kind == "number" for word in counting):
            return Difference("negation", _text(ours), _text(theirs))
    return None


def _differing(sides: _Sides, existing: Sequence[Word], new: Sequence[Word]) -> Difference | None:
    """Return the value of several words that is all that differs."""
    ours, theirs = sides.only_existing, sides.only_new
    if not ours or not theirs or happened(new) or _frame(existing, ours) != _frame(new, theirs):
        return None
    if not all(_is_stated(words, value) for words, value in ((existing, ours), (new, theirs))):
        return None
    found = _of_runs(sides, existing, new)
    return None if found is None or found.kind == "name" else found


def _frame(words: Sequence[Word], value: Sequence[Word]) -> Sequence[str]:
    """Return the words around a value."""
    return [word.key for word in words if not value[0].place <= word.place <= value[-1].place and not _is_now(word)]


def _is_stated(words: Sequence[Word], value: Sequence[Word]) -> bool:
    """Return whether a value is in the predicate, or counts the subject: `12 people are invited`."""
    if len(words) - len(value) <= len(label(words)) + 1:
        return False
    if value[0].place:
        return is_predicate(words, value[0])
    lows = [word.text.lower() for word in words]
    return value[0].kind == "number" and any(low in ("are", "have") for low in lows)


def _of_runs(sides: _Sides, existing: Sequence[Word], new: Sequence[Word]) -> Difference | None:
    """Return the difference of two values that may be the only value of what both texts are about."""
    if _run(sides.only_existing) is None or _run(sides.only_new) is None or not _same_subject(existing, new, sides):
        return None
    one, other = class_of(sides.only_existing), class_of(sides.only_new)
    if one is None and len(sides.only_existing) == len(sides.only_new) == 1:
        if sides.only_new[0].key not in opposites(sides.only_existing[0].key):
            return None
        return Difference("opposite", _text(sides.only_existing), _text(sides.only_new))
    if one is None or one != other or equal(sides.only_existing, sides.only_new):
        return None
    return Difference(one, _text(sides.only_existing), _text(sides.only_new))


def _sides(existing: Sequence[Word], new: Sequence[Word], old: Sequence[Word] = ()) -> _Sides:
    """Return the content words of both texts, without the old value."""
    left = Counter(word.key for word in old)
    ours: list[Word] = []
    for word in existing:
        if left[word.key]:
            left[word.key] -= 1
        elif word.kind != "function":
            ours.append(word)
    theirs = [word for word in new if word.kind != "function"]
    shared = Counter(word.key for word in ours) & Counter(word.key for word in theirs)
    return _Sides(ours, theirs, _beyond(ours, shared), _beyond(theirs, shared), shared.total())


def _beyond(words: Sequence[Word], shared: Counter[str]) -> list[Word]:
    left = Counter(shared)
    only: list[Word] = []
    for word in words:
        if left[word.key]:
            left[word.key] -= 1
        else:
            only.append(word)
    return only


def _without_states(sides: _Sides) -> _Sides:
    """Return both sides without a verb of a state, which a change may name otherwise or not at all."""
    only_existing, only_new = (
        [word for word in words if word.text.lower() not in _STATES] for words in (sides.only_existing, sides.only_new)
    )
    return msgspec.structs.replace(sides, only_existing=only_existing, only_new=only_new)


def _is_state(words: Sequence[Word]) -> bool:
    """Return whether words are a verb of a state, and at most one that narrows a subject down."""
    beyond = [word for word in words if word.text.lower() not in _STATES]
    return len(beyond) <= NARROWING and all(word.kind == "plain" and word.text.islower() for word in beyond)


def _same_subject(existing: Sequence[Word], new: Sequence[Word], sides: _Sides) -> bool:
    """Return whether both texts name a common subject, or are about one person by pronoun."""
    one, other = ({word.text.lower() for word in words} & _PRONOUNS for words in (existing, new))
    return one == other or not one if sides.common else bool(one) and one == other


def _announces(lows: Sequence[str]) -> bool:
    """Return whether a text says that one value takes the place of another."""
    return not ANNOUNCING.isdisjoint(lows) or "instead" in lows or ("rather" in lows and "than" in lows)


def _is_now(word: Word) -> bool:
    return word.text.lower() in _NOW


def _is_cue(word: Word) -> bool:
    low = word.text.lower()
    return low in ANNOUNCING or low in _CUES


def _run(words: Sequence[Word]) -> Sequence[Word] | None:
    """Return words that are beside each other, or None when they are not, or are none or too many."""
    if not words or words[-1].place - words[0].place >= VALUE_MAX:
        return None
    return words if words[-1].place - words[0].place <= len(words) else None


def _kind(value: Sequence[Word]) -> DifferenceKind:
    return class_of(value) or "name"


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
