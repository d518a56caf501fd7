"""Create, list, limit and erase the spaces of a database."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from muisti.core.embedding.models import SecondModels
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.errors import AlreadyExists, EpochGone, NotFound, NotYetReplicated, StoreUnavailable
from muisti.core.model.operations import Erasure
from muisti.core.model.outcomes import Quota, SpaceUse, Usage
from muisti.core.model.spaces import PolicyValue, Space, SpaceSettings, check_name, check_open
from muisti.core.model.times import Clock
from muisti.core.model.values import LOCAL, Seq
from muisti.core.operations.erasure.eraser import Eraser
from muisti.core.read import feed
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, written
from muisti.core.store.sql import operations, quotas, spaces
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.write.screening import Screener
from muisti.core.write.validate import check_policy, check_quota, check_settings

TRIES = 16


class Spaces(msgspec.Struct, frozen=True):
    """Operations on whole spaces. `quota` and the policy of `screener` apply to spaces without their own."""

    database: Database
    indexes: Indexes
    eraser: Eraser
    clock: Clock
    quota: Quota
    screener: Screener
    seconds: SecondModels

    def list(self) -> list[Space]:
        (rows,) = self.database.read([spaces.all_spaces()])
        return [self._effective(space_row(row)) for row in rows]

    def uses(self) -> Mapping[str, SpaceUse]:
        """Return the size of every space by its epoch, from counters: no memory is read."""
        (rows,) = self.database.read([quotas.uses()])
        return dict(map(quotas.use, rows))

    def standing(self, names: Sequence[str]) -> dict[str, Seq]:
        """Return the latest change number of each space that exists. This is one cheap query."""
        return feed.standing(self.database, names)

    def get(self, name: str) -> Space:
        return self._effective(find_space(self.database, name))

    def create(
        self, name: str, settings: SpaceSettings | None = None, *, by: str = LOCAL, dry_run: bool = False
    ) -> Space:
        """Create an empty space. A dry run returns the space that would be created.

        Raises:
            AlreadyExists: a space of this name exists.
            SensitiveContent: the server's policy refuses some of the description.
        """
        check_name(name)
        settings = self._screened(settings or SpaceSettings(), by)
        check_settings(settings)
        now = self.clock()
        made = spaces.insert(name, str(uuid.uuid4()), settings, now)
        entry = operations.audit(now, by, "space_created", space=name)
        try:
            rows = written(self.database, [*made, entry], spaces.by_name(name), dry_run=dry_run)
        except Refused as refused:
            raise AlreadyExists(f"a space {name!r} exists already") from refused
        if not rows:  # erased by another process meanwhile
            raise NotFound("space", name)
        return self._effective(space_row(rows[0]))

    def ensure(self, name: str) -> Space:
        """Return the space of this name, as the primary has it: a start waits for no replica. Create a missing one."""
        try:
            return self._effective(find_space(self.database.primary, name))
        except NotFound:
            pass
        try:
            return self.create(name)
        except AlreadyExists:  # another process created it first
            return self._effective(find_space(self.database.primary, name))

    def delete(self, name: str, *, by: str = LOCAL) -> Erasure:
        """Erase a space with everything in it.

        Raises:
            Conflict: the default space cannot be erased.
        """
        return self.eraser.space(name, Caller(by), keep=False)

    def set_quota(
        self, space: str, changes: Mapping[str, int | None], *, by: str = LOCAL, dry_run: bool = False
    ) -> tuple[Usage, Seq]:
        """Limit the number of `memories` or `bytes` of a space; None restores the default. Existing memories stay.

        The quota belongs to the name, so a space that is created again under the name has it too. A dry run returns the
        usage with the new quota.
        """
        check_quota(changes)
        found = find_space(self.database, space)
        entry = operations.audit(self.clock(), by, "quota_set", space=space)
        granted = [*quotas.grant(space, changes), entry]
        rows = written(self.database, granted, quotas.usage(found, self.quota), dry_run=dry_run)
        if not rows:
            raise NotFound("space", space)
        return quotas.used(rows[0]), found.seq

    def set_policy(
        self, space: str, changes: Mapping[str, PolicyValue | None], *, by: str = LOCAL, dry_run: bool = False
    ) -> Space:
        """Change the rules of a space; None restores the default.

        Stored memories stay as they are, except those older than `history_days` and `purge_after_days` allow. A dry run
        returns the policy that would apply.

        Raises:
            InvalidInput: a policy cannot have such a value, or this process has no such second model.
        """
        check_policy(changes)
        if isinstance(second := changes.get("second_model"), str):
            self.seconds.check(second)
        found = find_space(self.database.primary, space)
        policy = replace(found.space.policy, **cast(dict[str, Any], changes))
        entry = operations.audit(self.clock(), by, "policy_set", space=space)
        try:
            batch = [spaces.guard_policy(found), spaces.set_policy(space, policy), entry]
            rows = written(self.database, batch, spaces.by_name(space), dry_run=dry_run)
        except Refused as refused:
            if refused.code == Refusal.STALE:  # another process changed another part of it
                return self.set_policy(space, changes, by=by, dry_run=dry_run)
            raise NotFound("space", space) from refused
        if not rows:  # erased by another process meanwhile
            raise NotFound("space", space)
        return self._effective(space_row(rows[0]))

    def describe(self, name: str, change: Callable[[SpaceSettings], SpaceSettings], *, by: str = LOCAL) -> Space:
        """Change what a space says of itself: its title, its description and its labels.

        Raises:
            InvalidInput: the space is archived.
            SensitiveContent: the server's policy refuses some of the new words.
        """
        for _ in range(TRIES):
            found = find_space(self.database.primary, name)
            check_open(found.space)
            before, now = found.space.settings, self.clock()
            after = self._screened(change(before), by)
            if after == before:
                return self._effective(found)
            entry = operations.audit(now, by, "policy_set", space=name)
            batch = [*spaces.describe(found, replace(after, changed_us=now)), entry]
            with suppress(Refused):  # somebody else has changed or erased it
                rows = written(self.database, batch, spaces.by_name(name), dry_run=False)
                return self._effective(space_row(rows[0]))
        raise StoreUnavailable("others change the same space all the time; try again")

    def archive(self, name: str, *, by: str = LOCAL) -> Space:
        """Let a space take no text from now on; once it is archived, nothing changes."""
        found = self.get(name)
        return found if found.policy.archived_us else self.set_policy(name, {"archived_us": self.clock()}, by=by)

    def _screened(self, settings: SpaceSettings, by: str) -> SpaceSettings:
        def clean(text: str | None, path: str) -> str | None:
            return text and self.screener.described(text, Caller(by), path)

        labels = {name: clean(value, f"$.metadata.{name}") or "" for name, value in settings.labels.items()}
        description = clean(settings.description, "$.description")
        return replace(settings, title=clean(settings.title, "$.name"), description=description, labels=labels)

    def require(self, space: str, at: Seq) -> None:
        """Raise unless this database has reached a point of history.

        Raises:
            EpochGone: the space was erased and created again since then.
            NotYetReplicated: the change has not arrived in this replica.
        """
        try:
            here = find_space(self.database, space).seq
        except NotFound:
            here = None  # it may not have arrived in the replica
        if here is not None and here.epoch == at.epoch and here.number >= at.number:
            return
        here = self.catch_up(space).at
        if here.epoch != at.epoch:
            raise EpochGone(f"space {space!r} was erased and created again since {at}; drop that point and read again")
        if here.number < at.number:
            raise NotYetReplicated(f"space {space!r} is at {here}, not yet at {at}; try again")

    def catch_up(self, space: str) -> Space:
        """Return the current space of the primary database. Later reads of this replica include its changes."""
        found = find_space(self.database.primary, space)
        self.indexes.note(found, found.seq.number)
        return found.space

    def ruled(self, space: Space) -> Space:
        """Return the space with its effective policy, which includes the defaults of the server."""
        return replace(space, policy=space.policy.over(self.screener.default))

    def _effective(self, found: SpaceRow) -> Space:
        return self.ruled(found.space)
