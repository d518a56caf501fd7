"""Webhooks: who is to be told of the changes of a space, how far they were told, and what could not be told.

Somebody else sends (`service.webhooks`). The feed has the changes; here stands only how far each webhook is in it, so a
change may be told twice, and never goes missing unnoticed: what is given up is a dead letter.
"""

import base64
import secrets
import uuid
from collections.abc import Sequence
from typing import cast

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, EpochGone, NotFound, PastRetention
from muisti.core.model.events import Events
from muisti.core.model.terms import ChangeKind, Show
from muisti.core.model.values import Seq
from muisti.core.model.webhooks import DeadLetter, Kept, Webhook
from muisti.core.query.changes import Wanted, check
from muisti.core.read.feed import changes_of
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused
from muisti.core.store.refusal_codes import Refusal
from muisti.core.store.sql import audit, spaces, webhooks
from muisti.core.store.sql.trial import written

MOST = 20  # of a space
AT_ONCE = 20  # changes that are told before it is noted how far
SECRET_BYTES = 32
SECOND_US = 1_000_000
WAITS = (5, 30, 300, 1_800, 7_200, 18_000)  # seconds until the next try, about eight hours in all
LAID_ASIDE = "what came before is forgotten; only what follows is told"


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
        """Tell an address of what changes from now on, of these kinds (none: all).

        Raises:
            InvalidInput: there is no such kind.
            Conflict: the space has as many as it may have.
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
        told = audit.note(now, caller.actor, "webhook_created", space=space, target=new.id)
        try:
            batch = [spaces.guard(found), *webhooks.insert(found, new, MOST), told]
            written(self._database, batch, spaces.number(found), dry_run=dry_run)
        except Refused as refused:
            if refused.code == Refusal.NO_SPACE:
                raise NotFound("space", space) from refused
            raise Conflict(f"space {space!r} has {MOST} webhooks already; delete one first") from refused
        return Webhook(new)

    def all(self, space: str) -> list[Webhook]:
        """The webhooks of a space."""
        found = find_space(self._database, space)
        rows, letters = self._database.read(webhooks.all_of(found))
        by: dict[str, list[DeadLetter]] = {}
        for row in letters:
            by.setdefault(cast(str, row[0]), []).append(DeadLetter(*cast(tuple[int, int, int, str, int], row[1:])))
        return [Webhook(one, tuple(by.get(one.id, ()))) for one in map(webhooks.kept, rows)]

    def delete(self, space: str, id_: str, caller: Caller, now: int, *, dry_run: bool = False) -> None:
        """Raises `NotFound` when there is none."""
        found = find_space(self._database, space)
        told = audit.note(now, caller.actor, "webhook_deleted", space=space, target=id_)
        try:
            written(self._database, [*webhooks.delete(found, id_), told], spaces.number(found), dry_run=dry_run)
        except Refused as refused:
            raise NotFound("webhook", id_) from refused

    def redeliver(self, space: str, id_: str, since: int | None, *, dry_run: bool = False) -> Webhook:
        """Go back to a change, or to the first one that could not be told, and tell again all that came after it.

        One that had stopped goes on.

        Raises:
            NotFound: there is none.
        """
        found = find_space(self._database, space)
        try:
            ask = webhooks.by_id(id_)
            rows = written(self._database, webhooks.go_back(found, id_, since), ask, dry_run=dry_run)
        except Refused as refused:
            raise NotFound("webhook", id_) from refused
        if not rows:  # deleted meanwhile
            raise NotFound("webhook", id_)
        return Webhook(webhooks.kept(rows[0]))

    def spaces_with_due(self, now: int) -> list[str]:
        """The spaces whose webhooks have something to tell."""
        (rows,) = self._database.read([webhooks.spaces_with_due(now)])
        return [str(name) for (name,) in rows]

    def due(self, space: str, now: int) -> list[Kept]:
        """The webhooks of a space that have something to tell."""
        (rows,) = self._database.read([webhooks.due(find_space(self._database, space), now)])
        return [webhooks.kept(row) for row in rows]

    def next_of(self, space: str, one: Kept, now: int) -> Events | None:
        """What a webhook has to tell next; None when the feed has forgotten that, which is a dead letter."""
        wanted = Wanted(since=Seq(one.epoch, one.cursor), kinds=one.kinds, show=one.show, limit=AT_ONCE)
        try:
            return changes_of(self._database, space, wanted, OWNER)
        except (EpochGone, PastRetention):
            self._database.write(webhooks.give_up(one, one.cursor + 1, one.attempts, LAID_ASIDE, now))
            return None

    def reached(self, one: Kept, cursor: int, now: int) -> None:
        """All up to a change was told."""
        self._database.write([webhooks.reached(one, cursor, now)])

    def failed(self, one: Kept, told: int, first: int, error: str, now: int, *, gone: bool = False) -> None:
        """All up to `told` was told, and `first` was not. It is tried again, later each time, and then laid aside.

        `gone`: nobody wants to be told any more.
        """
        attempts = (one.attempts if told == one.cursor else 0) + 1
        if gone:
            self._database.write([webhooks.failed(one, told, attempts, 0, error, "gone")])
        elif attempts > len(WAITS):
            self._database.write(webhooks.give_up(one, first, attempts, error, now))
        else:
            next_at = now + WAITS[attempts - 1] * SECOND_US
            self._database.write([webhooks.failed(one, told, attempts, next_at, error, None)])
