"""Decide from two texts and their cosine how they relate. All constants are here; `loadtests.pairs` fits them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from muisti.core.embedding.vectors import Vectors
from muisti.core.model.outcomes import Difference, LikenessKind
from muisti.core.model.terms import SIMILARITY_MIN
from muisti.core.text.forms import normalise
from muisti.core.text.marks import unmarked
from muisti.core.write.conflicts.changes import LONGEST, changed_value
from muisti.core.write.conflicts.differences import Parted, part
from muisti.core.write.conflicts.stance import ANNOUNCING, attributed, comparable, label
from muisti.core.write.conflicts.suspected import Change, is_of_the_speaker, is_stated, may_contradict
from muisti.core.write.conflicts.words import Word, equal, read

# Compare two texts word by word: the words of both, and the words of only one


class Alignment(msgspec.Struct, frozen=True):
    """Words of two texts: `only_existing` and `only_new` are the words of one text alone, in their order.

    `common` counts the words that both texts have. `order` is the share of common words whose order is the same in both
    texts; it is 1 without common words. Function words are ignored.
    """

    only_existing: tuple[Word, ...]
    only_new: tuple[Word, ...]
    common: int
    order: float


def align(existing: Sequence[Word], new: Sequence[Word]) -> Alignment:
    """Pair the words of two texts."""
    ours = [word for word in existing if word.kind != "function"]
    theirs = [word for word in new if word.kind != "function"]
    kept_ours, only_ours = _parted(ours, [word.key for word in theirs])
    kept_theirs, only_theirs = _parted(theirs, kept_ours)
    return Alignment(tuple(only_ours), tuple(only_theirs), len(kept_ours), _order(kept_ours, kept_theirs))


def _parted(words: Sequence[Word], others: Iterable[str]) -> tuple[list[str], list[Word]]:
    """Return the keys of the words that the other text has too, each as often, and the words that are left."""
    left = Counter(others)
    kept: list[str] = []
    only: list[Word] = []
    for word in words:
        times = left.get(word.key)
        if times:
            left[word.key] = times - 1
            kept.append(word.key)
        else:
            only.append(word)
    return kept, only


def _order(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Return the length of the longest common subsequence divided by the number of common words.

    Bit-parallel, a bit for each of our words: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    if ours == theirs:
        return 1.0
    places: dict[str, int] = {}
    for place, key in enumerate(ours):
        places[key] = places.get(key, 0) | 1 << place
    every = (1 << len(ours)) - 1
    unmatched = every
    for key in theirs:
        matching = unmatched & places[key]  # both have the same words
        unmatched = (unmatched + matching | unmatched - matching) & every
    return (len(ours) - unmatched.bit_count()) / len(ours)


ENOUGH = 3  # common words of content with which two texts are about one thing, however they are put
SOME = 2  # common words of content with which they are, if the other words are function words that agree

_PAUSES_WORDS = """
yeah yes yep ok okay oh well hmm mm uh um ah right so hopefully exactly mean know true sure
"""
_PAUSES = frozenset(_PAUSES_WORDS.split())
# Words that come and go with a negation.
_AUXILIARIES_WORDS = """
a an the any some do does did is are am was were be been has have had can could will would should there
"""
_AUXILIARIES = frozenset(_AUXILIARIES_WORDS.split())


def same_statement(existing: Sequence[Word], new: Sequence[Word]) -> bool:
    """Return whether one text may negate the other: both say the same of the same thing, but for the negation.

    >>> from muisti.core.write.conflicts.words import read
    >>> pairs = (("The cache is on.", "The cache isn't on."), ("Grad C: So.", "Grad C: No."))
    >>> [same_statement(read(one), read(other)) for one, other in pairs]
    [True, False]
    """
    ours, theirs = _said(existing), _said(new)
    common = _content(ours) & _content(theirs)
    if len(common) >= ENOUGH:
        return True
    one, other = _frame(ours), _frame(theirs)
    return bool(common) and (one == other or (len(common) >= SOME and one - _content(ours) == other - _content(theirs)))


def _said(words: Sequence[Word]) -> Sequence[Word]:
    return words[len(label(words)) :]


def _content(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words if word.kind not in ("function", "negation")} - _PAUSES


def _frame(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words if word.kind != "negation"} - _AUXILIARIES - _PAUSES - {":"}


Encode = Callable[[Sequence[str]], Vectors]  # unit-length rows


class Limits(msgspec.Struct, frozen=True):
    """Largest distances at which two texts still say the same, and the smallest cosine and order.

    The distance of a word that only one text has is 1 minus its cosine to the nearest word that only the other has.
    `share_existing` and `share_new` are the sum of distances divided by the words of a text. `strange` is the largest
    distance of a single word of the new text.
    """

    cosine: float
    share_existing: float
    share_new: float
    strange: float
    order: float


# Fitted on the training pairs for the shipped model, the most recall at precisions of .95 and .85 (docs/why/why.md).
SAME = Limits(cosine=0.92, share_existing=0.15, share_new=0.15, strange=0.5, order=0.8)
NEARLY = Limits(cosine=0.83, share_existing=0.2, share_new=0.15, strange=0.7, order=0.6)
# Set by hand, for texts that differ only in a value, which changes the cosine.
BUT_FOR_A_VALUE = Limits(cosine=0.6, share_existing=0.2, share_new=0.12, strange=0.5, order=0.8)
COMMON_SHARE = 0.5  # of the words of either text, the least that both must have to be measured
GLANCE_SHARE = 0.3  # least share of common words when texts are split at white space,
GLANCE_WORDS = 5  # applied from this many words
CONTRARY = ("conflict", "possible_conflict")
COMMON_MIN = 2  # words that duplicates have in common; with fewer, only equal texts are sure to say the same


class Measures(msgspec.Struct, frozen=True):
    """Measured distances, to be compared with `Limits`. `common` counts the words that both texts have."""

    common: int
    cosine: float
    share_existing: float
    share_new: float
    strange: float
    order: float

    def within(self, limits: Limits) -> bool:
        return (
            self.cosine >= limits.cosine
            and self.share_existing <= limits.share_existing
            and self.share_new <= limits.share_new
            and self.strange <= limits.strange
            and self.order >= limits.order
        )


class Verdict(msgspec.Struct, frozen=True):
    """The relation of a new text to an existing one."""

    kind: LikenessKind
    differs: tuple[Difference, ...] = ()


def judge(existing: str, new: str, cosine: float, encode: Encode) -> Verdict | None:
    """Return how two texts relate, or None when they are unrelated."""
    if cosine < SIMILARITY_MIN:
        return None
    if not (existing.isascii() and new.isascii()) and unmarked(normalise(existing)) == unmarked(normalise(new)):
        return Verdict("duplicate")
    if not _alike_at_a_glance(existing, new):
        return None
    verdict = _judged(existing, new, cosine, encode)
    one, other = attributed(existing), attributed(new)
    if one.speaker == other.speaker or (verdict is not None and verdict.kind == "duplicate"):
        return verdict
    if verdict is None or verdict.kind == "similar":
        said = _judged(one.text, other.text, cosine, encode)
        verdict = verdict if said is None or said.kind not in CONTRARY else said
    return verdict and of_two_authors(verdict, one.text, other.text)


def of_two_authors(verdict: Verdict, existing: str, new: str) -> Verdict | None:
    """Return the verdict on texts of two authors: nothing is refused, and what contradicts opens a review.

    A statement of an author in the first person says nothing about another author.
    """
    if verdict.kind == "similar":
        return verdict
    if is_of_the_speaker(read(existing)) or is_of_the_speaker(read(new)):
        return None
    return Verdict("similar" if verdict.kind == "duplicate" else "possible_conflict", verdict.differs)


def _judged(existing: str, new: str, cosine: float, encode: Encode) -> Verdict | None:
    """Return how two texts relate, whoever says them."""
    ours, theirs = read(existing), read(new)
    verdict = _compared(ours, theirs, cosine, encode)
    if verdict is not None and verdict.kind == "duplicate":
        return verdict
    if verdict is None or verdict.kind == "similar":
        changed = changed_value(ours, theirs)
        if changed is None:
            return verdict
        return Verdict("possible_conflict", (changed,)) if comparable(existing, new, ours, theirs) else verdict
    if comparable(existing, new, ours, theirs):
        return verdict
    return Verdict("similar", verdict.differs) if verdict.kind == "conflict" else None


def _compared(ours: Sequence[Word], theirs: Sequence[Word], cosine: float, encode: Encode) -> Verdict | None:
    """Return how two texts relate by the words that they have in common."""
    paired = matched(ours, theirs)
    if paired is None:
        return None
    if cosine < NEARLY.cosine and not paired[1].differences:
        return _suspected(cosine, *paired, ours, theirs)
    return conclude(measure(*paired, cosine, encode), *paired, ours, theirs)


def _alike_at_a_glance(one: str, other: str) -> bool:
    """Return whether enough words are common, in a quick test that takes a tenth of the time and drops most pairs."""
    words, others = set(unmarked(one.lower()).split()), set(unmarked(other.lower()).split())
    longer = max(len(words), len(others))
    if longer < GLANCE_WORDS or len(words & others) >= GLANCE_SHARE * longer:
        return True
    return longer <= LONGEST and not others.isdisjoint(ANNOUNCING)


def conclude(
    measures: Measures, aligned: Alignment, parted: Parted, existing: Sequence[Word], new: Sequence[Word]
) -> Verdict | None:
    """Return how two measured texts relate, or None when they are unrelated."""
    if not parted.differences and measures.common >= COMMON_MIN and measures.within(SAME):
        return Verdict("duplicate")
    is_near = measures.within(BUT_FOR_A_VALUE) if parted.differences else measures.within(NEARLY)
    if is_near and parted.differences and _contradict(parted, existing, new):
        return Verdict("conflict" if _is_sure(parted) else "possible_conflict", parted.differences)
    suspected = _suspected(measures.cosine, aligned, parted, existing, new)
    if suspected is not None or not is_near or (not parted.differences and measures.common < COMMON_MIN):
        return suspected
    return Verdict("similar", parted.differences)


def _suspected(
    cosine: float, aligned: Alignment, parted: Parted, existing: Sequence[Word], new: Sequence[Word]
) -> Verdict | None:
    """Return the verdict that two texts may exclude each other, or None when no rule says so."""
    if cosine < SIMILARITY_MIN or aligned.common < COMMON_MIN or aligned.order < BUT_FOR_A_VALUE.order:
        return None
    change = Change(aligned.only_existing, aligned.only_new)
    if not may_contradict(existing, new, parted.differences, change):
        return None
    return Verdict("possible_conflict", parted.differences)


def matched(existing: Sequence[Word], new: Sequence[Word]) -> tuple[Alignment, Parted] | None:
    """Return the common words of two texts and their differences, or None when too few words are common."""
    found = align(existing, new)
    longer = found.common + max(len(found.only_existing), len(found.only_new))
    if found.common < max(1, COMMON_SHARE * longer):
        return None
    return found, part(found.only_existing, found.only_new)


def measure(found: Alignment, parted: Parted, cosine: float, encode: Encode) -> Measures:
    """Measure two texts for a comparison with `Limits`."""
    losses, gains = _distances(parted.rest_existing, parted.rest_new, encode)
    return Measures(
        common=found.common,
        cosine=cosine,
        share_existing=sum(losses) / (found.common + len(found.only_existing)),
        share_new=sum(gains) / (found.common + len(found.only_new)),
        strange=max(gains, default=0.0),
        order=found.order,
    )


def _contradict(parted: Parted, existing: Sequence[Word], new: Sequence[Word]) -> bool:
    """Return whether both cannot be true: one negates the other, or the single value of a state has changed."""
    if len(parted.differences) != 1:
        return False
    kind, (ours, theirs) = parted.differences[0].kind, parted.pairs[0]
    if kind == "negation":  # one of two may be rhetorical: "isn't safe and doesn't scale", "isn't safe or fast"
        return not (_negates(existing) and _negates(new)) and same_statement(existing, new)
    if ours is None or theirs is None or equal((ours,), (theirs,)):
        return False
    return is_stated(existing, ours, kind) and is_stated(new, theirs, kind)


def _is_sure(parted: Parted) -> bool:
    """Return whether no word differs beside a value. A near synonym may be another subject: `guests`, `members`."""
    return parted.differences[0].kind == "negation" or not (parted.rest_existing and parted.rest_new)


def _negates(words: Sequence[Word]) -> bool:
    return any(word.kind == "negation" for word in words)


def _distances(ours: Sequence[Word], theirs: Sequence[Word], encode: Encode) -> tuple[list[float], list[float]]:
    """Return for each word 1 minus the cosine to the nearest word of the other side, in [0, 1]."""
    if not ours or not theirs:
        return [1.0] * len(ours), [1.0] * len(theirs)
    vectors = encode([word.text.lower() for word in (*ours, *theirs)])
    cosines = np.clip(vectors[: len(ours)] @ vectors[len(ours) :].T, 0.0, 1.0)
    return (1 - cosines.max(axis=1)).tolist(), (1 - cosines.max(axis=0)).tolist()
