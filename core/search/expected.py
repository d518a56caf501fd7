"""Explain why memories that a caller expects are hits or not, from the ranking that made the hits and from the store.

The store says what a memory was at the point that was searched. The snapshot and the ranking say the rest, so that an
explanation cannot contradict the hits beside it.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np

from muisti.core.index.lexical import containing
from muisti.core.index.snapshot import RowNumbers
from muisti.core.kernels import Codes, Doubles, Longs, Mask
from muisti.core.model.hits import Hit, Reason, Reasoned
from muisti.core.model.times import to_us
from muisti.core.model.values import STRUCTURAL, Memory, Version
from muisti.core.query.filters import fields_of
from muisti.core.search.found import Hits
from muisti.core.search.query_vectors import Like, rows_of
from muisti.core.search.rankers import RANKERS, Asked, Expected, Extra, Name
from muisti.core.search.ranking import Ranked, rank
from muisti.core.search.refined import pool_of
from muisti.core.store.database import Database
from muisti.core.store.sql import memories, version_rows

RANKED = {"lexical": "words", "dense": "meaning", "graph": "graph"}  # names of rankings in sentences


class Standing:
    """The rank of every allowed memory in one ranking: by the highest score of its passages, then by memory id."""

    def __init__(self, asked: Asked, name: Name) -> None:
        rows, c = np.flatnonzero(asked.allowed.mask), asked.snapshot.columns
        self._versions, starts = cast(tuple[Longs, Longs], np.unique(c.version[rows], return_index=True))
        scores = RANKERS[name](asked).scores(rows)
        self._best: Doubles = np.maximum.reduceat(scores, starts) if len(rows) else np.empty(0)
        self._high: Codes = c.id_high[rows[starts]]
        self._low: Codes = c.id_low[rows[starts]]

    def rank(self, version: int) -> int | None:
        """Return the rank of an allowed version, from 1; None when its score is not above 0."""
        at = int(np.searchsorted(self._versions, version))
        own, high, low = self._best[at], self._high[at], self._low[at]
        if own <= 0:
            return None
        first: Mask = (self._high < high) | ((self._high == high) & (self._low < low))
        return 1 + int(np.count_nonzero((self._best > own) | ((self._best == own) & first)))


class Explaining:
    """Explains memories of one search, after it was ranked."""

    def __init__(self, ranked: Ranked, extra: Extra, expected: Expected, hits: Sequence[Hit], enough: bool) -> None:
        """`enough` says whether there is the evidence that the search demands."""
        asked = ranked.asked
        self._index, self._snapshot, self._query, self._wanted = asked.index, asked.snapshot, asked.query, asked.wanted
        self._now, self._extra, self._expected, self._ranked = asked.now, extra, expected, ranked
        self._enough = enough
        self._hits = {hit.memory.id: rank for rank, hit in enumerate(hits, start=1)}

    def of(self, database: Database) -> tuple[Reasoned, ...]:
        """Return one explanation for each expected memory, in the order of the request."""
        space, ids = self._index.space, self._expected.ids
        answers = database.read([memories.history(space, version_rows.raw(one)) for one in ids])
        name = space.space.name
        return tuple(
            self._one(memory_id, [version_rows.version(row, name) for row in rows])
            for memory_id, rows in zip(ids, answers, strict=True)
        )

    def _one(self, memory_id: str, versions: Sequence[Version]) -> Reasoned:
        """Explain a memory; `versions` are all that are stored, newest first."""
        number = self._snapshot.seq.number
        begun = [one for one in versions if one.born <= number]
        told = begun[0] if begun else versions[-1] if versions else None
        if told is None or not self._expected.shows(told.memory.category):
            return Reasoned(id=memory_id, reason="unknown", sentence="There is no memory with this id.")
        if not begun:
            added = told.born_at.isoformat()
            return _plain(told.memory, "not_yet", f"It was added at {added}, after the point that was searched.")
        if told.died is not None and told.died <= number:
            when = "" if told.died_at is None else f" at {told.died_at.isoformat()}"
            return _plain(told.memory, "deleted", f"It was deleted{when}.")
        return self._hidden(told.memory) or self._left_out(told.memory) or self._placed(told.memory)

    def _hidden(self, memory: Memory) -> Reasoned | None:
        """Explain a memory that searches do not show in its state; None for others."""
        if memory.kind in STRUCTURAL:
            return _plain(memory, "kind", f"It is an object of kind {memory.kind}, which searches do not find.")
        if memory.expires_at is not None and to_us(memory.expires_at) <= self._now:
            return _plain(memory, "expired", f"It expired at {memory.expires_at.isoformat()}.")
        if self._query.filter is not None and "status" in fields_of(self._query.filter):
            return None
        if memory.status == "superseded":
            return _plain(memory, "superseded", f"Memory {memory.superseded_by} has replaced it.")
        if memory.status != "active":
            return _plain(memory, "status", f"It is {memory.status}, not active; a filter on status finds it.")
        return None

    def _left_out(self, memory: Memory) -> Reasoned | None:
        """Explain a memory that the filter, required words or `similar_to` exclude; None for others."""
        rows, selections, size = self._rows(memory), self._index.selections(self._snapshot), self._snapshot.size
        failed = sorted(
            name
            for names, filter in self._expected.conditions
            if not selections.mask(filter, size)[rows].any()
            for name in names
        )
        if failed:
            fields = tuple(dict.fromkeys(failed))
            return _plain(memory, "filter", f"The filter excludes it, by {' and '.join(fields)}.", fields)
        if self._extra.like is not None and self._extra.like.id == memory.id:
            return _plain(memory, "query", "It is the memory of similar_to, which is no hit itself.")
        if not self._ranked.asked.allowed.mask[rows].any():
            lacking = tuple(self._lacking(rows))
            return _plain(memory, "words", f"It lacks what a hit must have: {', '.join(lacking)}.", lacking)
        return None

    def _lacking(self, rows: RowNumbers) -> list[str]:
        """Return the required words, as stems, and phrases that these rows lack."""
        everything = np.ones(self._snapshot.size, np.bool_)
        words = [
            term
            for term in sorted(self._wanted.required)
            if not containing(self._snapshot, (term,), (), everything)[rows].any()
        ]
        phrases = [
            f'"{" ".join(phrase)}"'
            for phrase in (*self._wanted.phrases, *self._wanted.quoted)
            if not containing(self._snapshot, (), (phrase,), everything)[rows].any()
        ]
        return words + phrases or ["all of its words and phrases in one passage"]

    def _placed(self, memory: Memory) -> Reasoned:
        """Explain a memory that the search allows, by its place among the candidates."""
        rows = self._rows(memory)
        rows = rows[self._ranked.asked.allowed.mask[rows]]
        version, ranked = int(self._snapshot.columns.version[rows[0]]), self._ranked
        ranks, at = self._ranks(version), _place(ranked, version)
        reason: Reason | None = None
        if at is None and (not ranked.found.rankings or not ranks):
            return _plain(memory, "no_match", _unmatched(ranked))
        if at is None:
            reason, ranked = "not_proposed", rank(ranked.asked, rows)
            at = _place(ranked, version)
            assert at is not None
        place = int(ranked.ordered[at])
        score = min(float(ranked.every[place]), 1.0)
        reason = reason or self._reason(memory, place, score)
        number = self._hits.get(memory.id, at + 1)
        last = float(self._ranked.score[-1]) if len(self._ranked.score) else None
        return Reasoned(
            id=memory.id,
            reason=reason,
            sentence=self._sentence(reason, number, score, last, ranks),
            rank=number,
            score=score,
            last_score=last,
            ranks=ranks,
            explain=Hits(ranked).explained(place),
        )

    def _reason(self, memory: Memory, place: int, score: float) -> Reason:
        if memory.id in self._hits:
            return "found"
        if place in self._ranked.places.tolist():
            return "applies" if self._enough else "evidence"
        options, refined = self._extra.options, self._ranked.refined
        assert refined is not None
        if score < options.min_score:
            return "min_score"
        leading = refined.leading.tolist()
        if place not in leading:
            return "group"
        compared = pool_of(options, self._query.limit) if options.diversity else 0
        return "diversity" if place in leading[:compared] else "limit"

    def _sentence(self, reason: Reason, rank: int, score: float, last: float | None, ranks: Mapping[str, int]) -> str:
        """Return in words why a candidate, or one that no ranking proposes, is a hit or none."""
        options, own = self._extra.options, f"its score is {score:.3f}"
        below = own if last is None else f"{own}, that of the last hit {last:.3f}"
        pool = pool_of(options, self._query.limit)
        named = _named(ranks)
        return {
            "found": f"It is hit {rank}{named}.",
            "evidence": f"It ranks {rank}{named}, but there is less evidence than {self._query.min_evidence}.",
            "applies": f"It ranks {rank}{named}, but probably does not answer the question.",
            "min_score": f"It ranks {rank}{named}; {own}, below {options.min_score:g}.",
            "group": f"It ranks {rank}{named}, behind another memory with the same {options.group_by}.",
            "diversity": f"It ranks {rank}{named}, but is too similar to hits before it.",
            "limit": f"It ranks {rank}{named}, and there are {self._query.limit} hits at most. I{below[1:]}.",
            "not_proposed": f"No ranking has it among its best {pool}{named}; {below}.",
        }[reason]

    def _ranks(self, version: int) -> Mapping[str, int]:
        """Return the rank of a version in each ranking: where it proposed the version, else among all memories."""
        versions, found = self._snapshot.columns.version, dict[str, int]()
        for name, ranking in self._ranked.found.rankings.items():
            proposed = np.flatnonzero(versions[ranking.best] == version)
            rank = int(proposed[0]) + 1 if len(proposed) else self._standings[name].rank(version)
            if rank is not None:
                found[name] = rank
        return found

    @cached_property
    def _standings(self) -> Mapping[Name, Standing]:
        return {name: Standing(self._ranked.asked, name) for name in self._ranked.found.rankings}

    def _rows(self, memory: Memory) -> RowNumbers:
        return rows_of(self._snapshot, Like(memory.id, ""))


def _place(ranked: Ranked, version: int) -> int | None:
    """Return the place of a version in the order of the candidates, from 0; None for no candidate."""
    versions = ranked.asked.snapshot.columns.version[ranked.found.rows[ranked.ordered]]
    found = np.flatnonzero(versions == version)
    return int(found[0]) if len(found) else None


def _plain(memory: Memory, reason: Reason, sentence: str, conditions: tuple[str, ...] = ()) -> Reasoned:
    by = memory.superseded_by if reason == "superseded" else None
    return Reasoned(id=memory.id, reason=reason, sentence=sentence, conditions=conditions, superseded_by=by)


def _unmatched(ranked: Ranked) -> str:
    by_words = ranked.found.rankings.keys() <= {"lexical"}
    return "It has no word of the query." if by_words else "It has no word of the query, and is not similar to it."


def _named(ranks: Mapping[str, int]) -> str:
    """Return the ranks in brackets, empty for none.

    >>> _named({"lexical": 3, "dense": 1200})
    ' (3 by words, 1,200 by meaning)'
    """
    told = ", ".join(f"{rank:,} by {RANKED.get(name, name)}" for name, rank in ranks.items())
    return f" ({told})" if told else ""
