"""Webhooks of a space, with the position of each in the change feed, and the deliveries that failed.

`service.webhooks` sends them. Only positions are stored here; the changes are in the feed. So a change may be delivered
twice, and none is lost silently: a delivery that is given up becomes a dead letter.
"""

import base64
import secrets
import uuid
from collections.abc import Sequence
from typing import cast

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.errors import Conflict, EpochGone, NotFound, PastRetention
from muisti.core.model.operations import DeadLetter, Kept, Webhook
from muisti.core.model.outcomes import Events
from muisti.core.model.values import Seq
from muisti.core.operations import webhook_sql
from muisti.core.query.points import Wanted, check
from muisti.core.read.feed import changes_of
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, written
from muisti.core.store.sql import operations, spaces

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
            batch = [spaces.guard(found), *webhook_sql.insert(found, new, MOST), entry]
            written(self._database, batch, spaces.number(found), dry_run=dry_run)
        except Refused as refused:
            if refused.code == Refusal.NO_SPACE:
                raise NotFound("space", space) from refused
            raise Conflict(f"space {space!r} has {MOST} webhooks already; delete one first") from refused
        return Webhook(new)

    def all(self, space: str) -> list[Webhook]:
        """Return the webhooks of a space."""
        found = find_space(self._database, space)
        rows, letters = self._database.read(webhook_sql.all_of(found))
        by: dict[str, list[DeadLetter]] = {}
        for row in letters:
            by.setdefault(cast(str, row[0]), []).append(DeadLetter(*cast(tuple[int, int, int, str, int], row[1:])))
        return [Webhook(one, tuple(by.get(one.id, ()))) for one in map(webhook_sql.kept, rows)]

    def delete(self, space: str, id_: str, caller: Caller, now: int, *, dry_run: bool = False) -> None:
        """Delete a webhook. Raises `NotFound` when there is none."""
        found = find_space(self._database, space)
        entry = operations.audit(now, caller.actor, "webhook_deleted", space=space, target=id_)
        try:
            written(self._database, [*webhook_sql.delete(found, id_), entry], spaces.number(found), dry_run=dry_run)
        except Refused as refused:
            raise NotFound("webhook", id_) from refused

    def redeliver(self, space: str, id_: str, since: int | None, *, dry_run: bool = False) -> Webhook:
        """Deliver again from a change, or from the first change that failed. A stopped webhook resumes.

        Raises:
            NotFound: there is no such webhook.
        """
        found = find_space(self._database, space)
        try:
            ask = webhook_sql.by_id(id_)
            rows = written(self._database, webhook_sql.go_back(found, id_, since), ask, dry_run=dry_run)
        except Refused as refused:
            raise NotFound("webhook", id_) from refused
        if not rows:  # deleted meanwhile
            raise NotFound("webhook", id_)
        return Webhook(webhook_sql.kept(rows[0]))

    def spaces_with_due(self, now: int) -> list[str]:
        """Return the spaces whose webhooks have changes to deliver."""
        (rows,) = self._database.read([webhook_sql.spaces_with_due(now)])
        return [str(name) for (name,) in rows]

    def due(self, space: str, now: int) -> list[Kept]:
        """Return the webhooks of a space that have changes to deliver."""
        (rows,) = self._database.read([webhook_sql.due(find_space(self._database, space), now)])
        return [webhook_sql.kept(row) for row in rows]

    def next_of(self, space: str, one: Kept, now: int) -> Events | None:
        """Return the next changes to deliver, or None when the feed no longer has them, which makes a dead letter."""
        wanted = Wanted(since=Seq(one.epoch, one.cursor), kinds=one.kinds, show=one.show, limit=AT_ONCE)
        try:
            return changes_of(self._database, space, wanted, OWNER)
        except (EpochGone, PastRetention):
            self._database.write(webhook_sql.give_up(one, one.cursor + 1, one.attempts, LOST, now))
            return None

    def reached(self, one: Kept, cursor: int, now: int) -> None:
        """Store that all changes up to `cursor` were delivered."""
        self._database.write([webhook_sql.reached(one, cursor, now)])

    def failed(self, one: Kept, delivered: int, first: int, error: str, now: int, *, gone: bool = False) -> None:
        """Store that changes up to `delivered` were delivered and change `first` was not. It is retried, then given up.

        The wait grows with each try. `gone`: the receiver wants no more deliveries.
        """
        attempts = (one.attempts if delivered == one.cursor else 0) + 1
        if gone:
            self._database.write([webhook_sql.failed(one, delivered, attempts, 0, error, "gone")])
        elif attempts > len(WAITS):
            self._database.write(webhook_sql.give_up(one, first, attempts, error, now))
        else:
            next_at = now + WAITS[attempts - 1] * SECOND_US
            self._database.write([webhook_sql.failed(one, delivered, attempts, next_at, error, None)])
