"""Finds what the sections of a context are filled from: by searches in one or several spaces, and by lists."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from muisti.core.conversations.context.assembly import Assembly, Found, sized
from muisti.core.conversations.context.choosing import Candidate
from muisti.core.conversations.context.counting import counter
from muisti.core.conversations.context.rendering import Sizes
from muisti.core.conversations.context.request import (
    EXCERPTS,
    INSTRUCTED,
    LISTED,
    Request,
    Source,
    of_conversation,
    source,
)
from muisti.core.conversations.context.weights import filler
from muisti.core.graph.answers import asked_about, told
from muisti.core.graph.model import Relation
from muisti.core.graph.pagerank import lacks
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import INSTRUCTIONS_MAX
from muisti.core.model.context import Context, SectionName, SpaceRead, Wanted
from muisti.core.model.errors import Conflict
from muisti.core.model.hits import Answer, JointAnswer
from muisti.core.model.values import LIMIT_MAX, Memory, Seq
from muisti.core.query.filter_fields import VERSION_ROW
from muisti.core.query.filters import And, Filter, Leaf, Not
from muisti.core.query.points import AsOf, Point
from muisti.core.query.query import Part, Query
from muisti.core.read.listing import NEWEST, last_turns, page, page_of
from muisti.core.read.reading import read_at
from muisti.core.search.asking import Asking
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import tokenize

# The section `about`: facts of the graph about the entities that a question names, as short lines

FACTS = 50  # that are looked at, the latest of all named entities
OPEN, ENDED = 0.5, 0.25  # scores of facts that share no word with the question


class Facts(NamedTuple):
    """Facts as memories whose content is one line, best first with a score, and in words what is missing."""

    memories: Sequence[tuple[Memory, float]] = ()
    degraded: tuple[str, ...] = ()


class About:
    """Reads facts for contexts. Thread-safe."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    def facts(
        self, space: str, question: str, filter: Filter | None, caller: Caller, now: int, as_of: AsOf | None
    ) -> Facts:
        """Return facts about the entities that a question names, and about the user where it says "I" or "my".

        Their memories pass the filter, whose entities must be resolved.

        Raises:
            NotFound: there is no such space.
            EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        """
        try:
            opened, rows = asked_about(self._reader, space, question, caller, now, as_of, FACTS)
        except Conflict as off:
            return Facts(degraded=(f"{off}: no facts about what the question names",))
        memories = self._memories(opened, rows, caller.only(filter))
        relations = self._reader.related(opened, rows)
        words = {*tokenize(question)}
        found = [
            (_line(memories[one.memory, one.version], text), _score(one, text, words))
            for one in relations
            if (one.memory, one.version) in memories
            for text in [told(one)]
        ]
        return Facts(sorted(found, key=lambda one: -one[1]), lacks(opened.pending))

    def _memories(self, opened: Opened, rows: Sequence[Row], filter: Filter | None) -> dict[tuple[str, int], Memory]:
        """Return the memories of relations that are active and pass the filter, by id and version."""
        if not rows:
            return {}
        versions = tuple(int(str(row[0])) for row in rows)
        conditions = (Leaf(VERSION_ROW, "in", versions), Not(Leaf("kind", "eq", "entity")))
        wanted = And((*conditions, *(() if filter is None else (filter,))))
        point = opened.shown.point
        (found,) = self._reader.database.read([page_of(opened.space, wanted, FACTS, NEWEST, None, point)])
        return {(one.id, one.version): one for one in page(opened.space, found, FACTS, NEWEST).items}


def _score(one: Relation, text: str, words: set[str]) -> float:
    own = {*tokenize(text)}
    shared = len(own & words) / max(len(words), 1)
    return (OPEN if one.valid_to is None else ENDED) + shared / 2


def _line(memory: Memory, text: str) -> Memory:
    """Return the memory with one fact as its content, without what would be shown before that."""
    return msgspec.structs.replace(
        memory, content=text, kind="memory", structure={}, author=None, conversation=None, document=None
    )


