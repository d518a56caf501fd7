"""The title of a topic, made from its turns as they are stored."""

from collections.abc import Collection, Sequence

from muisti.core.discourse import titles
from muisti.core.model.conversations import TURN_MAX, Span
from muisti.core.model.values import Memory
from muisti.core.store.database import Database
from muisti.core.store.sql import topics, version_rows
from muisti.core.store.sql.spaces import SpaceRow

READ = 200  # turns of a topic that its title is made from
AROUND = 50  # turns before and after a topic that its title sets it apart from


def topic_title(
    database: Database,
    space: SpaceRow,
    of: tuple[str | None, str],
    spans: Sequence[Span],
    now: int,
    without: Collection[str] = (),
) -> tuple[str, list[Memory]]:
    """Return a title that sets a topic apart from the turns around it, and the turns that it is made from.

    `of` are the category and the name of the conversation. Memories with ids in `without` count as erased.
    """
    first, last = spans[0][0], spans[-1][1]
    more = len(without)
    asked = [
        topics.exchanges(space, *of, (first, last), now, READ + more),
        topics.exchanges(space, *of, (max(0, first - AROUND), first - 1), now, AROUND),
        topics.exchanges(space, *of, (last + 1, TURN_MAX), now, AROUND + more),
    ]
    inside, before, after = [
        [one for row in rows if (one := version_rows.memory(row, space.space.name)).id not in without]
        for rows in database.read(asked)
    ]
    rest = [one.content for one in (*before, *after[:AROUND])]
    return titles.title([one.content for one in inside[:READ]], rest) or untitled(first, last), inside


def untitled(first: int, last: int) -> str:
    """Return the title of a topic whose turns tell nothing."""
    return f"Turns {first} to {last}"
