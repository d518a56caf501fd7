"""The section `about`: facts of the graph about the entities that a question names, as short lines."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from muisti.core.graph.merging import Group
from muisti.core.graph.naming import named
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.graph.selecting import lacks
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, NotFound
from muisti.core.model.graph import Relation
from muisti.core.model.graph_terms import ME
from muisti.core.model.values import Memory
from muisti.core.query.filter_fields import VERSION_ROW
from muisti.core.query.filters import And, Filter, Leaf, Not
from muisti.core.query.points import AsOf
from muisti.core.read.listing import NEWEST, page, page_of
from muisti.core.store.database import Row
from muisti.core.store.sql import graph_ties
from muisti.core.text.terms import tokenize

FACTS = 50  # that are looked at, the latest of all named entities
OPEN, ENDED = 0.5, 0.25  # scores of facts that share no word with the question
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself)\b", re.IGNORECASE)


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
            opened = self._reader.open(space, caller, now, as_of, [ME])
        except Conflict as off:
            return Facts(degraded=(f"{off}: no facts about what the question names",))
        groups = self._meant(opened, question)
        if not groups:
            return Facts(degraded=lacks(opened.pending))
        members = {one for group in groups for one in group.members}
        asked = graph_ties.of_entities(members, opened.shown, None, subject=True, target=True, limit=FACTS)
        (rows,) = self._reader.database.read([asked])
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

    def _meant(self, opened: Opened, question: str) -> list[Group]:
        groups = named(self._reader, opened, question)
        if _FIRST_PERSON.search(question):
            with suppress(NotFound):  # nothing is known of the user
                groups.append(self._reader.find(opened, ME))
        return groups

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


def told(one: Relation) -> str:
    """Return a relation as a short line, with the days between which it held where it has ended."""
    thing = one.literal or "" if one.object is None else one.object.name
    days = one.valid_from.date().isoformat()
    days = f"since {days}" if one.valid_to is None else f"{days} to {one.valid_to.date().isoformat()}"
    said = f"{'not ' if one.negative else ''}{one.kind.replace('_', ' ')}"
    return " ".join(f"{one.subject.name}: {said} {thing} ({days})".split())


def _score(one: Relation, text: str, words: set[str]) -> float:
    own = {*tokenize(text)}
    shared = len(own & words) / max(len(words), 1)
    return (OPEN if one.valid_to is None else ENDED) + shared / 2


def _line(memory: Memory, text: str) -> Memory:
    """Return the memory with one fact as its content, without what would be shown before that."""
    return msgspec.structs.replace(
        memory, content=text, kind="memory", structure={}, author=None, conversation=None, document=None
    )
