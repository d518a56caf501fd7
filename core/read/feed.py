"""The change feed: all changes of a space after a point of its history, in order, each once."""

from collections.abc import Sequence
from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.errors import EpochGone, NotYetReplicated, PastRetention, PointAhead
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Event, Events
from muisti.core.model.times import from_us
from muisti.core.model.values import Memory, Seq
from muisti.core.query.points import Wanted, check
from muisti.core.read.reading import find_space, read
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import changes, memories, version_rows
from muisti.core.store.sql.changes import FeedRow
from muisti.core.store.sql.spaces import SpaceRow

WINDOW = 10_000  # changes that one page reads; a filter may drop all of them
BYTES = 4 << 20  # of memories in one page; a page has at least one change, whatever its size


def changes_of(database: Database, name: str, wanted: Wanted, caller: Caller) -> Events:
    """Return a page of the changes of a space that the caller may see.

    Raises:
        NotFound, InvalidInput: there is no such space, or such a page is impossible.
        EpochGone: the space was erased and created again since the point.
        PastRetention, PointAhead: the point is older than the history of the space, or in the future.
        NotYetReplicated: the change has not arrived in this replica.
    """
    check(wanted)
    since = 0 if wanted.since is None else wanted.since.number
    filter = caller.only(wanted.filter)

    def ask(space: SpaceRow) -> list[Statement]:
        begin = max(since, space.kept_from)
        return [changes.after(space, begin, begin + WINDOW, wanted.kinds, filter, wanted.limit + 1)]

    found, (rows,) = read(database, name, ask)
    _check_point(database, found, wanted.since)
    listed = [FeedRow._make(row) for row in rows]
    kept = _fitting(listed[: wanted.limit], wanted.show)
    reached = min(max(since, found.kept_from) + WINDOW, found.seq.number) if len(kept) == len(listed) else kept[-1].seq
    return Events(
        items=tuple(_events(database, found, kept, wanted.show, caller)),
        reached=Seq(found.space.epoch, reached),
        more=reached < found.seq.number,
    )


def standing(database: Database, names: Sequence[str]) -> dict[str, Seq]:
    """Return the latest change number of each space that exists."""
    (rows,) = database.read([changes.standing(names)])
    return {cast(str, name): Seq(cast(str, epoch), cast(int, seq)) for name, epoch, seq in rows}


def _check_point(database: Database, found: SpaceRow, since: Seq | None) -> None:
    if since is None:
        return
    if since.epoch == found.space.epoch and since.number <= found.seq.number:
        if since.number < found.kept_from:
            raise PastRetention(
                f"space {found.space.name!r} remembers what came after {found.kept_from}, not all after {since}"
            )
        return
    name = found.space.name
    at = find_space(database.primary, name).seq
    if at.epoch != since.epoch:
        raise EpochGone(
            f"space {name!r} was erased and created again since {since}; read it again and continue from there"
        )
    if at.number < since.number:
        raise PointAhead(f"space {name!r} is at {at}; {since} is in the future")
    raise NotYetReplicated(f"space {name!r} is at {found.seq} here, not yet at {since}; try again")


def _fitting(listed: Sequence[FeedRow], show: Show) -> Sequence[FeedRow]:
    """Return the first changes, as many as fit in one page."""
    total = 0
    for place, one in enumerate(listed):
        total += one.bytes
        if show != "ids" and place and total > BYTES:
            return listed[:place]
    return listed


def _events(database: Database, space: SpaceRow, listed: Sequence[FeedRow], show: Show, caller: Caller) -> list[Event]:
    wanted = {"ids": (), "after": ("born",), "both": ("born", "died")}[show]
    rows = sorted({row for one in listed for name in wanted if (row := getattr(one, name)) is not None})
    found: dict[int, Memory] = {}
    if rows:
        for row in database.read([memories.by_rows(rows)])[0]:
            memory = version_rows.memory(row, space.space.name)
            if caller.shows(memory.category):
                found[cast(int, row[0])] = memory
    return [
        Event(
            seq=one.seq,
            at=from_us(one.committed_at),
            kind=cast(ChangeKind, one.kind),
            memory_id=None if one.memory_id is None else id_text(one.memory_id),
            version=one.version,
            actor=one.actor,
            request=one.request,
            before=found.get(one.died or 0) if show == "both" else None,
            after=found.get(one.born or 0),
        )
        for one in listed
    ]
