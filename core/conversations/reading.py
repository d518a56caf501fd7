"""Reads of sessions, conversations, topics and exchanges, and of the preferences that users state in them."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.conversations.model import (
    CONVERSATION_SORTS,
    ConversationSort,
    ExchangePage,
    Object,
    ObjectPage,
    State,
)
from muisti.core.conversations.sql import conversations
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.messages import messages_of
from muisti.core.model.places import TURN_MAX, Level, ObjectName, name_of
from muisti.core.model.values import LIMIT_MAX, Draft, Memory, Seq
from muisti.core.query.points import AsOf, Point
from muisti.core.read.hierarchy import home, namespace, situated
from muisti.core.read.reading import find_space, point_of, read_at
from muisti.core.store.database import Database, Row, Scalar, Statement
from muisti.core.store.sql import hierarchy, version_rows
from muisti.core.store.sql.hierarchy import Condition
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.discourse.signals import stating
from muisti.core.write.calls import Calls


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects of a level a list shows; what is None does not choose. `conversation` is that of topics."""

    level: Level
    session: str | None = None
    conversation: str | None = None
    user: str | None = None
    state: State | None = None
    category: str | None = None
    sort: str | None = None
    limit: int = 50
    cursor: str | None = None


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """The place of the last object of a page: the order, the value that it is sorted by, and its id."""

    sort: str
    value: str | int
    memory: bytes