Checked = Callable[[Sequence[Memory], Caller, int], Sequence[Memory]]


class Builder:
    """Makes contexts. Thread-safe."""

    def __init__(self, database: Database, asking: Asking, sizes: Sizes, about: About, checked: Checked) -> None:
        """`checked` returns memories with the states of their anchors."""
        self._database, self._asking, self._about, self._sizes = database, asking, about, sizes
        self._checked = checked

    def context(self, space: str, request: Request, caller: Caller, now: int) -> tuple[Context, Mapping[str, Memory]]:
        """Return the context of a request that was checked, and the memories in it by id.

        The caller must be allowed to read all spaces of the request.

        Raises:
            NotFound: there is no such space.
            InvalidInput: the spaces of the request cannot be searched together.
            ModelMismatch, EpochGone, PastRetention, PointAhead: as `Asking.one`.
        """
        order = sorted(request.wanted, key=lambda name: name == "memories")  # these last, with all room that is left
        found = [self._found(space, name, request, caller, now) for name in order]
        lane = self._unasked(space, found, request, caller, now) if request.instructed else None
        if lane is not None and lane.memories:
            own = Wanted(max_tokens=request.token_budget // INSTRUCTED)
            request = replace(request, sections={lane.name: own, **request.wanted})
            found.insert(0, lane)
        if request.as_of is None:
            found = [self._with_states(one, caller, now) for one in found]
        return Assembly(request, found, self._sizes).context()

    def last_conversation(self, space: str, caller: Caller, now: int) -> str | None:
        """Return the name of the conversation with the newest turn; None without any."""
        turns = caller.only(And((Leaf("kind", "eq", "exchange"), Leaf("conversation", "exists", True))))
        row, _, (rows,) = read_at(
            self._database, space, None, now, lambda row, point: [page_of(row, turns, 1, NEWEST, None, point)]
        )
        return next((one.conversation for one in page(row, rows, 1, NEWEST).items), None)

    def candidates(self, space: str, request: Request, caller: Caller, now: int) -> list[Candidate]:
        """Return what the section `memories` is chosen from, best first, with sizes."""
        return sized(self._found(space, "memories", request, caller, now), self._sizes, counter(request.encoding))

    def _with_states(self, found: Found, caller: Caller, now: int) -> Found:
        memories = [memory for memory, _ in found.memories]
        if not any(one.anchors for one in memories):
            return found
        checked = self._checked(memories, caller, now)
        return replace(found, memories=[*zip(checked, (score for _, score in found.memories), strict=True)])

    def _found(self, space: str, name: SectionName, request: Request, caller: Caller, now: int) -> Found:
        if name in EXCERPTS:
            return self._facts(space, name, request, caller, now)
        if name == "instructions":
            return self._lane(space, request, caller, now)
        if name in LISTED:
            return self._listed(space, name, request, caller, now)
        return self._searched(space, source(name, request.wanted, request.filter), request, caller, now)

    def _unasked(self, space: str, found: Sequence[Found], request: Request, caller: Caller, now: int) -> Found:
        """Return the instructions that the search for the section `memories` has found, else those of a search."""
        for one in found:
            if one.name == "memories" and one.answer is not None:
                instructions = [(each.memory, each.score) for each in one.answer.instructions]
                return Found("instructions", instructions, one.spaces, one.seq)
        return self._lane(space, request, caller, now)

    def _lane(self, space: str, request: Request, caller: Caller, now: int) -> Found:
        query = replace(request.search(request.filter, 1, None), instructions=INSTRUCTIONS_MAX)
        answer, spaces, seq = self._asked(request.parts(space), space, query, caller, now)
        memories = [(one.memory, one.score) for one in answer.instructions]
        return Found("instructions", memories, spaces, seq, degraded=answer.degraded)

    def _searched(self, space: str, of: Source, request: Request, caller: Caller, now: int) -> Found:
        """Return the hits of a section; of one that is filled surely also the newest memories that are no hits."""
        query = request.search(of.filter, request.candidates, None if of.surely else request.min_evidence)
        if of.name == "memories" and request.instructed:
            query = replace(query, instructions=INSTRUCTIONS_MAX)
        parts = request.parts(space)
        answer, spaces, seq = self._asked(parts, space, query, caller, now)
        memories = [(hit.memory, hit.score) for hit in answer.hits]
        for part in parts:
            missing = request.candidates - len(memories)
            if of.surely and missing > 0:  # the rest has nothing in common with the query
                known = {memory.id for memory, _ in memories}
                rest = self._newest(part.space, query, missing + len(known), caller, now)
                memories += [(memory, 0.0) for memory in rest if memory.id not in known][:missing]
        left = frozenset[str]() if of.surely or request.fill else filler(request.query, answer, memories)
        return Found(of.name, memories, spaces, seq, answer, filler=left)

    def _asked(
        self, parts: Sequence[Part], space: str, query: Query, caller: Caller, now: int
    ) -> tuple[Answer | JointAnswer, list[SpaceRead], Seq]:
        """Return the answer of the parts, what was read for it, and the point of the space that was asked."""
        if len(parts) == 1:
            answer = self._asking.one(space, query, caller, now)
            read = SpaceRead(name=space, weight=1.0, seq=str(answer.seq), evidence=answer.evidence)
            return answer, [read], answer.seq
        joint = self._asking.several(parts, query, caller, now)
        spaces = [
            SpaceRead(name=one.name, weight=one.weight, seq=str(one.seq), evidence=one.evidence) for one in joint.spaces
        ]
        return joint, spaces, next(one.seq for one in joint.spaces if one.name == space)

    def _listed(self, space: str, name: SectionName, request: Request, caller: Caller, now: int) -> Found:
        """Return the last turns or summaries of the conversation, the last first, all of the same score."""
        assert request.conversation is not None
        own = of_conversation(request.conversation)
        turns = request.wanted[name].turns
        filter = caller.only(And((own, Leaf("kind", "eq", "summary"))) if name == "summaries" else own)

        def ask(row: SpaceRow, point: Point) -> list[Statement]:
            if name == "recent":
                return [last_turns(row, filter, turns, point)]
            return [page_of(row, filter, turns, NEWEST, None, point)]

        row, _, (rows,) = read_at(self._database, space, request.as_of, now, ask)
        memories = [(memory, 1.0) for memory in page(row, rows, turns, NEWEST).items]
        return Found(name, memories, [_unsearched(space, row.seq)], row.seq)

    def _facts(self, space: str, name: SectionName, request: Request, caller: Caller, now: int) -> Found:
        """Return facts about what the question names, and the point that they are read at."""
        own = self._asking.own(space, request.search(request.filter, 1, None), caller, now)
        facts = self._about.facts(space, request.query, own.filter, caller, now, request.as_of)
        row, _, _ = read_at(self._database, space, request.as_of, now, lambda row, point: [])
        return Found(name, facts.memories, [_unsearched(space, row.seq)], row.seq, degraded=facts.degraded)

    def _newest(self, space: str, query: Query, limit: int, caller: Caller, now: int) -> Sequence[Memory]:
        """Return the newest memories that pass the filter of a query."""
        limit = min(limit, LIMIT_MAX)
        filter = self._asking.own(space, query, caller, now).filter
        row, _, (rows,) = read_at(
            self._database,
            space,
            query.as_of,
            now,
            lambda row, point: [page_of(row, filter, limit, NEWEST, None, point)],
        )
        return page(row, rows, limit, NEWEST).items


def _unsearched(space: str, seq: Seq) -> SpaceRead:
    return SpaceRead(name=space, weight=1.0, seq=str(seq), evidence="none")
