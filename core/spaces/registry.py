"""The spaces of a database: made, listed, given quotas and policies, erased."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from muisti.core.erasure.eraser import Eraser
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.counts import Quota, Usage
from muisti.core.model.erasures import Erasure
from muisti.core.model.errors import AlreadyExists, EpochGone, NotFound, NotYetReplicated
from muisti.core.model.spaces import Policy, PolicyValue, Space, SpaceSettings, check_name
from muisti.core.model.times import Clock
from muisti.core.model.values import LOCAL, Seq
from muisti.core.read import feed
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused
from muisti.core.store.refusal_codes import Refusal
from muisti.core.store.sql import audit, quotas, spaces
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.store.sql.trial import written
from muisti.core.write.validate import check_policy, check_quota, check_settings


class Spaces:
    """What is done with whole spaces. `quota` and `policy` hold where a space has none of its own."""

    def __init__(
        self, database: Database, indexes: Indexes, eraser: Eraser, clock: Clock, quota: Quota, policy: Policy
    ) -> None:
        self._database = database
        self._indexes = indexes
        self._eraser = eraser
        self._clock = clock
        self._quota = quota
        self._policy = policy

    def list(self) -> list[Space]:
        (rows,) = self._database.read([spaces.all_spaces()])
        return [self._told(space_row(row)) for row in rows]

    def standing(self, names: Sequence[str]) -> dict[str, Seq]:
        """Where spaces stand, of those that exist: one cheap question."""
        return feed.standing(self._database, names)

    def get(self, name: str) -> Space:
        return self._told(find_space(self._database, name))

    def create(
        self, name: str, settings: SpaceSettings | None = None, *, by: str = LOCAL, dry_run: bool = False
    ) -> Space:
        """Make an empty space; a dry run tells what it would be.

        Raises:
            AlreadyExists: there is one of this name.
        """
        check_name(name)
        settings = settings or SpaceSettings()
        check_settings(settings)
        now = self._clock()
        made = spaces.insert(name, str(uuid.uuid4()), settings, now)
        told = audit.note(now, by, "space_created", space=name)
        try:
            rows = written(self._database, [*made, told], spaces.by_name(name), dry_run=dry_run)
        except Refused as refused:
            raise AlreadyExists(f"a space {name!r} exists already") from refused
        if not rows:  # somebody has erased it meanwhile
            raise NotFound("space", name)
        return self._told(space_row(rows[0]))

    def ensure(self, name: str) -> Space:
        """The space, made when it is missing."""
        try:
            return self._told(find_space(self._database, name))
        except NotFound:
            pass
        try:
            return self.create(name)
        except AlreadyExists:  # another process was faster
            return self._told(find_space(self._database, name))

    def delete(self, name: str, *, by: str = LOCAL) -> Erasure:
        """Erase a space with all that is in it.

        Raises:
            Conflict: it is the default space.
        """
        return self._eraser.space(name, Caller(by), keep=False)

    def set_quota(
        self, space: str, changes: Mapping[str, int | None], *, by: str = LOCAL, dry_run: bool = False
    ) -> tuple[Usage, Seq]:
        """Let a space hold so many `memories` or `bytes` and no more; None: the default. What it holds already stays.

        The quota belongs to the name: a space that is made anew has it too. A dry run tells what would be.
        """
        check_quota(changes)
        found = find_space(self._database, space)
        told = audit.note(self._clock(), by, "quota_set", space=space)
        granted = [*quotas.grant(space, changes), told]
        rows = written(self._database, granted, quotas.usage(found, self._quota), dry_run=dry_run)
        if not rows:
            raise NotFound("space", space)
        return quotas.used(rows[0]), found.seq

    def set_policy(
        self, space: str, changes: Mapping[str, PolicyValue | None], *, by: str = LOCAL, dry_run: bool = False
    ) -> Space:
        """Say what a space does with `secrets`, `personal_data` and `echoes` from now on; None: the default.

        What is stored already stays as it is, but for what is older than `history_days` and `purge_after_days` allow.
        A dry run tells what would hold.

        Raises:
            InvalidInput: a value is none that a policy may have.
        """
        check_policy(changes)
        found = find_space(self._database.primary, space)
        policy = replace(found.space.policy, **cast(dict[str, Any], changes))
        told = audit.note(self._clock(), by, "policy_set", space=space)
        try:
            batch = [spaces.guard_policy(found), spaces.set_policy(space, policy), told]
            rows = written(self._database, batch, spaces.by_name(space), dry_run=dry_run)
        except Refused as refused:
            if refused.code == Refusal.STALE:  # somebody else has changed another part of it
                return self.set_policy(space, changes, by=by, dry_run=dry_run)
            raise NotFound("space", space) from refused
        if not rows:  # somebody has erased it meanwhile
            raise NotFound("space", space)
        return self._told(space_row(rows[0]))

    def require(self, space: str, at: Seq) -> None:
        """Raise unless this store has reached a point of history.

        Raises:
            EpochGone: the point is of a space that has been made anew since.
            NotYetReplicated: the point has not arrived here.
        """
        try:
            here = find_space(self._database, space).seq
        except NotFound:
            here = None  # where this is read it may not have arrived
        if here is not None and here.epoch == at.epoch and here.number >= at.number:
            return
        here = self.catch_up(space).at
        if here.epoch != at.epoch:
            raise EpochGone(f"space {space!r} has been made anew since {at}; forget that point and read again")
        if here.number < at.number:
            raise NotYetReplicated(f"space {space!r} is at {here}, not yet at {at}; try again")

    def catch_up(self, space: str) -> Space:
        """The space as it stands where it is written. What is read here later has come as far."""
        found = find_space(self._database.primary, space)
        self._indexes.note(found, found.seq.number)
        return found.space

    def ruled(self, space: Space) -> Space:
        """The same with the policy that holds in it, the defaults of the server included."""
        return replace(space, policy=space.policy.over(self._policy))

    def _told(self, found: SpaceRow) -> Space:
        return self.ruled(found.space)
