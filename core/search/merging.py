"""Merging of the answers of several spaces: weighted scores, groups and diversity over all hits, the best evidence."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.kernels import Floats
from muisti.core.model.hits import Answer, Evidence, Group, Hit, Instruction, JointAnswer, Novelty, PartAnswer, Timings
from muisti.core.model.terms import Mode
from muisti.core.model.times import to_us
from muisti.core.query.evidence import enough
from muisti.core.query.filter_fields import Scalar
from muisti.core.query.options import NOTHING, Part
from muisti.core.query.query import Query
from muisti.core.search.diversity import diverse
from muisti.core.search.parts import SPACE
from muisti.core.search.ranking import POOL
from muisti.core.search.refined import SPREAD
from muisti.core.search.searcher import Found

RISING: Sequence[Evidence] = ("none", "uncalibrated", "weak", "strong")


class _Candidate(msgspec.Struct, frozen=True):
    """A hit with its weighted score, the number of its space, its group, and its vector; None when none is needed."""

    hit: Hit
    space: int
    group: Scalar | None
    vector: Floats | None


def part_limit(query: Query) -> int:
    """Return how many hits of each space the best of all are chosen from."""
    options = query.options or NOTHING
    return max(POOL, SPREAD * query.limit) if options.diversity else query.limit


def merged(parts: Sequence[Part], query: Query, found: Sequence[Found]) -> JointAnswer:
    """Merge the answers of the parts, in their order. Equal scores are ordered by part, then by memory id."""
    options = query.options or NOTHING
    answers = [one.answer for one in found]
    candidates = sorted(_candidates(parts, query, found), key=lambda one: _order(one, query.mode))
    candidates = [one for one in candidates if one.hit.score >= options.min_score]
    if options.group_by is not None:
        candidates = _grouped(candidates, found)
    hits = [one.hit for one in candidates]
    if options.diversity:
        hits = _diverse(candidates, query, options.diversity)
    levels: list[Evidence] = [answer.evidence for answer in answers]
    evidence = max(levels, key=RISING.index)
    ran: list[Mode] = [answer.strategy for answer in answers]
    return JointAnswer(
        hits=tuple(hits[: query.limit]) if enough(evidence, query.min_evidence) else (),
        total=sum(answer.total for answer in answers),
        evidence=evidence,
        strength=max(answer.strength for answer in answers),
        strategy=query.mode if query.mode in ran else ran[0],
        degraded=tuple(
            f"{part.space}: {told}" for part, answer in zip(parts, answers, strict=True) for told in answer.degraded
        ),
        timings=_summed([answer.timings for answer in answers]),
        spaces=tuple(
            PartAnswer(
                name=part.space,
                weight=part.weight,
                seq=answer.seq,
                total=answer.total,
                evidence=answer.evidence,
                strength=answer.strength,
                thresholds=answer.thresholds,
                strategy=answer.strategy,
            )
            for part, answer in zip(parts, answers, strict=True)
        ),
        instructions=_instructions(parts, answers, query.instructions),
    )


def _instructions(parts: Sequence[Part], answers: Sequence[Answer], most: int) -> tuple[Instruction, ...]:
    """Return the best instructions of all spaces; equal ones are ordered by part."""
    weighted = [
        replace(one, score=one.score * part.weight)
        for part, answer in zip(parts, answers, strict=True)
        for one in answer.instructions
    ]
    return tuple(sorted(weighted, key=lambda one: -one.score)[:most])


def _candidates(parts: Sequence[Part], query: Query, found: Sequence[Found]) -> Iterator[_Candidate]:
    for number, (part, one) in enumerate(zip(parts, found, strict=True)):
        for place, hit in enumerate(one.answer.hits):
            yield _Candidate(
                hit if query.mode == "recent" else _weighted(hit, part.weight),
                number,
                None if one.groups is None else one.groups.values[place],
                None if one.vectors is None else one.vectors[place],
            )


def _weighted(hit: Hit, weight: float) -> Hit:
    explain = hit.explain
    if explain is not None:
        lost = {SPACE: hit.score * weight - hit.score} if weight != 1 else {}
        explain = replace(explain, space_weight=weight, parts={**explain.parts, **lost})
    return replace(hit, score=hit.score * weight, explain=explain)


def _order(one: _Candidate, mode: Mode) -> tuple[float, float, int, str]:
    """Return the key of the order: by score; in lists of memories by age too, or by age alone."""
    memory = one.hit.memory
    at = to_us(memory.event_at or memory.created_at) if mode in ("metadata", "recent") else 0
    return 0.0 if mode == "recent" else -one.hit.score, -at, one.space, memory.id


def _grouped(candidates: Sequence[_Candidate], found: Sequence[Found]) -> list[_Candidate]:
    """Keep the best hit of each group, with the counts of all spaces."""
    every = [one.groups.every for one in found if one.groups is not None]
    best: dict[tuple[type, Scalar | None], _Candidate] = {}
    for one in candidates:
        best.setdefault((type(one.group), one.group), one)  # True and 1 are two groups
    return [replace(one, hit=replace(one.hit, group=_counted(one.hit, one.group, every))) for one in best.values()]


def _counted(hit: Hit, value: Scalar | None, every: Sequence[Mapping[Scalar | None, tuple[int, int]]]) -> Group | None:
    counts = [groups.get(value, (0, 0)) for groups in every]
    if hit.group is None:
        return None
    return replace(hit.group, ranked=sum(ranked for ranked, _ in counts), count=sum(count for _, count in counts))


def _diverse(candidates: Sequence[_Candidate], query: Query, diversity: float) -> list[Hit]:
    """Choose diverse hits among the candidates; those of spaces without vectors count as unlike all others."""
    pool = candidates[: part_limit(query)]
    wide = max((0 if one.vector is None else len(one.vector) for one in pool), default=0)
    vectors = np.zeros((len(pool), wide), np.float32)
    for row, one in zip(vectors, pool, strict=True):
        if one.vector is not None:
            row[: len(one.vector)] = one.vector
    chosen = diverse(np.array([one.hit.score for one in pool]), vectors, diversity, query.limit)
    hits: list[Hit] = []
    places: list[int] = chosen.places.tolist()
    for number, place in enumerate(places):
        hit, relevance, nearest = pool[place].hit, float(chosen.relevance[number]), float(chosen.nearest[number])
        value = (1 - diversity) * relevance - diversity * nearest
        if hit.explain is not None:
            novelty = Novelty(relevance=relevance, nearest=nearest, value=value)
            hit = replace(hit, explain=replace(hit.explain, novelty=novelty))
        hits.append(hit)
    return hits


def _summed(timings: Sequence[Timings]) -> Timings:
    names = Timings.__struct_fields__
    return Timings(**{name: sum(getattr(one, name) for one in timings) for name in names})
