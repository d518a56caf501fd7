"""Topics of a conversation, found while turns come in, and changes of topics by callers.

A topic is stored once its last turn is known, and is never changed by later turns. Turns after the last stored topic
have none yet. So what a caller gives stays: a title, a split, a merge, another border.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.conversations.sql import topics
from muisti.core.conversations.sql.topics import Said
from muisti.core.embedding.vectors import restored
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, PlaceTaken, SensitiveContent
from muisti.core.model.outcomes import Written
from muisti.core.model.places import ObjectName, Span, spans_of, without
from muisti.core.model.values import Draft, Json, Memory
from muisti.core.read.reading import read
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import hierarchy, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Locks, Overtaken
from muisti.core.text.discourse.segmentation import PAUSE, Segmenter, Vector
from muisti.core.write.calls import Call
from muisti.core.write.derived_texts import topic_title, untitled
from muisti.core.write.object_writer import Keeper, Plan
from muisti.core.write.prepare import draft_of


def taking(database: Database, space: SpaceRow, name: ObjectName, draft: Draft, now: int) -> Plan:
    """Return how the other topics of a conversation change when a topic has the turns of its draft.

    Raises:
        Conflict: another topic was given one of the turns.
    """
    given = cast("list[Span]", draft.structure.get("spans", []))
    of = name.category, name.conversation or ""
    (rows,) = database.read([hierarchy.objects(space, *of, now, "topic")])
    ends: list[Memory] = []
    changes: list[tuple[Row, Draft]] = []
    for row in rows:
        other = version_rows.memory(row, space.space.name)
        before = spans_of(other)
        after = without(before, given)
        if other.topic == name.name or after == before:
            continue
        if other.structure.get("bounds") == "given":
            raise Conflict(f"topic {other.topic!r} was given some of these turns; change its spans first, or delete it")
        if after:
            changes.append((row, _with_spans(other, after, given=False)))
        else:
            ends.append(other)
    newest = max((cast(int, row[0]) for row in rows), default=0)
    return Plan(guards=[topics.refuse_others(space, *of, newest, now)], ends=ends, changes=changes)


FOLLOWED = 1_000  # conversations whose open topics are kept in memory
TRIES = 8  # of a step that another process overtakes


class Conversation(msgspec.Struct, frozen=True):
    """A conversation by its name, in a space and a category."""

    space: str
    name: str
    category: str | None = None


class _Open:
    """The turns after the last stored topic, as a segmenter has them; without vectors only pauses end topics."""

    def __init__(self, space: SpaceRow, after: int) -> None:
        self.after = after  # last turn of the last stored topic, -1 without one
        self.turns: list[int] = []
        self.segmenter = Segmenter(dimensions_of(space))
        self._of = space.space.epoch, space.generation
        self._latest: Said | None = None
        self._at = 0

    @property
    def last(self) -> int:
        return self.turns[-1] if self.turns else self.after

    def stands(self, space: SpaceRow, after: int) -> bool:
        """Return whether the turns are still those after the last topic, with vectors of the model of the space."""
        return self._of == (space.space.epoch, space.generation) and self.after == after

    def add(self, said: Said, vector: Vector) -> list[int]:
        """Take a turn and return the first turns of the topics that it makes final, without the first of all."""
        before = self._latest
        breaks = before is not None and (said.at - self._at > PAUSE or said.session != before.session)
        self._latest, self._at = said, max(self._at, said.at)
        self.turns.append(said.turn)
        return [self.turns[place] for place in self.segmenter.add(vector, said.tokens, breaks=breaks)]


class Topics:
    """Finds and changes topics. Thread-safe; several processes may follow one conversation.

    All methods raise `NotFound` when there is no such space.
    """

    def __init__(self, database: Database, keeper: Keeper) -> None:
        self._database, self._keeper = database, keeper
        self._followed: OrderedDict[Conversation, _Open] = OrderedDict()
        self._turns = Locks()

    def follow(self, conversation: Conversation, call: Call) -> tuple[Memory, ...]:
        """Read the new turns of a conversation, and store the topics that are final by them."""
        return self._store(conversation, call, ends=False)

    def finish(self, conversation: Conversation, call: Call) -> tuple[Memory, ...]:
        """Store topics for all turns of a conversation that have none, because it is closed or is to be summarised."""
        return self._store(conversation, call, ends=True)

    def split(self, conversation: Conversation, topic: str, turn: int, title: str | None, call: Call) -> Written:
        """Split a topic before a turn, and return both parts. Without `title` the second gets one made from its words.

        Raises:
            NotFound: there is no such topic.
            InvalidInput: the turn is not within the topic, or is its first.
        """

        def plan(space: SpaceRow, found: Sequence[tuple[Row, Memory]], number: int) -> Plan:
            row, memory = _named(found, topic, conversation)
            before, after = _cut(spans_of(memory), turn)
            if not before or not after:
                raise InvalidInput.at("$.turn", f"turn {turn} is not within topic {topic!r}, or is its first turn")
            draft = self._titled(space, conversation, f"t{number + 1}", after, call, bounds="given")
            if title is not None:
                draft = replace(draft, content=title, structure={**draft.structure, "title": "given"})
            return Plan(changes=[(row, _with_spans(memory, before))], comes=[draft])

        return self._changed(conversation, call, plan)

    def merge(self, conversation: Conversation, names: Sequence[str], call: Call) -> Written:
        """Merge topics into the first of them, which keeps its title; the others end.

        Raises:
            NotFound: there is no topic of one of the names.
            InvalidInput: these are not at least two topics.
        """

        def plan(space: SpaceRow, found: Sequence[tuple[Row, Memory]], number: int) -> Plan:
            chosen = {one[1].id: one for one in (_named(found, name, conversation) for name in names)}
            if len(chosen) < 2:
                raise InvalidInput.at("$.topics", "name at least two topics")
            (row, first), *others = chosen.values()
            spans = joined([span for memory in (first, *(one for _, one in others)) for span in spans_of(memory)])
            return Plan(ends=[memory for _, memory in others], changes=[(row, _with_spans(first, spans))])

        return self._changed(conversation, call, plan)

    def move(self, conversation: Conversation, topic: str, turn: int, call: Call) -> Written:
        """Let a topic begin at a turn: turns before it go to the topic before, and turns from it on come from there.

        Raises:
            NotFound: there is no such topic.
            InvalidInput: no topic is before it, or one of both would have no turns.
        """

        def plan(space: SpaceRow, found: Sequence[tuple[Row, Memory]], number: int) -> Plan:
            row, memory = _named(found, topic, conversation)
            having = [(spans_of(one), other, one) for other, one in found if spans_of(one)]
            start = spans_of(memory)[0][0] if spans_of(memory) else 0
            earlier = [(spans[-1][1], other, one) for spans, other, one in having if spans[-1][1] < start]
            if not earlier:
                raise InvalidInput.at("$.turn", f"no topic is before {topic!r}")
            other, before = max(earlier, key=lambda one: one[0])[1:]
            left, right = _cut(joined([*spans_of(before), *spans_of(memory)]), turn)
            if not left or not right:
                raise InvalidInput.at("$.turn", f"from turn {turn} on, one of the topics would have no turns")
            return Plan(changes=[(other, _with_spans(before, left)), (row, _with_spans(memory, right))])

        return self._changed(conversation, call, plan)

    def _store(self, conversation: Conversation, call: Call, *, ends: bool) -> tuple[Memory, ...]:
        if call.dry_run:
            return ()
        for _ in range(TRIES):
            with suppress(Overtaken, PlaceTaken), self._turns.of(conversation):
                return self._advance(conversation, call, ends=ends)
        return ()  # others follow the same conversation, and find the same

    def _advance(self, conversation: Conversation, call: Call, *, ends: bool) -> tuple[Memory, ...]:
        space, known, number, new = self._read(conversation, call.now)
        vectors = vectors_of(new, dimensions_of(space))
        starts = [start for said, vector in zip(new, vectors, strict=True) for start in known.add(said, vector)]
        if ends and known.turns:
            starts += [known.turns[place] for place in known.segmenter.tentative]
            starts.append(known.last + 1)
        if not starts:
            self._followed[conversation] = known
            while len(self._followed) > FOLLOWED:
                self._followed.popitem(last=False)
            return ()
        spans: list[Span] = []
        first = known.after + 1 if known.after >= 0 else known.turns[0]
        for start in starts:
            spans.append((first, start - 1))
            first = start
        drafts = [
            self._titled(space, conversation, f"t{number + place}", [span], call)
            for place, span in enumerate(spans, start=1)
        ]
        try:
            return self._keeper.commit(space, Plan(comes=drafts), call).memories
        except SensitiveContent:  # a space may refuse words that it has taken among others
            plain = [replace(draft, content=untitled(*spans[place])) for place, draft in enumerate(drafts)]
            return self._keeper.commit(space, Plan(comes=plain), call).memories

    def _read(self, conversation: Conversation, now: int) -> tuple[SpaceRow, _Open, int, list[Said]]:
        """Return the open turns as they are known, the largest number of a topic, and the turns that are new."""
        known = self._followed.pop(conversation, None)
        of = conversation.category, conversation.name
        last = known.last if known else -1
        after = known.after if known else -1

        def ask(row: SpaceRow) -> list[topics.Statement]:
            return [
                *topics.covered(row, *of),
                topics.counted(row, *of, (after + 1, last), now),
                topics.said(row, *of, last, now),
            ]

        space, (covered, numbers, counts, said) = read(self._database.primary, conversation.space, ask)
        end = cast("int | None", covered[0][0])
        end = -1 if end is None else end
        if known is None or not known.stands(space, end) or counts[0][0] != len(known.turns):
            known = _Open(space, end)
            if last != end:
                _, (said,) = read(
                    self._database.primary, conversation.space, lambda row: [topics.said(row, *of, end, now)]
                )
        return space, known, cast("int | None", numbers[0][0]) or 0, topics.read_said(said)

    def _titled(
        self,
        space: SpaceRow,
        conversation: Conversation,
        name: str,
        spans: Sequence[Span],
        call: Call,
        *,
        bounds: str = "derived",
    ) -> Draft:
        """Return the draft of a topic, with a title that sets it apart from the turns around it."""
        of = conversation.category, conversation.name
        words, inside = topic_title(self._database.primary, space, of, spans, call.now)
        return Draft(
            content=words,
            kind="topic",
            category=conversation.category,
            conversation=conversation.name,
            topic=name,
            event_at=inside[0].event_at if inside else None,
            structure={
                "title": "derived",
                "bounds": bounds,
                "spans": cast(Json, [list(span) for span in spans]),
                "state": "closed",
            },
        )

    def _changed(self, conversation: Conversation, call: Call, plan: "_MakePlan") -> Written:
        of = conversation.category, conversation.name

        def attempt(space: SpaceRow) -> Written:
            asked = [hierarchy.objects(space, *of, call.now, "topic"), *topics.covered(space, *of)]
            rows, _, numbers = self._database.primary.read(asked)
            found = [(row, version_rows.memory(row, conversation.space)) for row in rows]
            return self._keeper.commit(space, plan(space, found, cast("int | None", numbers[0][0]) or 0), call)

        return self._keeper.run(conversation.space, call, attempt)


_MakePlan = Callable[[SpaceRow, Sequence[tuple[Row, Memory]], int], Plan]
"""Of a space, the topics of a conversation, and the largest number of a topic."""


def dimensions_of(space: SpaceRow) -> int:
    """Return the number of dimensions of the vectors of a space; 1 when there are none."""
    return space.dimensions or 1


def vectors_of(said: Sequence[Said], dimensions: int) -> list[Vector]:
    """Return the unit vector of each turn, the sum of those of its passages; zeros without any."""
    blobs = [blob for one in said for blob in one.vectors]
    rows = iter(restored(blobs, dimensions) if blobs else [])
    found: list[Vector] = []
    for one in said:
        total = sum((next(rows) for _ in one.vectors), np.zeros(dimensions, np.float32))
        length = float(np.linalg.norm(total))
        found.append(total / np.float32(length) if length else total)
    return found


def joined(spans: Sequence[Span]) -> list[Span]:
    """Return the same turns in as few stretches as possible.

    >>> joined([(5, 9), (0, 4), (12, 13)])
    [(0, 9), (12, 13)]
    """
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def _cut(spans: Sequence[Span], turn: int) -> tuple[list[Span], list[Span]]:
    """Return the turns before a turn and those from it on.

    >>> _cut([(0, 4), (8, 9)], 3)
    ([(0, 2)], [(3, 4), (8, 9)])
    """
    before = [(first, min(last, turn - 1)) for first, last in spans if first < turn]
    return before, [(max(first, turn), last) for first, last in spans if last >= turn]


def _named(found: Sequence[tuple[Row, Memory]], name: str, conversation: Conversation) -> tuple[Row, Memory]:
    for row, memory in found:
        if name in (memory.topic, memory.id) and spans_of(memory):
            return row, memory
    raise NotFound("topic", f"{conversation.name}/{name}")


def _with_spans(memory: Memory, spans: Sequence[Span], *, given: bool = True) -> Draft:
    stated = draft_of(memory)
    bounds: dict[str, Json] = {"bounds": "given"} if given else {}
    return replace(stated, structure={**stated.structure, **bounds, "spans": [list(span) for span in spans]})
