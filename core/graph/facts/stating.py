"""Which facts a clause states: its verb, or what follows "am", "have" or "my", looked up in the lexicon."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from muisti.core.graph.facts import lexicon, objects
from muisti.core.graph.facts.clauses import Clause
from muisti.core.graph.facts.lexicon import Cue, Word, listed
from muisti.core.model.choices import RelationKind

_REACH = 8  # words between "have" and the noun that counts
_DEGREES = listed(
    "a an the severe strong deep big huge real great bit little lot of serious mild bad terrible extreme intense"
    " life-threatening massive major total true such deep-rooted general particular very quite no any - ,"
)
_WISHES = listed("like love enjoy adore hate")
_BEST = listed("learn sleep study think work")
_FOUND = 14  # words between "find" and its adjective
_BE = listed("to be very too quite so rather extremely highly somewhat a bit more")
_CANNOT = listed("eat consume drink stand bear tolerate handle")
_PREFERENCES = frozenset({"avoids", "dislikes", "prefers", "likes"})
_COUNTS = listed("a an two three four five some no many several")
_AFTER_ROLES = listed("and but so at in by who for with from since because or now too working based trying")
_STOPS: dict[RelationKind, frozenset[str]] = {
    **dict.fromkeys(("made", "attended", "visited", "owns", "lives_in", "comes_from"), objects.EVENT_ENDS),
    "works_at": objects.EVENT_ENDS | {"in"},
    "prefers": objects.PREFERRED_ENDS,
    "uses": objects.USED_ENDS,
}
_BESIDE = (
    Cue("works_at", ("at",), needs="employer"),
    Cue("works_at", ("for",), needs="employer"),
    Cue("comes_from", ("from",), needs="name"),
    Cue("lives_in", ("based", "in"), needs="name"),
)  # after an occupation: "a nurse at Acme"
_LITTLE = listed("no low little zero minimal limited")  # interest, tolerance
_TASTES = listed("fan lover person enthusiast buff")
_AGAINST = frozenset({"avoids", "dislikes"})
_BE_ADVERBS = listed("too overly")
_AFTER_ADJECTIVES = listed("and but or to because when as for due at in since especially than so if too while after")
_SKIPPED = listed("to just only both mostly")
_SPEAKERS = listed("i we you")
_MARKS = listed(". ! ? ; : , ( ) to of for in because that which but who when if")


class Stated(NamedTuple):
    """A fact in the words of a sentence: its object goes from `at` to `stop`, its last word is before `last`."""

    kind: RelationKind
    polarity: bool
    at: int
    stop: int


def state(words: Sequence[Word], clause: Clause) -> Iterator[Stated]:
    """Yield the facts that a clause states, one for each item of a list."""
    found = _found(words, clause)
    said = None if found is None else _kind(found.cue, clause, found.denied)
    if found is None or said is None:
        return
    whole = [(found.at, found.stop)]
    for first, last in whole if said[0] == "plans" else objects.items(words, found.at, found.stop):
        yield Stated(said[0], said[1], first, last)
    if said == ("is", True):
        for cue in _BESIDE:
            if beside := _after(words, cue, found.stop, clause):
                yield Stated(cue.kind, True, beside.at, beside.stop)


class _Found(NamedTuple):
    cue: Cue
    at: int
    stop: int
    denied: bool = False  # by "no", after the verb


def _kind(cue: Cue, clause: Clause, denied: bool) -> tuple[RelationKind, bool] | None:
    """Return what a cue states with the negations of its clause, and whether it holds; None when it says nothing."""
    if clause.gone:
        return cue.kind, cue.denied == cue.kind
    if clause.negated == denied:
        return None if cue.denied == cue.kind else (cue.kind, True)
    if cue.denied is None:
        return cue.kind, False
    return (cast(RelationKind, cue.denied), True) if cue.denied else None


def _found(words: Sequence[Word], clause: Clause) -> _Found | None:
    verb = lexicon.FORMS.get(words[clause.at].text)
    if verb is not None and (found := _by_verb(words, clause, *verb)):
        return found
    if clause.last == "be":
        return _been(words, clause) if words[clause.at].text == "to" else _by_adjective(words, clause)
    if clause.last == "have":
        return _by_noun(words, clause)
    return _whole(words, clause)


def _by_verb(words: Sequence[Word], clause: Clause, lemma: str, form: str) -> _Found | None:
    tense = _tense(clause, form)
    if not clause.last and form == ("s" if words[clause.first].text in _SPEAKERS else "b"):
        return None  # "I plans", "Ann and Bob love"
    if lemma == "find" and tense in "bs":
        return _finding(words, clause)
    if lemma in _BEST and tense in "bs" and words[min(clause.at + 1, len(words) - 1)].text == "best":
        stop = objects.end(words, clause.at + 2, clause.until)
        return _Found(Cue("prefers", denied=""), clause.at + 2, stop) if stop > clause.at + 2 else None
    if clause.modal and lemma in _WISHES:
        return None  # "I would love to see it" is a wish
    for cue in _cues(clause, lemma):
        if tense in cue.tenses and (found := _after(words, cue, clause.at + 1, clause)):
            return found
    return None


def _cues(clause: Clause, lemma: str) -> list[Cue]:
    """Return the cues of a verb that count in a clause."""
    usual = lexicon.VERBS.get(lemma, [])
    if clause.refused:
        return [Cue("avoids", needs="liked")] if lemma in lexicon.EATS else []
    if (clause.negated or clause.gone) and not clause.past:
        denied = lexicon.DENIED.get(lemma, []) if clause.last != "can" or lemma in _CANNOT else []
        return denied + [cue for cue in usual if not (clause.chosen and cue.kind not in _PREFERENCES)]
    if clause.chosen or (clause.only and not clause.due):
        return [*lexicon.ONLY.get(lemma, []), *(cue for cue in usual if not clause.chosen or cue.kind in _PREFERENCES)]
    if clause.due and clause.only:
        return lexicon.ONLY.get(lemma, [])
    if clause.modal or clause.due:
        return [cue for cue in usual if cue.kind in ("avoids", "prefers")]
    return usual


def _tense(clause: Clause, form: str) -> str:
    """Return the form of a verb with its auxiliary: `n` for a participle, `-` for one that states nothing."""
    if form == "p":
        return "n" if clause.last == "have" else "-" if clause.last == "be" else "p"
    if form == "g":
        return "g" if clause.last == "be" and not clause.past else "-"
    if clause.last == "be":
        return "-"
    return "p" if clause.past and not clause.gone else form


def _after(words: Sequence[Word], cue: Cue, at: int, clause: Clause) -> _Found | None:
    """Return the object after a cue, when the words that it needs follow."""
    for word in cue.follows:
        if at >= clause.until or words[at].text != word:
            return None
        at += 1
    while at < clause.until - 1 and words[at].text in _SKIPPED and cue.needs in ("any", "liked"):
        at += 1
    stop = objects.end(words, at, clause.until, _STOPS.get(cue.kind, frozenset()))
    if stop > at and objects.CONDITIONS[cue.needs](words, at, stop):
        return _Found(cue, at, stop)
    return None


def _whole(words: Sequence[Word], clause: Clause) -> _Found | None:
    """Return the phrase after "prefer to", whatever its verb."""
    verb = lexicon.FORMS.get(words[clause.at].text, ("", ""))[0]
    stop = objects.end(words, clause.at, clause.until)
    if not clause.chosen or stop <= clause.at or any(one.kind in _AGAINST for one in lexicon.VERBS.get(verb, [])):
        return None
    return _Found(Cue("prefers", denied="avoids"), clause.at, stop)


def _been(words: Sequence[Word], clause: Clause) -> _Found | None:
    """Return where the subject of "have been to" has been."""
    if words[clause.at - 1].text != "been":
        return None
    cues = [cue for cue in lexicon.VERBS["go"] if "p" in cue.tenses]
    return next(filter(None, (_after(words, cue, clause.at, clause) for cue in cues)), None)


def _by_adjective(words: Sequence[Word], clause: Clause) -> _Found | None:
    """Return what "am" says with the adjective or noun after it: "am allergic to nuts", "am a nurse"."""
    for at in range(clause.at, min(clause.until, clause.at + _REACH)):
        word = words[at].text
        for cue in lexicon.ADJECTIVES.get(word, []):
            if found := _after(words, cue, at + 1, clause):
                return found
        if word in lexicon.BEFORE and (found := _before(words, clause, at)):
            return found
        if word in lexicon.ROLES and _closes(words, at + 1, clause.until, _AFTER_ROLES):
            return _Found(Cue("is"), objects.bare(words, clause.at, at + 1), at + 1)
        if word in _MARKS or word.endswith("ing"):
            break
    return None


def _by_noun(words: Sequence[Word], clause: Clause) -> _Found | None:
    """Return what "have" says with the noun after it: "have an aversion to noise", "have a dog"."""
    denied = False
    for at in range(clause.at, min(clause.until, clause.at + _REACH)):
        word = words[at].text
        denied = denied or word in _LITTLE
        for cue in lexicon.NOUNS.get(word, []):
            if found := _after(words, cue, at + 1, clause):
                return found._replace(denied=denied)
        if word in lexicon.BEFORE and word not in _TASTES and (found := _before(words, clause, at)):
            return found._replace(denied=denied)
        if word in _MARKS:
            break
    return _owned(words, clause, denied)


def _owned(words: Sequence[Word], clause: Clause, denied: bool) -> _Found | None:
    stop = objects.end(words, clause.at, clause.until)
    if stop <= clause.at or clause.due or words[clause.at].text not in _COUNTS:
        return None
    head = next((at for at in range(clause.at, min(stop, clause.at + 4)) if words[at].text in lexicon.THINGS), None)
    return None if head is None else _Found(Cue("owns"), clause.at, stop, denied)


def _before(words: Sequence[Word], clause: Clause, at: int) -> _Found | None:
    """Return the object before a noun: "a severe peanut allergy"."""
    first = clause.at
    while first < at and (words[first].text in _DEGREES or words[first].text.endswith("ly")):
        first += 1
    if first == at or (words[at].text in _TASTES and objects.is_adjective(words[at - 1].text)):
        return None
    return _Found(Cue(lexicon.BEFORE[words[at].text]), first, at)


def _closes(words: Sequence[Word], at: int, until: int, after: frozenset[str]) -> bool:
    return at >= until or words[at].text in after or not words[at].text[0].isalnum()


def _finding(words: Sequence[Word], clause: Clause) -> _Found | None:
    """Return what is found boring or relaxing: "I find flashcards ineffective"."""
    first = clause.at + 1
    for at in range(first + 1, min(clause.until, first + _FOUND)):
        word = words[at].text
        kind: RelationKind | None = None
        if word in lexicon.AGAINST or (word.startswith(("un", "dis")) and word.endswith(("ing", "ed", "ive", "able"))):
            kind = "dislikes"
        elif word in lexicon.IN_FAVOUR:
            kind = "likes"
        if kind is not None and (word in _BE_ADVERBS or _closes(words, at + 1, clause.until, _AFTER_ADJECTIVES)):
            stop = at
            while stop > first and (words[stop - 1].text in _BE or words[stop - 1].text.endswith("ly")):
                stop -= 1
            whole = stop > first and objects.CONDITIONS["thing"](words, first, stop)
            return _Found(Cue(kind, denied=""), first, stop) if whole else None
    return None


_NAMING = (("'s", "name", "is"), ("is", "called"), ("is", "named"), ("named",), ("called",), ("name", "is"), (",",), ())
_FAVOURITES = listed("favorite favourite go-to preferred fave")
_IS = listed("is are was")
_NAME_ENDS = listed(", . ! ; : ) - — – and")
_NEAR = 6  # words between "favourite" and "is"
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
    return words[at - 1].text == "is" or (words[at - 1].text == "," and at > 2 and _ends_name(words, role + 1))


def _ends_name(words: Sequence[Word], at: int) -> bool:
    return at >= len(words) or words[at].text in _NAME_ENDS


def _names(words: Sequence[Word], at: int) -> list[tuple[int, int]]:
    """Return the names after "my sister", and both of "my kids Ann and Bob"."""
    for naming in _NAMING:
        if tuple(word.text for word in words[at : at + len(naming)]) == naming:
            first = at + len(naming)
            last = _name(words, first)
            if last == first or (naming == (",",) and not _ends_name(words, last)):
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
    for be in range(place + 1, min(len(words), place + _NEAR)):
        if words[be].text in _IS:
            first = be + 1
            stop = objects.end(words, first, len(words))
            if stop > first and objects.CONDITIONS["thing"](words, first, stop) and words[first].text not in _HEDGES:
                for one, last in objects.items(words, first, stop):
                    yield last, Stated("likes", True, one, last)
            return
        if not words[be].text[0].isalnum():
            return


_HEDGES = listed("probably definitely when how where not also of")
