"""The title of a topic, made from its turns as they are stored."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from muisti.core.model.conversations import TURN_MAX, Span
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Rows
from muisti.core.store.sql import topics, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.discourse import titles
from muisti.core.text.terms import fold

READ = 200  # turns of a topic that its title is made from
AROUND = 50  # turns before and after a topic that its title sets it apart from


def topic_title(
    database: Database,
    space: SpaceRow,
    of: tuple[str | None, str],
    spans: Sequence[Span],
    now: int,
    changed: Mapping[str, Memory | None] = MappingProxyType({}),
) -> tuple[str, list[Memory]]:
    """Return a title that sets a topic apart from the turns around it, and the turns that it is made from.

    `of` are the category and the name of the conversation. `changed` has turns by id as they are to be, None for those
    that do not count any more.
    """
    first, last = spans[0][0], spans[-1][1]
    ranges = (first, last), (max(0, first - AROUND), first - 1), (last + 1, TURN_MAX)
    most = READ, AROUND, AROUND
    asked = [
        topics.exchanges(space, *of, turns, now, limit + len(changed))
        for turns, limit in zip(ranges, most, strict=True)
    ]
    new = coming(changed, *of)

    def among(rows: Rows, start: int, stop: int, limit: int) -> list[Memory]:
        found = [version_rows.memory(row, space.space.name) for row in rows]
        found = [one for one in found if one.id not in changed]
        found += [one for one in new if start <= (one.turn or 0) <= stop]
        return sorted(found, key=lambda one: one.turn or 0)[:limit]

    inside, before, after = (
        among(rows, *turns, limit) for rows, turns, limit in zip(database.read(asked), ranges, most, strict=True)
    )
    rest = [one.content for one in (*before, *after)]
    return titles.title([one.content for one in inside], rest) or untitled(first, last), inside


def coming(changed: Mapping[str, Memory | None], category: str | None, conversation: str) -> list[Memory]:
    """Return the changed turns that are turns of a conversation afterwards."""
    own = fold(category or "")
    return [
        one
        for one in changed.values()
        if one is not None
        and (one.kind, one.conversation, one.superseded_by) == ("exchange", conversation, None)
        and fold(one.category or "") == own
    ]


def untitled(first: int, last: int) -> str:
    """Return the title of a topic whose turns tell nothing."""
    return f"Turns {first} to {last}"
