"""Webhooks of a space, with the position of each in the change feed, and the deliveries that failed.

`service.webhooks` sends them. Only positions are stored here; the changes are in the feed. So a change may be delivered
twice, and none is lost silently: a delivery that is given up becomes a dead letter.
"""

import base64
import json
import secrets
import uuid
from collections.abc import Sequence
from typing import Any, cast

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.errors import Conflict, EpochGone, NotFound, PastRetention
from muisti.core.model.operations import DeadLetter, Kept, Webhook
from muisti.core.model.outcomes import Events
from muisti.core.model.values import Seq
from muisti.core.query.points import Wanted, check
from muisti.core.read.feed import changes_of
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Row, Statement, refuse, written
from muisti.core.store.sql import operations, spaces
from muisti.core.store.sql.spaces import SpaceRow

MOST = 20  # in a space
AT_ONCE = 20  # changes that are delivered before the position is stored
SECRET_BYTES = 32
SECOND_US = 1_000_000
WAITS = (5, 30, 300, 1_800, 7_200, 18_000)  # seconds until the next try, about eight hours in total
LOST = "the feed no longer has these changes; delivery continues with later ones"


class Webhooks:
    """The webhooks of a database. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        space: str,
        url: str,
        kinds: Sequence[ChangeKind],
        show: Show,
        caller: Caller,
        now: int,
        *,
        dry_run: bool = False,
    ) -> Webhook:
        """Create a webhook that delivers changes from now on, of the given kinds, or of all kinds if none is given.

        Raises:
            InvalidInput: there is no such kind.
            Conflict: the space has the maximum number of webhooks.
        """
        check(Wanted(kinds=tuple(kinds), show=show))
        found = find_space(self._database, space)
        new = Kept(
            id=uuid.uuid4().hex[:12],
            url=url,
            secret="whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode(),
            kinds=tuple(kinds),
            show=show,
            made_at=now,
            actor=caller.actor,
            epoch=found.space.epoch,
            cursor=found.seq.number,
        )
        entry = operations.audit(now, caller.actor, "webhook_created", space=space, target=new.id)
        try:
            batch = [spaces.guard(found), *_insert(found, new, MOST), entry]
            written(self._database, batch, spaces.number(found), dry_run=dry_run)
        except Refused as refused:
            if refused.code == Refusal.NO_SPACE:
                raise NotFound("space", space) from refused
            raise Conflict(f"space {space!r} has {MOST} webhooks already; delete one first") from refused
        return Webhook(new)

    def all(self, space: str) -> list[Webhook]:
        """Return the webhooks of a space."""
        found = find_space(self._database, space)
        rows, letters = self._database.read(_all_of(found))
        by: dict[str, list[DeadLetter]] = {}
        for row in letters:
            by.setdefault(cast(str, row[0]), []).append(DeadLetter(*cast(tuple[int, int, int, str, int], row[1:])))
        return [Webhook(one, tuple(by.get(one.id, ()))) for one in map(_kept, rows)]

    def delete(self, space: str, id_: str, caller: Caller, now: int, *, dry_run: bool = False) -> None:
        """Delete a webhook. Raises `NotFound` when there is none."""
        found = find_space(self._database, space)
        entry = operations.audit(now, caller.actor, "webhook_deleted", space=space, target=id_)
        try:
            written(self._database, [*_delete(found, id_), entry], spaces.number(found), dry_run=dry_run)
        except Refused as refused:
            raise NotFound("webhook", id_) from refused

    def redeliver(self, space: str, id_: str, since: int | None, *, dry_run: bool = False) -> Webhook:
        """Deliver again from a change, or from the first change that failed. A stopped webhook resumes.

        Raises:
            NotFound: there is no such webhook.
        """
        found = find_space(self._database, space)
        try:
            ask = _by_id(id_)
            rows = written(self._database, _go_back(found, id_, since), ask, dry_run=dry_run)
        except Refused as refused:
            raise NotFound("webhook", id_) from refused
        if not rows:  # deleted meanwhile
            raise NotFound("webhook", id_)
        return Webhook(_kept(rows[0]))

    def spaces_with_due(self, now: int) -> list[str]:
        """Return the spaces whose webhooks have changes to deliver."""
        (rows,) = self._database.read([_spaces_with_due(now)])
        return [str(name) for (name,) in rows]

    def due(self, space: str, now: int) -> list[Kept]:
        """Return the webhooks of a space that have changes to deliver."""
        (rows,) = self._database.read([_due(find_space(self._database, space), now)])
        return [_kept(row) for row in rows]

    def next_of(self, space: str, one: Kept, now: int) -> Events | None:
        """Return the next changes to deliver, or None when the feed no longer has them, which makes a dead letter."""
        wanted = Wanted(since=Seq(one.epoch, one.cursor), kinds=one.kinds, show=one.show, limit=AT_ONCE)
        try:
            return changes_of(self._database, space, wanted, OWNER)
        except (EpochGone, PastRetention):
            self._database.write(_give_up(one, one.cursor + 1, one.attempts, LOST, now))
            return None

    def reached(self, one: Kept, cursor: int, now: int) -> None:
        """Store that all changes up to `cursor` were delivered."""
        self._database.write([_reached(one, cursor, now)])

    def failed(self, one: Kept, delivered: int, first: int, error: str, now: int, *, gone: bool = False) -> None:
        """Store that changes up to `delivered` were delivered and change `first` was not. It is retried, then given up.

        The wait grows with each try. `gone`: the receiver wants no more deliveries.
        """
        attempts = (one.attempts if delivered == one.cursor else 0) + 1
        if gone:
            self._database.write([_failed(one, delivered, attempts, 0, error, "gone")])
        elif attempts > len(WAITS):
            self._database.write(_give_up(one, first, attempts, error, now))
        else:
            next_at = now + WAITS[attempts - 1] * SECOND_US
            self._database.write([_failed(one, delivered, attempts, next_at, error, None)])


# The SQL of webhooks: the receivers of a space's changes, their progress, and changes that could not be delivered

LETTERS_MAX = 100  # dead letters that are kept of a webhook, the newest

_COLUMNS = (
    "w.id, w.url, w.secret, w.kinds, w.show, w.made_at, w.actor, w.epoch, w.cursor, w.attempts, w.error, w.told_at, "
    "w.stopped"
)
_DUE = "w.stopped IS NULL AND w.next_at <= ? AND (w.cursor < s.seq OR w.epoch <> s.epoch)"


def _kept(row: Row) -> Kept:
    """Read a row of `_all_of` or `_due`."""
    names = ("id", "url", "secret", "kinds", "show", "made_at", "actor", "epoch", "cursor", "attempts", "error",
             "told_at", "stopped")  # fmt: skip
    values: dict[str, Any] = dict(zip(names, row, strict=True))
    values["kinds"] = tuple(json.loads(values["kinds"]))
    return Kept(**values)


def _insert(space: SpaceRow, new: Kept, most: int) -> list[Statement]:
    """Add a webhook; refuse with `incomplete` when the space has `most` webhooks."""
    return [
        Statement(
            f"{refuse(Refusal.INCOMPLETE)} WHERE (SELECT count(*) FROM webhooks WHERE space_id = ?) >= ?",
            (space.id, most),
        ),
        Statement(
            "INSERT INTO webhooks (id, space_id, url, secret, kinds, show, made_at, actor, epoch, cursor) "
            "SELECT ?, id, ?, ?, ?, ?, ?, ?, epoch, ? FROM spaces WHERE id = ?",
            (
                new.id,
                new.url,
                new.secret,
                json.dumps(new.kinds),
                new.show,
                new.made_at,
                new.actor,
                new.cursor,
                space.id,
            ),
        ),
    ]


def _all_of(space: SpaceRow) -> list[Statement]:
    """Select the webhooks of a space, and (webhook, first, last, attempts, error, at) of dead letters, newest first."""
    return [
        Statement(f"SELECT {_COLUMNS} FROM webhooks w WHERE w.space_id = ? ORDER BY w.id", (space.id,)),
        Statement(
            "SELECT d.webhook_id, d.first, d.last, d.attempts, d.error, d.at FROM dead_letters d "
            "JOIN webhooks w ON w.id = d.webhook_id WHERE w.space_id = ? ORDER BY d.id DESC",
            (space.id,),
        ),
    ]


def _by_id(id_: str) -> Statement:
    return Statement(f"SELECT {_COLUMNS} FROM webhooks w WHERE w.id = ?", (id_,))


def _due(space: SpaceRow, now: int) -> Statement:
    """Select the webhooks of a space with changes to deliver now."""
    return Statement(
        f"SELECT {_COLUMNS} FROM webhooks w JOIN spaces s ON s.id = w.space_id WHERE s.id = ? AND {_DUE}",
        (space.id, now),
    )


def _spaces_with_due(now: int) -> Statement:
    """Select the names of the spaces that have webhooks with changes to deliver now."""
    return Statement(f"SELECT DISTINCT s.name FROM webhooks w JOIN spaces s ON s.id = w.space_id WHERE {_DUE}", (now,))


def _delete(space: SpaceRow, id_: str) -> list[Statement]:
    """Delete a webhook; refuse with `no_memory` when it does not exist."""
    return [_refuse_missing(space, id_), Statement("DELETE FROM webhooks WHERE id = ?", (id_,))]


def _go_back(space: SpaceRow, id_: str, since: int | None) -> list[Statement]:
    """Deliver changes after `since`, or else the dead letters, again. Refuse with `no_memory` without a webhook."""
    laid_aside = "(SELECT min(first) - 1 FROM dead_letters WHERE webhook_id = webhooks.id)"
    return [
        _refuse_missing(space, id_),
        Statement(
            "UPDATE webhooks SET attempts = 0, next_at = 0, stopped = NULL, error = NULL, "
            f"cursor = min(cursor, coalesce(?, {laid_aside}, cursor)) WHERE id = ?",
            (since, id_),
        ),
        Statement("DELETE FROM dead_letters WHERE webhook_id = ?", (id_,)),
    ]


def _reached(one: Kept, cursor: int, now: int) -> Statement:
    """Record that all changes up to `cursor` were delivered."""
    return Statement(
        "UPDATE webhooks SET cursor = ?, attempts = 0, next_at = 0, error = NULL, told_at = ? "
        "WHERE id = ? AND cursor = ? AND epoch = ?",
        (cursor, now, one.id, one.cursor, one.epoch),
    )


def _failed(one: Kept, cursor: int, attempts: int, next_at: int, error: str, stopped: str | None) -> Statement:
    """Record a failed delivery, and when to retry or why delivery stops."""
    return Statement(
        "UPDATE webhooks SET cursor = ?, attempts = ?, next_at = ?, error = ?, stopped = ? WHERE id = ? AND cursor = ? "
        "AND epoch = ? AND attempts = ?",
        (cursor, attempts, next_at, error, stopped, one.id, one.cursor, one.epoch, one.attempts),
    )


def _give_up(one: Kept, first: int, attempts: int, error: str, now: int) -> list[Statement]:
    """Turn all changes from `first` up to the space's seq into a dead letter, and continue after them."""
    mine = "FROM webhooks w JOIN spaces s ON s.id = w.space_id WHERE w.id = ? AND w.cursor = ? AND w.epoch = ?"
    known = (one.id, one.cursor, one.epoch)
    return [
        Statement(
            "INSERT INTO dead_letters (webhook_id, first, last, attempts, error, at) "
            f"SELECT w.id, ?, s.seq, ?, ?, ? {mine} AND s.epoch = w.epoch",
            (first, attempts, error, now, *known),
        ),
        Statement(
            "UPDATE webhooks SET attempts = 0, next_at = 0, error = ?, "
            "(cursor, epoch) = (SELECT seq, epoch FROM spaces WHERE id = space_id) "
            "WHERE id = ? AND cursor = ? AND epoch = ?",
            (error, *known),
        ),
        Statement(
            "DELETE FROM dead_letters WHERE webhook_id = ? AND id NOT IN "
            "(SELECT id FROM dead_letters WHERE webhook_id = ? ORDER BY id DESC LIMIT ?)",
            (one.id, one.id, LETTERS_MAX),
        ),
    ]


def _refuse_missing(space: SpaceRow, id_: str) -> Statement:
    return Statement(
        f"{refuse(Refusal.NO_MEMORY)} WHERE NOT EXISTS (SELECT 1 FROM webhooks WHERE id = ? AND space_id = ?)",
        (id_, space.id),
    )