_PLACES = msgspec.msgpack.Decoder(_Place)


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """Reads as one caller. What the caller does not see is not there, and no read counts as a retrieval."""

    calls: Calls
    database: Database

    def get(self, space: str, name: ObjectName, *, as_of: AsOf | None = None) -> tuple[Object, Seq]:
        """Return an object with its sizes. Raises `NotFound` when there is none."""
        now = self.calls.clock()
        name = self._home(space, name, now, as_of)
        found, _, (rows,) = read_at(self.database, space, as_of, now, lambda row, point: [one(row, name, point)])
        if not rows:
            raise missing(name)
        return object_of(rows[0], space, name.level), found.seq

    def _home(self, space: str, name: ObjectName, now: int, as_of: AsOf | None) -> ObjectName:
        point = Point(None, now) if as_of is None else point_of(self.database, space, as_of, now)
        return home(self.database, find_space(self.database, space), name, self.calls.caller, point)

    def page(self, space: str, wanted: Wanted, *, as_of: AsOf | None = None) -> ObjectPage:
        """Return a page of the objects of a level, with their sizes and how many there are in all.

        Raises:
            InvalidInput: the limit, the order or the cursor cannot be accepted.
            NotFound: there is no such space, or, for topics, no such conversation.
        """
        if not 1 <= wanted.limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{wanted.limit} is not between 1 and {LIMIT_MAX}")
        sort, after = _order(wanted)
        parent, now = None, self.calls.clock()
        if wanted.level == "topic":
            parent = ObjectName(level="conversation", name=wanted.conversation or "", category=wanted.category)
            parent = self._home(space, parent, now, as_of)
            wanted = structs.replace(wanted, category=parent.category)

        conditions = _conditions(wanted, self.calls.caller)

        def ask(row: SpaceRow, point: Point) -> list[Statement]:
            return [
                conversations.page(row, wanted.level, conditions, point, sort, after, wanted.limit + 1),
                conversations.total(row, wanted.level, conditions, point),
                *([] if parent is None else [one(row, parent, point)]),
            ]

        found, _, (rows, ((total,),), *parents) = read_at(self.database, space, as_of, now, ask)
        if parent is not None and not parents[0]:
            raise missing(parent)
        items = tuple(object_of(row, space, wanted.level) for row in rows[: wanted.limit])
        more = len(rows) > wanted.limit
        return ObjectPage(
            items=items,
            total=cast(int, total),
            next_cursor=_cursor(sort, rows[wanted.limit - 1]) if more else None,
            seq=found.seq,
        )

    def exchanges(
        self,
        space: str,
        name: ObjectName,
        *,
        limit: int = 50,
        first: int = 0,
        last: int = TURN_MAX,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> ExchangePage:
        """Return a page of the exchanges of a conversation, with turns from `first` to `last`.

        Raises:
            InvalidInput: the limit or the cursor cannot be accepted.
            NotFound: there is no such conversation.
        """
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        if not 0 <= first <= TURN_MAX or not 0 <= last <= TURN_MAX:
            raise InvalidInput.at("$.from", "turns are numbers from 0")
        start = first if cursor is None else _turn(cursor)
        now = self.calls.clock()
        name = self._home(space, name, now, as_of)

        def ask(row: SpaceRow, point: Point) -> list[Statement]:
            return [
                one(row, name, point),
                conversations.exchanges(row, name.category, name.name, point, (max(start, first), last), limit + 1),
                conversations.exchanges_count(row, name.category, name.name, point, (first, last)),
            ]

        found, point, (parents, rows, ((total,),)) = read_at(self.database, space, as_of, now, ask)
        if not parents:
            raise missing(name)
        stored = (version_rows.memory(row, space) for row in rows[:limit])
        items = tuple(situated(self.database, found, stored, point))
        more = str((items[-1].turn or 0) + 1) if len(rows) > limit else None
        return ExchangePage(items=items, total=cast(int, total), next_cursor=more, seq=found.seq)

    def situated(self, space: str, turns: Sequence[Memory], now: int) -> list[Memory]:
        """Return turns with the session and the topic that they belong to now."""
        return situated(self.database.primary, find_space(self.database.primary, space), turns, Point(None, now))


def missing(name: ObjectName) -> NotFound:
    """Return the error that says that there is no object of this name."""
    return NotFound(name.level, str(name))


def one(space: SpaceRow, name: ObjectName, point: Point) -> Statement:
    """Return the SQL of one object of a category with its sizes, as it was at a point."""
    conditions = [hierarchy.in_category(name.category), hierarchy.named(name.level, name.name)]
    if name.conversation is not None:
        conditions.append(hierarchy.named("conversation", name.conversation))
    return conversations.objects(space, name.level, conditions, point)


def object_of(row: Row, space: str, level: Level) -> Object:
    """Return the object in a row of `conversations.objects` or `conversations.page`."""
    memory = version_rows.memory(row, space)
    return Object(level=level, name=name_of(memory), memory=memory, counted=conversations.counted(row))


def _conditions(wanted: Wanted, caller: Caller) -> list[Condition]:
    category = namespace(caller, wanted.category)
    found = [] if category is None and wanted.level != "topic" else [hierarchy.in_category(category)]
    if wanted.session is not None:
        found.append(hierarchy.named("session", wanted.session))
    if wanted.conversation is not None:
        found.append(hierarchy.named("conversation", wanted.conversation))
    if wanted.user is not None:
        found.append(conversations.of_user(wanted.user))
    if wanted.state is not None:
        found.append(conversations.in_state(wanted.state))
    return found


def _order(wanted: Wanted) -> tuple[ConversationSort, tuple[Scalar, bytes] | None]:
    sorts: Sequence[str] = CONVERSATION_SORTS
    if wanted.sort is not None and wanted.sort not in sorts:
        raise InvalidInput.at("$.sort", f"{wanted.sort[:40]!r} is none of {', '.join(sorts)}")
    sort = wanted.sort or ("name" if wanted.level == "topic" else "-last_at")
    if wanted.cursor is None:
        return sort, None
    try:
        place = _PLACES.decode(base64.b64decode(wanted.cursor.encode("ascii"), altchars=b"-_", validate=True))
    except (binascii.Error, UnicodeEncodeError, msgspec.DecodeError):
        raise InvalidInput.at("$.cursor", f"{wanted.cursor[:80]!r} is no cursor of this list") from None
    if place.sort not in sorts or (wanted.sort is not None and place.sort != wanted.sort):
        raise InvalidInput.at("$.cursor", "belongs to a list in another order")
    return place.sort, (place.value, place.memory)


def _cursor(sort: str, row: Row) -> str:
    place = _Place(sort, cast("str | int", row[conversations.SORTED]), cast(bytes, row[1]))
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode()


def _turn(cursor: str) -> int:
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 16:
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    return int(cursor)


SUGGESTIONS_MAX = 50  # of one request
READ_MAX = 1_000  # turns that one request reads


class Suggestion(msgspec.Struct, frozen=True):
    """A preference as a candidate, and the turn in which it is stated."""

    turn: int
    draft: Draft


class Suggestions(msgspec.Struct, frozen=True):
    """Preferences in the order of their turns. `next_turn` is where to go on, None when all turns were read."""

    items: Sequence[Suggestion]
    next_turn: int | None


def suggestions(exchange: Memory) -> Iterator[Suggestion]:
    """Yield the preferences that an exchange states, one of each message.

    A suggestion has the sentences that state it and their speaker. What an assistant says, or nobody in particular, is
    no preference of a user.
    """
    for one in messages_of(exchange):
        author = one.speaker
        found = stating(one.text, "preference", author=author)
        if author is not None and found:
            draft = Draft(
                content=" ".join(found),
                type="preference",
                status="candidate",
                author=author,
                category=exchange.category,
                event_at=exchange.event_at,
                derived_from=(exchange.id,),
            )
            yield Suggestion(exchange.turn or 0, draft)
