"""Compare a new memory with others: by their fields, by their texts, and by the policy of the space."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.kernels import Floats
from muisti.core.model.choices import SIMILARITY_MIN
from muisti.core.model.outcomes import Difference, Likeness, LikenessKind
from muisti.core.model.values import Memory
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.sentences import MAX_TOKENS
from muisti.core.text.terms import fold
from muisti.core.write.conflicts.judgement import FAR, Verdict, judge, of_two_authors
from muisti.core.write.conflicts.seeking import of_subject_before

# Describe an existing memory to the caller whose new memory resembles it

SHOWN = 300  # characters of a content


def likeness(
    memory: Memory, kind: LikenessKind, similarity: float | None = None, differs: tuple[Difference, ...] = ()
) -> Likeness:
    """Return the description. `similarity` is the cosine of both texts, or None when they were not compared."""
    content = memory.content
    return Likeness(
        id=memory.id,
        kind=kind,
        similarity=similarity,
        differs=differs,
        content=content if len(content) <= SHOWN else f"{content[: SHOWN - 1]}…",
        category=memory.category,
        key=memory.key,
    )


NEVER = 2.0  # higher than any cosine

_RANKS: tuple[LikenessKind, ...] = ("duplicate", "conflict", "possible_conflict", "similar")


class Candidate(NamedTuple):
    """A memory to compare with, the cosine of both embedded texts, and whether it is one of the nearest.

    One that is not has the same subject, so only what both claim of it is compared.
    """

    memory: Memory
    cosine: float
    near: bool = True


class Comparing(msgspec.Struct, frozen=True):
    """Comparison of memories in one space."""

    space: SpaceRow
    encoder: Encoder

    def with_each(self, new: Memory, candidates: Sequence[Candidate]) -> tuple[Likeness, ...]:
        """Return the candidates that a new memory resembles or contradicts."""
        found = (self._compared(one, new) for one in candidates)
        return tuple(sorted((one for one in found if one is not None), key=lambda one: _RANKS.index(one.kind)))

    def among(self, made: Sequence[Memory], directions: Floats) -> tuple[tuple[tuple[int, Likeness], ...], ...]:
        """Return for each memory of a batch the earlier ones that it resembles or contradicts."""
        if len(made) == 1:
            return ((),)
        nearness = directions @ directions.T
        near, earlier = np.tril(nearness, -1) >= SIMILARITY_MIN, of_subject_before([one.content for one in made])
        found: list[tuple[tuple[int, Likeness], ...]] = []
        for place, new in enumerate(made):
            others = {other: True for other in np.flatnonzero(near[place]).tolist()}
            others = {**dict.fromkeys(earlier[place], False), **others}
            pairs = (
                (other, self._compared(Candidate(made[other], float(nearness[other, place]), others[other]), new))
                for other in sorted(others)
            )
            found.append(tuple((other, one) for other, one in pairs if one is not None))
        return tuple(found)

    def _compared(self, one: Candidate, new: Memory) -> Likeness | None:
        old, cosine, near = one
        if _apart(old, new) or max(old.tokens, new.tokens) > MAX_TOKENS:
            return None
        if near and not (self._is_bare(old) and self._is_bare(new)):
            first, second = self.encoder.encode([old.content, new.content])
            cosine = float(first @ second)
        verdict = judge(old.content, new.content, cosine if near else FAR, self.encoder.encode)
        if verdict is not None and _differ(old.author and fold(old.author), new.author and fold(new.author)):
            verdict = of_two_authors(verdict, old.content, new.content)
        policy = self.space.space.policy
        if near and cosine >= (policy.similarity_limit or NEVER):
            differs = () if verdict is None else verdict.differs
            verdict = Verdict("conflict" if differs else "duplicate", differs)
        if verdict is None:
            return None
        if verdict.kind == "possible_conflict" and policy.review_limit and cosine < policy.review_limit:
            verdict = Verdict("similar", verdict.differs)
        return likeness(old, verdict.kind, min(round(cosine, 4), 1.0), verdict.differs)

    def _is_bare(self, memory: Memory) -> bool:
        """Return whether only the content was embedded."""
        return not any(
            getattr(memory, field) for field in self.space.space.settings.embedded_fields if field != "content"
        )


def _apart(one: Memory, other: Memory) -> bool:
    """Return whether the fields of two memories show that they are about different things, whatever their texts say."""
    return (
        one.kind != other.kind
        or _differ((one.category, one.key) if one.key else None, (other.category, other.key) if other.key else None)
        or _differ(one.event_at and one.event_at.date(), other.event_at and other.event_at.date())
        or _ends_before(one, other)
        or _ends_before(other, one)
        or ("session" in one.metadata and "session" in other.metadata)
        or (one.conversation is not None and other.conversation is not None)
        or one.document is not None
        or other.document is not None
    )


def _ends_before(one: Memory, other: Memory) -> bool:
    """Return whether one memory stops being valid before the other becomes valid."""
    return one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from


def _differ(one: object, other: object) -> bool:
    """Return whether both values are given and differ."""
    return one is not None and other is not None and one != other
