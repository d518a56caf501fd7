"""Searches as a caller asks them: in one space or in several, with their options resolved.

This is the only place that resolves options and merges the answers of several spaces. HTTP, MCP and contexts call it
through the views. A program in the same process may ask for up to `CANDIDATES_MAX` hits, more than a request.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.graph.answers import FactAnswers
from muisti.core.graph.pagerank import EntityFilters, Walks
from muisti.core.identity.caller import Caller
from muisti.core.kernels import Floats
from muisti.core.model.choices import SPACES_MAX, Mode
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.hits import (
    Answer,
    Evidence,
    Group,
    Hit,
    Instruction,
    Intent,
    JointAnswer,
    PartAnswer,
    Recency,
    Timings,
)
from muisti.core.model.times import to_us
from muisti.core.query import intent
from muisti.core.query.evidence import enough
from muisti.core.query.filter_fields import Scalar
from muisti.core.query.filters import And, Filter, conditions_of, fields_of
from muisti.core.query.query import NOTHING, Part, Query
from muisti.core.read.hierarchy import resolved_at
from muisti.core.read.reading import find_space, named, read_at, shown
from muisti.core.search.applied import surfaced
from muisti.core.search.explanation import SPACE
from muisti.core.search.query_vectors import Like
from muisti.core.search.rankers import Expected, Extra
from muisti.core.search.refined import diverse, pool_of
from muisti.core.search.searcher import Found, Searcher
from muisti.core.store.database import Database
from muisti.core.text.when.zones import zone_named

# Merging of the answers of several spaces: weighted scores, groups and diversity over all hits, the best evidence

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
    return pool_of(options, query.limit) if options.diversity else query.limit


def merged(parts: Sequence[Part], query: Query, found: Sequence[Found]) -> JointAnswer:
    """Merge the answers of the parts, in their order. Equal scores are ordered by part, then by memory id."""
    options = query.options or NOTHING
    answers = [one.answer for one in found]
    candidates = sorted(_candidates(parts, query, found), key=lambda one: _order(one, query.mode))
    candidates = [one for one in candidates if one.hit.score >= options.min_score]
    if options.group_by is not None:
        candidates = _grouped(candidates, found)
    ranked = _diverse(candidates, query, options.diversity) if options.diversity else [one.hit for one in candidates]
    levels: list[Evidence] = [answer.evidence for answer in answers]
    evidence = max(levels, key=RISING.index)
    ran: list[Mode] = [answer.strategy for answer in answers]
    every = ranked[: query.limit] if enough(evidence, query.min_evidence) else ()
    hits = surfaced(every, query.applies)
    return JointAnswer(
        hits=hits,
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
        applies=max((one.applies for one in answers if one.applies is not None), default=None),
        left_out=len(every) - len(hits),
        nearest=every[0] if every and not hits else None,
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
        lost = {SPACE: hit.score * weight - hit.score} if weight != 1 and hit.score else {}
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
        hit = pool[place].hit
        if hit.explain is not None:
            hit = replace(hit, explain=replace(hit.explain, novelty=chosen.novelty(number, diversity)))
        hits.append(hit)
    return hits


def _summed(timings: Sequence[Timings]) -> Timings:
    names = Timings.__struct_fields__
    return Timings(**{name: sum(getattr(one, name) for one in timings) for name in names})


CANDIDATES_MAX = 200  # hits of a search in this process


class _Resolved(msgspec.Struct, frozen=True):
    """A query after its options were resolved, and the reading of its intent."""

    query: Query
    extra: Extra
    intent: Intent | None = None
    lacks: tuple[str, ...] = ()


class Asking(msgspec.Struct, frozen=True):
    """Searches of callers. Thread-safe."""

    database: Database
    searcher: Searcher
    entities: EntityFilters
    walks: Walks
    facts: FactAnswers

    def one(self, space: str, query: Query, caller: Caller, now: int, max_age: float = 0.0) -> Answer:
        """Return the best memories of a space that the caller sees; `now` is in microseconds.

        Raises:
            NotFound: there is no such space, or no memory of `similar_to` for this caller.
        """
        stated = query
        query, lacks = self._of_entities(space, query, caller, now)
        if query.options is None:
            return _told(self.searcher.search(space, self.own(space, query, caller, now), now, max_age), lacks)
        resolved = self._resolved([space], query, caller, now)
        own = self.own(space, resolved.query, caller, now)
        extra = resolved.extra
        if extra.options.explain_ids:
            extra = replace(extra, expected=self._expected(space, stated, resolved.intent, caller, now))
        answer = _told(self.searcher.search(space, own, now, max_age, extra), (*lacks, *resolved.lacks))
        return answer if resolved.intent is None else replace(answer, intent=resolved.intent)

    def several(
        self,
        parts: Sequence[Part],
        query: Query,
        caller: Caller,
        now: int,
        max_age: float = 0.0,
        elsewhere: Mapping[str, "Asking"] = {},
    ) -> JointAnswer:
        """Return the best memories of several spaces, of which `caller` must be allowed to read each.

        A score is that of the memory in its space, times the weight of the space. `elsewhere` has the searches of
        spaces in other databases, which are asked at the same time.

        Raises:
            InvalidInput: spaces or weights are bad, or scores of several spaces cannot be compared.
            NotFound: one of the spaces does not exist, or no memory of `similar_to` for this caller.
        """
        check_parts(parts, query)
        of = [elsewhere.get(part.space, self) for part in parts]
        if len(set(map(id, of))) > 1 and query.options is not None and query.options.similar_to is not None:
            raise InvalidInput.at("$.similar_to", "these spaces are in several databases; search each on its own")
        resolved = of[0]._resolved([part.space for part in parts], query, caller, now, joint=True)
        asked = resolved.query
        apart = None if asked.options is None else replace(asked.options, diversity=0.0)  # hits of all are diversified
        each = replace(asked, limit=part_limit(asked), min_evidence=None, applies=None, options=apart)
        extra = replace(resolved.extra, options=apart or NOTHING)

        def ask(asking: "Asking") -> tuple[list[Found], float]:
            began = perf_counter()
            mine = [part for part, its in zip(parts, of, strict=True) if its is asking]
            found = [asking._part(part.space, each, caller, now, max_age, extra) for part in mine]
            return found, 1000 * (perf_counter() - began)

        databases = list({id(asking): asking for asking in of}.values())
        if len(databases) == 1:
            return replace(merged(parts, asked, ask(of[0])[0]), intent=resolved.intent)
        with ThreadPoolExecutor(len(databases)) as threads:
            answers = dict(zip(map(id, databases), threads.map(ask, databases), strict=True))
        slowest = max(databases, key=lambda asking: answers[id(asking)][1])
        its = {id_: iter(found) for id_, (found, _) in answers.items()}
        joint = merged(parts, asked, [next(its[id(asking)]) for asking in of])
        named = parts[of.index(slowest)].space
        return replace(joint, intent=resolved.intent, slowest=(named, answers[id(slowest)][1]))

    def _part(self, space: str, each: Query, caller: Caller, now: int, max_age: float, extra: Extra) -> Found:
        """Search one of several spaces."""
        own, lacks = self._of_entities(space, each, caller, now)
        beside, missing = self._beside(space, own, caller, now, extra)
        one = self.searcher.found(space, self.own(space, own, caller, now), now, max_age, beside)
        return replace(one, answer=_told(one.answer, (*lacks, *missing)))

    def own(self, space: str, query: Query, caller: Caller, now: int) -> Query:
        """Return the query limited to what the caller sees; names of sessions, topics and entities are looked up."""
        if query.filter is None:  # it names nothing
            filter = caller.only(None)
        else:
            query, _ = self._of_entities(space, query, caller, now)
            filter = resolved_at(self.database, space, caller.only(query.filter), query.as_of, now)
        return query if filter is query.filter else replace(query, filter=filter, own=_category(caller))

    def _of_entities(self, space: str, query: Query, caller: Caller, now: int) -> tuple[Query, tuple[str, ...]]:
        """Return the query without names of entities in its filter, and in words what is missing."""
        filter, lacks = self.entities.meant(space, query.filter, caller, query.as_of, now)
        return query if filter is query.filter else replace(query, filter=filter), lacks

    def _beside(
        self, space: str, query: Query, caller: Caller, now: int, extra: Extra
    ) -> tuple[Extra, tuple[str, ...]]:
        """Return what the rankings beside those of the mode find, those with a weight, and in words what is missing."""
        options, lacks = query.options or NOTHING, list[str]()
        if options.rankings.get("graph"):
            walked, missing = self.walks.ask(space, query.text, caller, now, query.as_of)
            extra, lacks = replace(extra, walked=walked), [*missing]
        if options.facts:
            facts = self.facts.ask(space, query.text, caller, now, query.as_of)
            extra, lacks = replace(extra, facts=facts), [*lacks, *facts.degraded]
        return extra, tuple(dict.fromkeys(lacks))

    def _resolved(
        self, spaces: Sequence[str], query: Query, caller: Caller, now: int, *, joint: bool = False
    ) -> _Resolved:
        options = query.options or NOTHING
        told = None
        if options.intent is not None:
            asked_at = now if query.reference_time is None else query.reference_time
            zone = query.time_zone or find_space(self.database, spaces[0]).space.policy.time_zone
            told = intent.read(query.text, asked_at, zone_named(zone))
            if options.intent == "applied":
                query, told = _followed(query, told), replace(told, applied=True)
                options = query.options or NOTHING
        like = None if options.similar_to is None else self._like(spaces, options.similar_to, query, caller, now)
        decay = query.recency or Recency()
        if options.preset is not None:
            query = replace(query, recency=Recency(weight=0.0))  # age is a part of the composite
        elif weight := options.signals.get("recency", 0.0):
            query = replace(query, recency=replace(decay, weight=weight))
        extra, lacks = Extra(options=options, like=like, sees=_category(caller), recency=decay, joint=joint), ()
        if not joint:
            extra, lacks = self._beside(spaces[0], query, caller, now, extra)
        return _Resolved(query, extra, told, lacks)

    def _expected(self, space: str, stated: Query, told: Intent | None, caller: Caller, now: int) -> Expected:
        """Return the memories of `explain_ids`, with the conditions of the stated filter and of an applied intent."""
        assert stated.options is not None
        parts = [*conditions_of(stated.filter)]
        if told is not None and told.applied:
            parts += conditions_of(intent.narrowed(told))
        meant = [(fields_of(part), self.own(space, replace(stated, filter=part), caller, now).filter) for part in parts]
        return Expected(
            ids=tuple(dict.fromkeys(stated.options.explain_ids)),
            conditions=[(names, filter) for names, filter in meant if filter is not None],
            shows=caller.shows,
        )

    def _like(self, spaces: Sequence[str], memory_id: str, query: Query, caller: Caller, now: int) -> Like:
        """Return the memory of the first space that has it.

        Raises:
            NotFound: none has it for this caller.
        """
        for space in spaces:
            _, point, (rows,) = read_at(
                self.database, space, query.as_of, now, lambda row, point: [named(row, memory_id, point)]
            )
            try:
                return Like(memory_id, shown(rows, space, memory_id, caller, point.time).content)
            except NotFound:
                if space == spaces[-1]:
                    raise
        raise NotFound("memory", memory_id)


def _told(answer: Answer, lacks: tuple[str, ...]) -> Answer:
    return replace(answer, degraded=(*answer.degraded, *lacks)) if lacks else answer


def check_parts(parts: Sequence[Part], query: Query) -> None:
    """Raise `InvalidInput` unless the scores of these spaces can be compared."""
    names = [part.space for part in parts]
    if not 1 <= len(parts) <= SPACES_MAX:
        raise InvalidInput.at("$.spaces", f"names {len(parts)} spaces; 1 to {SPACES_MAX} are allowed")
    if len(set(names)) < len(names):
        raise InvalidInput.at("$.spaces", "names a space twice")
    for number, part in enumerate(parts):
        if not 0 < part.weight <= 1:
            raise InvalidInput.at(f"$.spaces[{number}].weight", f"{part.weight} is not above 0 and at most 1")
    if query.mode == "hybrid" and query.fusion != "absolute" and len(parts) > 1:
        raise InvalidInput.at("$.fusion", f"{query.fusion} scales scores within a space; several need absolute")
    if query.as_of is not None and query.as_of.time is None and len(parts) > 1:
        raise InvalidInput.at("$.as_of", "must be a time: each space counts its changes by itself")


def _category(caller: Caller) -> Filter | None:
    return None if caller.category is None else caller.only(None)


def _followed(query: Query, told: Intent) -> Query:
    narrowed = intent.narrowed(told)
    both = [one for one in (query.filter, narrowed) if one is not None]
    options = replace(query.options or NOTHING, similar_to=told.similar_to)
    mode: Mode = told.mode
    if mode == "recent" and (options.weighs or options.diversity):
        mode = "metadata"  # signals need scores, of which age alone has none
    return replace(
        query,
        text=told.text,
        mode=mode,
        match="any" if told.similar_to or not told.text else query.match,
        filter=And(tuple(both)) if len(both) > 1 else both[0] if both else None,
        options=options,
    )
