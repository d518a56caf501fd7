"""Decide from two texts and their cosine how they relate. All constants are here; `loadtests.pairs` fits them."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from muisti.core.embedding.vectors import Vectors
from muisti.core.model.choices import SIMILARITY_MIN
from muisti.core.model.outcomes import Difference, LikenessKind
from muisti.core.text.forms import normalise
from muisti.core.text.scripts import unmarked
from muisti.core.text.sentences import ends
from muisti.core.write.conflicts.alignment import Alignment, align
from muisti.core.write.conflicts.changes import LONGEST, changed_value
from muisti.core.write.conflicts.claims import claim, plain
from muisti.core.write.conflicts.denials import denier, denies, may_deny, negates, same_statement
from muisti.core.write.conflicts.differences import Parted, part
from muisti.core.write.conflicts.exclusive import exclusive, may_be_about, may_both, of_several
from muisti.core.write.conflicts.stance import ANNOUNCING, asks, attributed, comparable
from muisti.core.write.conflicts.suspected import Change, is_of_the_speaker, is_stated, may_contradict
from muisti.core.write.conflicts.words import Word, equal, read

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
FAR = -1.0  # cosine of two texts of which only the claims are compared
CONTRARY = ("conflict", "possible_conflict")
TOGETHER, SENTENCES = 400, 4  # characters and sentences of a text whose sentences are compared one by one
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
    near = cosine >= SIMILARITY_MIN
    if near and not (existing + new).isascii() and unmarked(normalise(existing)) == unmarked(normalise(new)):
        return Verdict("duplicate")
    near = near and _alike_at_a_glance(existing, new)
    verdict = _judged(existing, new, cosine, encode) if near else None
    if verdict is not None and verdict.kind in CONTRARY and _are_of_several(existing, new):
        return Verdict("similar", verdict.differs)
    if verdict is None or verdict.kind == "similar":
        verdict = claimed(existing, new) or denied(existing, new) or verdict
    if not near:
        return verdict
    if verdict is None or verdict.kind == "similar":
        verdict = of_sentences(existing, new) or verdict
    one, other = attributed(existing), attributed(new)
    if one.speaker == other.speaker or (verdict is not None and verdict.kind == "duplicate"):
        return verdict
    if verdict is None or verdict.kind == "similar":
        said = _judged(one.text, other.text, cosine, encode)
        verdict = verdict if said is None or said.kind not in CONTRARY else said
    return verdict and of_two_authors(verdict, one.text, other.text)


def _are_of_several(existing: str, new: str) -> bool:
    """Return whether two texts claim values of a subject that has several, such as brothers."""
    ours, theirs = claim(existing), claim(new)
    return ours is not None and theirs is not None and of_several(ours, theirs)


def claimed(existing: str, new: str) -> Verdict | None:
    """Return the verdict that two texts claim different values of one subject, or None when they do not."""
    theirs = claim(new)
    ours = None if theirs is None or not may_be_about(existing, theirs) else claim(existing)
    found = None if ours is None or theirs is None else exclusive(ours, theirs)
    if found is None or not comparable(existing, new, read(existing), read(new)):
        return None
    return Verdict("conflict" if found.sure else "possible_conflict", (found.difference,))


def denied(existing: str, new: str) -> Verdict | None:
    """Return the verdict that one text may deny the other, or None when neither does."""
    if not (may_deny(existing) or may_deny(new)) or plain(existing) is None or plain(new) is None:
        return None
    ours, theirs = read(existing), read(new)
    if not denies(ours, theirs) or not comparable(existing, new, ours, theirs):
        return None
    return Verdict("possible_conflict", (Difference("negation", denier(ours), denier(theirs)),))


def of_sentences(existing: str, new: str) -> Verdict | None:
    """Return the verdict that a sentence of one text may exclude one of the other; None for two single sentences.

    Other sentences may say more of it, so nothing is refused.
    """
    ours, theirs = _sentences(existing), _sentences(new)
    if len(ours) == len(theirs) == 1 or asks(existing) or asks(new):
        return None
    found = (claimed(one, other) or denied(one, other) for one in ours for other in theirs)
    verdict = next((one for one in found if one is not None), None)
    return verdict and Verdict("possible_conflict", verdict.differs)


def _sentences(text: str) -> Sequence[str]:
    """Return the sentences of a short text; none of one that is longer or has many."""
    if len(text) > TOGETHER:
        return ()
    stops = [*dict.fromkeys((*ends(text), len(text)))][: SENTENCES + 1]
    return [text[start:stop].strip() for start, stop in pairwise((0, *stops))] if len(stops) <= SENTENCES else ()


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
        return not (negates(existing) and negates(new)) and same_statement(existing, new)
    if ours is None or theirs is None or equal((ours,), (theirs,)):
        return False
    if kind == "name" and may_both((ours,), (theirs,)):
        return False
    return is_stated(existing, ours, kind) and is_stated(new, theirs, kind)


def _is_sure(parted: Parted) -> bool:
    """Return whether no word differs beside a value. A near synonym may be another subject: `guests`, `members`."""
    return parted.differences[0].kind == "negation" or not (parted.rest_existing and parted.rest_new)


def _distances(ours: Sequence[Word], theirs: Sequence[Word], encode: Encode) -> tuple[list[float], list[float]]:
    """Return for each word 1 minus the cosine to the nearest word of the other side, in [0, 1]."""
    if not ours or not theirs:
        return [1.0] * len(ours), [1.0] * len(theirs)
    vectors = encode([word.text.lower() for word in (*ours, *theirs)])
    cosines = np.clip(vectors[: len(ours)] @ vectors[len(ours) :].T, 0.0, 1.0)
    return (1 - cosines.max(axis=1)).tolist(), (1 - cosines.max(axis=0)).tolist()
