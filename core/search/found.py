"""Hits: built from ranked rows and the memories that were fetched for them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import cast

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from muisti.core.index.lexical import Around, shares
from muisti.core.index.snapshot import Snapshot
from muisti.core.kernels import Doubles
from muisti.core.model.choices import Signal
from muisti.core.model.chunks import located, overlap_of, place_of
from muisti.core.model.hits import (
    Explanation,
    FactMatch,
    Fusion,
    Group,
    Hit,
    NamedTime,
    QuoteMatch,
    SecondCosine,
    SignalShare,
    Surroundings,
    SymbolMatch,
)
from muisti.core.model.messages import messages_of
from muisti.core.model.times import from_us
from muisti.core.model.values import Json, Memory, Passage
from muisti.core.query.points import Point
from muisti.core.query.query import PATHS
from muisti.core.read.hierarchy import situated
from muisti.core.search.explanation import parts_of, sentence
from muisti.core.search.factors import ages_in_days
from muisti.core.search.fusion import alpha_of
from muisti.core.search.rankers import Name
from muisti.core.search.ranking import Ranked
from muisti.core.store.database import Database
from muisti.core.store.sql import chunks, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.highlight import highlight
from muisti.core.text.when.time_spans import TimeSpan, time_match


def versions_of(snapshot: Snapshot, ranked: Ranked) -> list[int]:
    """Return the version ids of the hits, then those of their neighbours."""
    versions = snapshot.columns.version
    found = versions[ranked.rows].tolist()
    for one in ranked.around:
        found += versions[[*one.before, *one.after]].tolist() if one.before or one.after else ()
    return found


class Hits:
    """Builds hits from ranked rows and fetched memories."""

    def __init__(self, ranked: Ranked, applies: Doubles | None = None) -> None:
        """`applies` has the probability that each hit answers, None where it is not known."""
        self._ranked, self._query, self._snapshot = ranked, ranked.asked.query, ranked.asked.snapshot
        self._applies: list[float | None] = [None] * len(ranked.places)
        if applies is not None:
            self._applies = applies.round(4).tolist()

    def of(self, fetched: Mapping[int, Memory]) -> tuple[Hit, ...]:
        """Return a hit for each ranked memory; `fetched` has the memories by version id."""
        c, rows = self._snapshot.columns, self._ranked.rows
        versions = c.version[rows].tolist()
        passages = zip(c.number[rows].tolist(), c.start[rows].tolist(), c.stop[rows].tolist(), strict=True)
        places = [
            (name, dict(zip(c.version[ranking.best].tolist(), count(1), strict=False)))
            for name, ranking in self._ranked.found.rankings.items()
        ]
        scores, found = self._ranked.score.tolist(), self._ranked.places.tolist()
        extra = self._ranked.asked.extra
        facts: Mapping[int, tuple[str, ...]] = {} if extra is None else extra.facts.lines
        marks, terms = self._query.highlight, set(self._ranked.asked.wanted.terms)
        hits: list[Hit] = []
        every = zip(versions, passages, scores, found, self._applies, strict=True)
        for version, passage, score, place, applies in every:
            memory = fetched[version]
            ranks = {name: known[version] for name, known in places if version in known}
            marked = highlight(memory.content[passage[1] : passage[2]], terms) if marks else None
            why = self.explained(place) if self._query.explain else None
            hits.append(
                Hit(
                    memory=memory,
                    score=score,
                    ranks=ranks,
                    passage=Passage(*passage),
                    applies=applies,
                    highlight=marked,
                    explain=why,
                    facts=facts.get(version, ()),
                    speaker=_speaker(memory, passage[1]),
                )
            )
        return tuple(hits) if self._ranked.refined is None else self._refined(hits, fetched)

    def _refined(self, hits: Sequence[Hit], fetched: Mapping[int, Memory]) -> tuple[Hit, ...]:
        around = self._ranked.around
        return tuple(
            replace(
                hit,
                group=self._group(number, hit.memory),
                context=self._context(around[number], fetched) if around else None,
                explain=self._novel(number, hit.explain),
            )
            for number, hit in enumerate(hits)
        )

    def _group(self, number: int, memory: Memory) -> Group | None:
        options, refined = self._query.options, self._ranked.refined
        if options is None or options.group_by is None or refined is None or refined.groups is None:
            return None
        field, groups = options.group_by, refined.groups
        plain = field.startswith(PATHS)  # columns of other fields are folded, or hold numbers and bytes
        value = groups.values[number] if plain else getattr(memory, field)
        return Group(value=cast(Json, value), ranked=groups.ranked[number], count=groups.counts[number])

    def _context(self, one: Around, fetched: Mapping[int, Memory]) -> Surroundings:
        versions = self._snapshot.columns.version
        return Surroundings(
            before=tuple(fetched[int(versions[row])] for row in one.before),
            after=tuple(fetched[int(versions[row])] for row in one.after),
            start=one.start,
            stop=one.stop,
        )

    def _novel(self, number: int, explain: Explanation | None) -> Explanation | None:
        refined, options = self._ranked.refined, self._query.options
        if explain is None or options is None or refined is None or refined.diverse is None:
            return explain
        return replace(explain, novelty=refined.diverse.novelty(number, options.diversity))

    def explained(self, place: int) -> Explanation:
        """Return the factors of the score of the candidate at a place."""
        ranked, found, query = self._ranked, self._ranked.found, self._query
        row = int(found.rows[place])
        lexical = found.score("lexical", place)
        fusion = query.fusion if self._ranked.asked.mode == "hybrid" else None
        terms = {} if found.matches is None else shares(self._snapshot, found.matches, self._ranked.asked.wanted, row)
        told = Explanation(
            fusion=fusion,
            alpha=self._alpha(fusion),
            lexical=lexical,
            bm25=None if lexical is None else sum(terms.values()),
            cosine=found.score("dense", place),
            blend=None if found.blend is None else found.blend.parts(place),
            fused=float(found.fused[place]),
            time=_time(found.spans, int(self._snapshot.columns.at[row])),
            recency=1.0 if ranked.recency is None else float(ranked.recency[place]),
            decay=UNSET if query.recency is None else query.recency.stated(),
            importance=float(ranked.importance[place]),
            refreshed_days=0.0 if ranked.refreshed is None else float(ranked.refreshed[place]),
            trust=1.0 if ranked.trust is None else float(ranked.trust[place]),
            feedback=1.0 if ranked.feedback is None else float(ranked.feedback[place]),
            age_days=float(ages_in_days(self._snapshot.columns.at[row : row + 1], self._ranked.asked.now)[0]),
            terms=terms,
            answer=UNSET if ranked.answer is None else float(ranked.answer[place]),
            facts=self._facts(place),
            graph=self._graph(place),
            signals=self._signals(place),
            composite=self._composite(place),
            symbol=self._symbol(place),
            quoted=self._quoted(place),
            second=self._second(place),
            parts={},
            sentence="",
        )
        brought: dict[Name, float] = {name: float(one[place]) for name, one in (found.shares or {}).items()}
        return replace(told, parts=parts_of(told, brought), sentence=sentence(told, self._ranked.asked.mode))

    def _alpha(self, fusion: Fusion | None) -> float | None:
        """Return the weight of meaning that was used: a search for code has another one than prose."""
        if fusion is None:
            return None
        blend = self._ranked.found.blend
        return alpha_of(fusion, self._query.alpha) if blend is None else blend.alpha

    def _graph(self, place: int) -> SignalShare | UnsetType:
        score, options = self._ranked.found.score("graph", place), self._query.options
        if score is None or options is None or self._ranked.graph is None:
            return UNSET
        weight = options.rankings["graph"]
        return SignalShare(score=score, weight=weight, contribution=float(self._ranked.graph[place]))

    def _signals(self, place: int) -> Mapping[Signal, SignalShare] | UnsetType:
        signals = self._ranked.signals
        if signals is None:
            return UNSET
        return {
            name: SignalShare(
                score=float(signals.scores[name][place]),
                weight=weight,
                contribution=float(signals.contribution(name)[place]),
            )
            for name, weight in signals.weights.items()
        }

    def _composite(self, place: int) -> float | UnsetType:
        signals = self._ranked.signals
        return UNSET if signals is None or signals.composite is None else float(signals.composite[place])

    def _symbol(self, place: int) -> SymbolMatch | UnsetType:
        found = self._ranked.symbol
        return SymbolMatch(name=found.name, above=found.above) if found and found.flags[place] else UNSET

    def _facts(self, place: int) -> FactMatch | UnsetType:
        found = self._ranked.facts
        return FactMatch(above=found.above) if found and found.flags[place] else UNSET

    def _second(self, place: int) -> SecondCosine | UnsetType:
        vectors, meaning = self._ranked.asked.vectors, self._ranked.found.meaning
        if vectors is None or vectors.second is None or meaning is None or meaning.second is None:
            return UNSET
        assert meaning.share is not None
        return SecondCosine(
            own=float(meaning.own[place]),
            second=float(meaning.second[place]),
            share=float(meaning.share[place]),
            mapped=vectors.second.mapped,
        )

    def _quoted(self, place: int) -> QuoteMatch | UnsetType:
        found = self._ranked.quoted
        return QuoteMatch(above=found.above) if found and found.flags[place] else UNSET


def _speaker(memory: Memory, at: int) -> str | None:
    """Return who says the character `at` of a turn; None for a memory that is no turn."""
    if memory.kind == "exchange":
        return [one.speaker for one in messages_of(memory) if one.start <= at][-1]
    return memory.author if memory.conversation is not None or "session" in memory.metadata else None


def _time(spans: Sequence[TimeSpan], at: int) -> NamedTime | None:
    match = time_match(spans, at)
    if match is None:
        return None
    return NamedTime(words=match.words, start=_moment(match.start), stop=_moment(match.stop), factor=match.factor)


def _moment(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)


# Places of hits in documents and conversations, by one statement for all hits of an answer


def placed(hits: tuple[Hit, ...], database: Database, space: SpaceRow, number: int) -> tuple[Hit, ...]:
    """Return hits with the places of chunks in their documents, as they were at change `number`."""
    ids = [hit.memory.id for hit in hits if hit.memory.kind == "chunk" and hit.memory.document is not None]
    if not ids:
        return hits
    (rows,) = database.read([chunks.ends(space, [version_rows.raw(one) for one in ids], Point(number, 0))])
    ends = {cast(bytes, row[0]): cast(tuple[int, int], row[1:3]) for row in rows}
    return tuple(_placed(hit, ends) for hit in hits)


def turns_placed(
    found: dict[int, Memory], database: Database, space: SpaceRow, number: int, known: dict[int, Memory]
) -> dict[int, Memory]:
    """Return memories by version, turns with their session and topic at change `number`; `known` remembers these."""
    turns = [version for version, one in found.items() if one.kind == "exchange" and one.conversation is not None]
    if not turns:
        return found
    missing = [version for version in turns if version not in known]
    if missing:
        placed = situated(database, space, [found[version] for version in missing], Point(number, 0))
        known.update(zip(missing, placed, strict=True))
    return {**found, **{version: known[version] for version in turns}}


def _placed(hit: Hit, ends: Mapping[bytes, tuple[int, int]]) -> Hit:
    end = ends.get(version_rows.raw(hit.memory.id))
    if end is None:
        return hit
    own = hit.memory.content[overlap_of(hit.memory) :]
    return replace(hit, place=place_of(located(hit.memory, end[0] - len(own), end[1] - own.count("\n"))))
