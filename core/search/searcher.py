"""The read pipeline: parse, embed, rank on the index, fetch from the store; repeated if the index was out of date."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic, perf_counter
from typing import NamedTuple, cast

import msgspec
import numpy as np

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.models import Hosted, Models, absent
from muisti.core.index.cache import Indexes
from muisti.core.index.dense import directions
from muisti.core.index.instructions import NOWHERE, Known
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Floats
from muisti.core.kernels import likeness as loops
from muisti.core.model.errors import ModelMismatch, ModelUnavailable, StoreCorrupt
from muisti.core.model.hits import LATER, Answer, Instruction, Mode, Reasoned, Timings
from muisti.core.model.outcomes import Warmed
from muisti.core.model.spaces import Policy
from muisti.core.model.values import Memory, Stretch
from muisti.core.query.evidence import Calibration, enough
from muisti.core.query.filters import fields_of, may_be
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query, parse, with_other_names
from muisti.core.read.reading import point_of
from muisti.core.search.applied import applied, surfaced
from muisti.core.search.expected import Explaining
from muisti.core.search.factors import with_defaults
from muisti.core.search.found import Hits, placed, turns_placed, versions_of
from muisti.core.search.judged import judged
from muisti.core.search.lifted import answering
from muisti.core.search.query_vectors import QueryEmbedder, turned, wanted_like
from muisti.core.search.rankers import BY_MODE, Asked, Extra
from muisti.core.search.ranking import filtered, rank, seen, visible
from muisti.core.search.refined import Grouped
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import memories, spaces, version_rows
from muisti.core.support.waiting import WouldCrowd, WouldWait

# The lane of standing instructions beside the hits: those that apply to a query, best first.
#
# They are judged by their scope clause, not by the ranking of the hits: "Always cite versions when I ask about
# libraries" has little in common with "What does this project use?". The same memories may be hits as well.

LEAST = 0.1  # cosine from which an instruction applies; one without a scope always does


class Lane(NamedTuple):
    """The instructions that apply, best first: the version id, the place among those `known`, and the score of each."""

    known: Known | None = None
    versions: Sequence[int] = ()
    places: Sequence[int] = ()
    scores: Sequence[float] = ()

    def of(self, fetched: Mapping[int, Memory]) -> tuple[Instruction, ...]:
        """Return the instructions; `fetched` has the memories by version id."""
        known = self.known
        if known is None:
            return ()
        return tuple(
            Instruction(
                memory=fetched[version],
                reason="type" if known.typed[place] else "rule",
                scope=None if known.scopes[place][0] == NOWHERE else Stretch(*known.scopes[place]),
                score=round(score, 4),
            )
            for version, place, score in zip(self.versions, self.places, self.scores, strict=True)
        )


NO_LANE = Lane()


QUICK_ROWS = 1 << 17  # largest index that a lone caller searches on the event loop
BRIEF_ROWS = 1 << 15  # largest index for that with other callers: Python takes more of its time than the loops
QUICK_TEXT = 1_000  # characters of the longest query for that


class _Behind(Exception):
    """The snapshot is too old to answer from. `number` is the change that another must have seen, 0 for any."""

    def __init__(self, number: int) -> None:
        self.number = number


class Found(msgspec.Struct, frozen=True):
    """An answer of one space, and what merges it with those of others.

    `vectors` are those of the passages of the hits, `groups` are those of the hits; None unless asked for.
    """

    answer: Answer
    vectors: Floats | None = None
    groups: Grouped | None = None


class Searcher:
    """Answers queries. Thread-safe; `models` embed the texts.

    The recency of `default` applies where neither a query nor its space names one.
    """

    def __init__(
        self,
        database: Database,
        indexes: Indexes,
        models: Models,
        calibration: Calibration,
        default: Policy,
        embedder: QueryEmbedder,
    ) -> None:
        self._database = database
        self._indexes = indexes
        self._models = models
        self._calibration = calibration
        self._default = default
        self._embedder = embedder

    def on(self, database: Database) -> "Searcher":
        """Return a searcher of another database, with the same settings; it never writes to that database."""
        return self._with(database, self._indexes.on(database))

    def of_shadows(self) -> "Searcher":
        """Return a searcher that answers as the shadows of spaces would."""
        return self._with(self._database, self._indexes.of_shadows())

    def _with(self, database: Database, indexes: Indexes) -> "Searcher":
        return Searcher(database, indexes, self._models, self._calibration, self._default, self._embedder)

    def search(self, space: str, query: Query, now: int, max_age: float = 0.0, extra: Extra | None = None) -> Answer:
        """Return the best memories of a space, best first; `now` is in microseconds.

        The answer may lack what other processes wrote in the last `max_age` seconds. With 0 it lacks nothing. `extra`
        has the options of the query as `core.search.asking` resolves them, None when it has none.

        Raises:
            NotFound: there is no such space.
            ModelMismatch: the model of the space is missing, and the query does not fall back to keywords.
            EpochGone, PastRetention, PointAhead: the space cannot be searched at `query.as_of`.
        """
        return self.found(space, query, now, max_age, extra).answer

    def warm(self, space: str) -> Warmed:
        """Load the index of a space and its model, if they are not in memory. An endpoint is not asked.

        Raises:
            NotFound: there is no such space.
        """
        began = perf_counter()
        was_open = self._indexes.is_open(space)
        index, snapshot = self._indexes.fresh(space)
        model = None if self._models.default is None else self._models.of(index.space.space.generation)
        if model is not None and not isinstance(model, Hosted):
            model.encode_query("warm")
        return Warmed(
            loaded=not was_open,
            fits=self._indexes.fits(index),
            seconds=round(perf_counter() - began, 6),
            model=None if model is None else model.name,
            seq=snapshot.seq,
        )

    def found(self, space: str, query: Query, now: int, max_age: float = 0.0, extra: Extra | None = None) -> Found:
        """Return the answer of `search`, with what merges it with those of other spaces if `extra` says so."""
        if query.as_of is not None:
            return self._search_past(space, query, query.as_of, now, extra)
        opened = self._indexes.past if _seeks_superseded(query) else self._indexes.fresh
        needed = None
        while True:
            index, snapshot = opened(space, needed or 0)
            try:
                return self._tried(query, now, index, snapshot, needed, max_age, extra)
            except _Behind as behind:
                needed = behind.number

    def _search_past(self, space: str, query: Query, as_of: AsOf, now: int, extra: Extra | None) -> Found:
        while True:
            point = point_of(self._database, space, as_of, now)
            assert point.number is not None
            index, snapshot = self._indexes.past(space, point.number)
            if as_of.epoch in (None, snapshot.seq.epoch):
                snapshot = snapshot.as_of(point.number)
                with suppress(_Behind):
                    return self._tried(query, point.time, index, snapshot, point.number, 0.0, extra)

    def search_at_once(self, space: str, query: Query, now: int, max_age: float = 0.0, *, alone: bool = True) -> Answer:
        """Return the answer of `search` if that takes a millisecond or two and need not wait; for the event loop.

        Raises:
            WouldCrowd: the caller is not `alone`, and threads would search faster.
            WouldWait: the search may take longer.
        """
        if not self._database.local or not _is_quick(query):
            raise WouldWait
        index, snapshot = self._indexes.at_once(space)
        if snapshot.size > BRIEF_ROWS and not alone and snapshot.size <= QUICK_ROWS:
            raise WouldCrowd
        if snapshot.size > QUICK_ROWS:
            raise WouldWait
        try:
            return self._tried(query, now, index, snapshot, None, max_age).answer
        except _Behind:
            raise WouldWait from None

    def _tried(
        self,
        query: Query,
        now: int,
        index: SpaceIndex,
        snapshot: Snapshot,
        needed: int | None,
        max_age: float,
        extra: Extra | None = None,
        *,
        named: bool = False,
    ) -> Found:
        """Return the answer from a snapshot. It may lack changes after `needed`; None requires all up to now.

        A hit may state another name of what the query names. Then the search is repeated once with it (`named`).

        Raises:
            _Behind: the snapshot has not seen a required change.
        """
        began = perf_counter()
        stated, known = query, index.space
        query = with_defaults(stated, known.space.policy, self._default)
        like = None if extra is None else extra.like
        wanted = parse(query.text, query.match) if like is None else wanted_like(like)
        now = now if query.reference_time is None else query.reference_time
        mode, degraded = self._mode(index, snapshot, query.mode, extra)
        vectors = None
        if "dense" in BY_MODE[mode]:
            try:
                way = query.second_query
                talks = snapshot.second is not None and seen(index, snapshot, query, now).talks(snapshot.rows)
                vectors, lacks = self._embedder.embed(known.space, snapshot, wanted.text, like, way, talks=talks)
                degraded = (*degraded, *lacks)
            except ModelUnavailable as unavailable:
                mode, degraded = "keyword", (f"{unavailable}: ranked by keyword only",)
        embedded = perf_counter()
        heard = index.feedback_counts.number if query.as_of is None else None
        asked = filtered(index, snapshot, query, wanted, mode, now, vectors, extra)
        allowed = perf_counter()
        ranked = rank(asked)
        lane = self._lane(asked)
        ready = perf_counter()
        versions = [*versions_of(snapshot, ranked), *lane.versions]
        fetched, newest = self._fetch(index, snapshot, versions, max_age, heard, again=needed is not None)
        if snapshot.seq.number < (newest if needed is None else needed):
            raise _Behind(newest)
        first = [fetched[version] for version in versions[: len(ranked.places)]]
        contents = (memory.content for memory in first)
        if BY_MODE[mode] and not named and (more := with_other_names(stated, contents)) is not stated:
            return self._tried(more, now, index, snapshot, needed, max_age, extra, named=True)
        remembers = query.as_of is None and not _seeks_superseded(query)
        turns = index.recent.turns_at(snapshot.seq.number) if remembers else {}
        space, number = index.space, snapshot.seq.number
        fetched = turns_placed(fetched, self._database, space, number, turns)
        if space is not known and with_defaults(stated, space.space.policy, self._default) != query:
            raise _Behind(newest)  # the policy has changed since
        timings = Timings(
            embed=1000 * (embedded - began),
            filter=1000 * (allowed - embedded),
            rank=1000 * (ready - allowed),
            fetch=1000 * (perf_counter() - ready),
        )
        level = judged(self._calibration, asked, ranked.found, space.space.generation, space.space.name)
        usual = self._calibration.unrelated(space.space.generation, space.space.name)
        words = self._models.ready if known.space.generation is not None else None
        model = words if isinstance(words, StaticEncoder) else None
        judgement = applied(ranked, level, usual, first, model, named=named)
        sure, applies = answering(ranked.facts, ranked.places, *judgement)
        held = enough(level.evidence, query.min_evidence)
        every = Hits(ranked, applies).of(fetched) if held else ()
        hits = surfaced(every, query.applies)
        explained: tuple[Reasoned, ...] = ()
        if extra is not None and extra.expected is not None:
            explained = Explaining(ranked, extra, extra.expected, hits, held).of(self._database)
        answer = Answer(
            hits=placed(hits, self._database, space, number),
            total=ranked.found.total,
            evidence=level.evidence,
            strength=level.strength,
            thresholds=level.thresholds,
            evidence_reason=level.reason() if query.explain and BY_MODE[mode] else None,
            strategy=mode,
            degraded=degraded if extra is None else (*degraded, *_undone(snapshot, extra)),
            seq=snapshot.seq,
            timings=timings,
            recency=query.recency,
            explained=explained,
            instructions=() if lane is NO_LANE else lane.of(fetched),
            applies=None if sure is None else round(sure, 4),
            left_out=len(every) - len(hits),
            nearest=every[0] if every and not hits else None,
        )
        if extra is None or not extra.joint:
            return Found(answer)
        groups = None if ranked.refined is None else ranked.refined.groups
        return Found(answer, directions(snapshot, ranked.rows), groups)

    def _mode(
        self, index: SpaceIndex, snapshot: Snapshot, asked: Mode, extra: Extra | None
    ) -> tuple[Mode, tuple[str, ...]]:
        """Return the mode that can run, and in words what is missing for the requested one."""
        if "dense" not in BY_MODE[asked]:
            return asked, ()
        if self._models.default is None:
            return "keyword", ("embeddings are off: ranked by keyword only",)
        generation = index.space.space.generation
        if generation is None:
            missing = (f"no memory of this space is embedded: ranked by keyword only; {LATER}",)
            return "keyword", missing if snapshot.size else ()
        if self._models.of(generation) is None:
            told = absent(index.space.space.name, generation)
            if extra is not None and not extra.options.fallback_to_keyword:
                raise ModelMismatch(told)
            return "keyword", (f"ranked by keyword only: {told}",)
        bare = snapshot.unembedded
        return asked, (f"{bare} passages have no embedding and rank by keyword only; {LATER}",) * bool(bare)

    def _lane(self, asked: Asked) -> Lane:
        """Return the instructions that apply to a question. Lists of memories and a memory as query ask none."""
        encoder, query, wanted = self._models.ready, asked.query, asked.wanted
        if encoder is None or not query.instructions or not BY_MODE[asked.mode] or not query.text.strip():
            return NO_LANE
        if query.options is not None and query.options.similar_to is not None:
            return NO_LANE
        known = asked.index.instructions.of(asked.snapshot, encoder)
        if known is None or not len(known.versions):
            return NO_LANE
        demanding = wanted.required or wanted.phrases or wanted.quoted
        shown = visible(asked) if demanding else asked.allowed.mask
        same = self._models.of(asked.index.space.space.generation) is encoder
        own = asked.vectors.own if asked.vectors is not None and same else turned(encoder.encode_query(wanted.text))
        v, most = known.vectors, query.instructions
        places, scores = np.empty(most, np.int64), np.empty(most)
        planes = (v.codes, v.scales, v.fine, v.fine_scales, own.codes, own.step)
        rows = known.rows_in(asked.snapshot)
        found = loops.applying(*planes, known.everywhere, rows, shown, LEAST, places, scores)
        best = places[:found]
        return Lane(known, known.versions[best].tolist(), best.tolist(), scores[:found].tolist())

    def _fetch(
        self,
        index: SpaceIndex,
        snapshot: Snapshot,
        versions: list[int],
        max_age: float,
        heard: int | None,
        *,
        again: bool,
    ) -> tuple[dict[int, Memory], int]:
        """Return the memories by id of the `versions`, and the space's newest change.

        `heard` is how many verdicts the ranking used, None when feedback does not count. With `again` the ranking may
        lack newer verdicts, unless it used none.

        Raises:
            _Behind: the index lacks a change, or was dropped.
        """
        recent = index.recent
        forgotten, found = recent.forgotten, recent.of(versions)
        missing = set(versions).difference(found)
        if max_age and not missing and recent.was_at(snapshot.seq.number, max_age):
            return found, snapshot.seq.number
        space, asked_at = index.space, monotonic()
        state, *read = self._database.read([spaces.state(space), *([memories.by_rows([*missing])] if missing else [])])
        name, newest = space.space.name, cast(int, state[0][1]) if state else -1
        if newest < snapshot.seq.number or state[0][0] != space.space.epoch or state[0][2] != space.generation:
            self._indexes.drop(name, index)  # recreated, embedded again, or replaced by an older copy
            raise _Behind(0)
        _follow(index, snapshot, state[0], heard, again=again)
        fetched = {cast(int, row[0]): version_rows.memory(row, name) for rows in read for row in rows}
        if len(fetched) < len(missing):
            if newest == snapshot.seq.number:
                raise StoreCorrupt(f"the index of space {name!r} has memories that are not stored; run `muisti doctor`")
            raise _Behind(newest)  # some were erased meanwhile
        if grown := recent.note(newest, fetched, asked_at, forgotten):
            self._indexes.grew(index, grown)
        found.update(fetched)
        return found, newest


def _follow(index: SpaceIndex, snapshot: Snapshot, state: Row, heard: int | None, *, again: bool) -> None:
    """Take over what a read of the space's state says that the index lacks: its policy, vectors and verdicts.

    Raises:
        _Behind: the ranking must be repeated with that.
    """
    _, newest, _, kept_from, verdicts, policy = cast(tuple[str, int, int, int, int, str], state[:6])
    if policy != index.space.policy:
        index.space = spaces.with_policy(index.space, policy)
    if snapshot.seq.number < kept_from:  # some versions of the snapshot may be erased
        raise _Behind(newest)
    if index.take_vectors(spaces.marks_of(state)) and not again:
        raise _Behind(newest)
    if heard is not None and heard < verdicts:
        index.feedback_counts.renew()
        if not again or not heard:
            raise _Behind(newest)


def _undone(snapshot: Snapshot, extra: Extra) -> tuple[str, ...]:
    if extra.options.diversity and snapshot.size and not snapshot.rows.dimensions:
        return ("there are no vectors to compare: hits are not diversified",)
    return ()


def _is_quick(query: Query) -> bool:
    """Return whether a query only ranks. Lists, phrases and required words must look at every row.

    So must a filter whose rows are not remembered: `Selections` refuses it on a thread that may not wait.
    """
    ranks = query.mode not in ("metadata", "recent") and not query.trust_weight and query.options is None
    ranks = ranks and not _seeks_superseded(query) and query.as_of is None
    return ranks and query.match == "any" and '"' not in query.text and len(query.text) <= QUICK_TEXT


def _seeks_superseded(query: Query) -> bool:
    """Return whether a query may find superseded memories, which only the index of all versions has."""
    asked = query.filter
    return asked is not None and "status" in fields_of(asked) and may_be(asked, "status", "superseded")
