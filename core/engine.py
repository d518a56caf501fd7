"""The one object that the service holds: opens the store, delegates, closes."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, cast

from msgspec.structs import replace

from core import auditing, feed
from core.bell import Bell
from core.calibration import Calibration
from core.caller import OWNER, Caller
from core.checkpoints import Checkpoints
from core.deciding import Conflicts
from core.echoes import Echoes
from core.embed import Encoder
from core.erasing import AT_A_TIME, Eraser, Erasure, Subject
from core.errors import (
    AlreadyExists,
    EpochGone,
    InvalidInput,
    MuistiError,
    NotFound,
    NotYetReplicated,
    RecallDropped,
)
from core.expiry import Expirer
from core.forks import Forks
from core.ids import IdSource
from core.importing.importer import Importer
from core.index.cache import Indexes
from core.kernels import bake
from core.keys import Keys
from core.leases import Leases
from core.linting import Linter
from core.lives import Lives
from core.memories import Clock, Memories, Parts
from core.meters import Meters
from core.probes import Probes
from core.reading import find_space
from core.receipts import Receipts
from core.reembed import Progress, reembed, turn_back
from core.retention import forget
from core.reviewing import Reviewer
from core.screening import Screener
from core.search import Searcher
from core.served import Served
from core.signing import SigningKeys
from core.store import audit, candidates, quotas, requests, retention, spaces
from core.store.database import Database, Refused, Statement
from core.store.migrate import migrate
from core.store.spaces import SpaceRow, space_row
from core.store.trial import written
from core.telemetry import Retrievals
from core.times import DAY_US
from core.transactions import Transactions
from core.undoing import Undoer
from core.validate import check_policy, check_quota, check_settings
from core.values import LOCAL, USUAL_POLICY, AuditPage, Policy, Quota, Seq, Space, SpaceSettings, Usage
from core.webhooks import Webhooks
from core.writing import Writer

DAY_HOURS = 24
RECEIPT_DAYS = 30
HOUR_US = 3_600_000_000
MEMORY = 512 << 20  # bytes
ANSWERS_AT_ONCE = 1_000


class Engine(Memories):
    """Remember and recall, as whoever has the database itself; others by `seen_by`. Owns the database."""

    def __init__(
        self,
        database: Database,
        encoder: Encoder | None,
        clock: Clock,
        *,
        index_memory: int = MEMORY,
        retention_hours: float = DAY_HOURS,
        calibration: Calibration | None = None,
        quota: Quota | None = None,
        policy: Policy = USUAL_POLICY,
        receipt_days: float = RECEIPT_DAYS,
    ) -> None:
        """Bring the database to this schema. `encoder` None means that embeddings are off.

        `index_memory` is in bytes; `retention_hours` is how long the answers of requests with a key are kept, and old
        versions at least, whatever a policy says.
        `calibration` None knows no model: answers are `uncalibrated` but for search by keyword. `quota` is that of
        spaces that have none of their own, and so is `policy`. Receipts are kept for `receipt_days`.

        Raises:
            SchemaTooNew: a newer Muisti wrote the database.
        """
        self._database = database
        self._encoder = encoder
        self._clock = clock
        self._quota = quota or Quota()
        migrate(database.primary, clock())
        self.meters = Meters(database.meters)
        self.bell = Bell()
        self._indexes = Indexes(
            database, self.meters.load_seconds, self.bell, memory=index_memory, vectors=encoder is not None
        )
        answers = int(retention_hours * HOUR_US)
        transactions = Transactions(database.primary, self._indexes, encoder, answers, self._quota, self.meters.changes)
        self._least_history_us = answers  # they name versions
        self._expirer = Expirer(database.primary, transactions)
        ids, screener = IdSource(), Screener(policy)
        self._policy = policy
        lives = Lives(database.primary, encoder, transactions, ids, self._quota, screener)
        served = Served()
        echoes = Echoes(database.primary, served, policy)
        writer = Writer(
            database.primary, self._indexes, encoder, transactions, lives, ids, self._quota, screener, echoes
        )
        searcher = Searcher(database, self._indexes, encoder, calibration or Calibration())
        undoer = Undoer(database.primary, encoder, transactions, self._quota)
        points = Checkpoints(database, encoder, transactions, clock)
        forks = Forks(database, self._indexes, transactions)
        retrievals = Retrievals(database.primary)
        importer = Importer(database.primary, self._indexes, encoder, self._quota, clock, screener)
        reviewer = Reviewer(database.primary, transactions)
        linter = Linter(database, self._indexes, encoder, screener)
        parts = Parts(
            database,
            clock,
            writer,
            lives,
            undoer,
            points,
            forks,
            searcher,
            retrievals,
            served,
            reviewer,
            linter,
            Conflicts(database.primary, encoder, transactions, self._quota),
            importer,
            self._quota,
        )
        super().__init__(parts, OWNER)
        self.keys = Keys(database)
        self.receipts = Receipts(database.primary, ids, receipt_days)
        self.probes = Probes(database.primary, searcher, ids)
        self.leases = Leases(database.primary)
        self.webhooks = Webhooks(database.primary)
        self.signing_keys = SigningKeys(database)
        self.eraser = Eraser(database, self._indexes, served, clock)
        self.ensure_space(spaces.DEFAULT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the waiting writes and let go of the database."""
        with suppress(MuistiError):  # it is a count
            self.flush_retrievals()
        self._indexes.close()
        self._database.close()

    def settle(self) -> None:
        """Wait for what is done in the background."""
        self._indexes.settle()

    def warm(self) -> None:
        """Load what the first search would wait for: the compiled loops and the model."""
        bake()
        if self._encoder is not None:
            self._encoder.encode_query("warm")

    def now(self) -> int:
        """The time, in microseconds since 1970."""
        return self._clock()

    @property
    def store(self) -> str:
        """Name and version of the database engine."""
        return self._database.engine

    @property
    def model(self) -> str | None:
        """Name of the embedding model, None when embeddings are off."""
        return None if self._encoder is None else self._encoder.name

    @property
    def generation(self) -> str | None:
        """Hash of the embedding model, which is loaded for it; None when embeddings are off."""
        return None if self._encoder is None else self._encoder.identity

    @property
    def indexes_loaded(self) -> int:
        """Spaces whose index is in memory."""
        return self._indexes.loaded

    @property
    def index_bytes(self) -> int:
        """Memory that the indexes take."""
        return self._indexes.nbytes

    @property
    def indexes_loading(self) -> list[str]:
        """The spaces whose index is being loaded."""
        return self._indexes.loading

    @property
    def indexes_evicted(self) -> int:
        """How often the index of a space was forgotten to stay within the memory."""
        return self._indexes.evicted

    def seen_by(self, caller: Caller, *, dry_run: bool = False) -> Memories:
        """The same memories, as another caller reads and changes them; with `dry_run` nothing that is written stays."""
        return Memories(self._parts, caller, dry_run=dry_run)

    def list_spaces(self) -> list[Space]:
        (rows,) = self._database.read([spaces.all_spaces()])
        return [self._told(space_row(row)) for row in rows]

    def standing(self, names: Sequence[str]) -> dict[str, Seq]:
        """Where spaces stand, of those that exist: one cheap question."""
        return feed.standing(self._database, names)

    def get_space(self, name: str) -> Space:
        return self._told(find_space(self._database, name))

    def create_space(
        self, name: str, settings: SpaceSettings | None = None, *, by: str = LOCAL, dry_run: bool = False
    ) -> Space:
        """Make an empty space; a dry run tells what it would be.

        Raises:
            AlreadyExists: there is one of this name.
        """
        spaces.check_name(name)
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

    def ensure_space(self, name: str) -> Space:
        """The space, made when it is missing."""
        try:
            return self._told(find_space(self._database, name))
        except NotFound:
            pass
        try:
            return self.create_space(name)
        except AlreadyExists:  # another process was faster
            return self._told(find_space(self._database, name))

    def delete_space(self, name: str, *, by: str = LOCAL) -> Erasure:
        """Erase a space with all that is in it.

        Raises:
            Conflict: it is the default space.
        """
        return self.eraser.space(name, Caller(by), keep=False)

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
        self, space: str, changes: Mapping[str, str | float | None], *, by: str = LOCAL, dry_run: bool = False
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
            if refused.code == "stale":  # somebody else has changed another part of it
                return self.set_policy(space, changes, by=by, dry_run=dry_run)
            raise NotFound("space", space) from refused
        if not rows:  # somebody has erased it meanwhile
            raise NotFound("space", space)
        return self._told(space_row(rows[0]))

    def _told(self, found: SpaceRow) -> Space:
        """A space with the policy that holds in it."""
        return replace(found.space, policy=found.space.policy.over(self._policy))

    def audit(self, *, limit: int = 50, cursor: str | None = None) -> AuditPage:
        """Who administered or deleted what, newest first."""
        (rows,) = self._database.read([auditing.page_of(limit, cursor)])
        return auditing.page(rows, limit)

    def flush_retrievals(self) -> None:
        """Write down what was retrieved since the last time."""
        self._parts.retrievals.flush()

    def spaces_with_candidates(self) -> list[str]:
        """The names of spaces that have some to review."""
        (rows,) = self._database.primary.read([candidates.spaces_with_some()])
        return [str(row[0]) for row in rows]

    def spaces_with_expired(self, now: int) -> list[str]:
        """The spaces with memories that have expired and still stand there."""
        return self._names(retention.expired(now))

    def end_expired(self, space: str, now: int) -> bool:
        """End some memories of a space that have expired; whether there may be more."""
        return self._expirer.step(space, now)

    def spaces_with_old_history(self, now: int) -> list[str]:
        """The spaces with versions that are older than those that are kept."""
        return self._names(retention.due(now, self._policy.history_days or 0.0, self._least_history_us))

    def forget_history(self, space: str, now: int) -> bool:
        """Erase some versions of a space that are older than those that are kept; whether there are more."""
        found = find_space(self._database.primary, space)
        days = found.space.policy.over(self._policy).history_days
        before = now - max(int(days * DAY_US), self._least_history_us) if days else 0
        return forget(self._database.primary, found, before)

    def spaces_with_old_memories(self, now: int) -> list[str]:
        """The spaces with memories that are older than their policy lets them grow."""
        return self._names(retention.outdated(now))

    def purge_old(self, space: str, now: int, caller: Caller) -> Erasure | None:
        """Purge some memories of a space that its policy lets grow no older; None when it lets all.

        As many as `core.erasing.AT_A_TIME` went when there may be more.
        """
        days = find_space(self._database.primary, space).space.policy.over(self._policy).purge_after_days
        if not days:
            return None
        old = Subject(older_than_us=now - int(days * DAY_US))
        return self.eraser.subject(space, old, {"older_than_days": days}, caller, most=AT_A_TIME)

    def _names(self, ask: Statement) -> list[str]:
        (rows,) = self._database.primary.read([ask])
        return [str(name) for (name,) in rows]

    def forget_answers(self, now: int) -> bool:
        """Delete some answers of requests with a key that have expired; whether there are more."""
        old = requests.old(now)
        if not self._database.primary.read([old])[0]:
            return False
        _, more = self._database.write([requests.forget(now, ANSWERS_AT_ONCE), old])
        return bool(more)

    def reembed(self, space: str, progress: Progress, *, force: bool = False) -> Space:
        """Embed a space anew with the model that runs; see `core.reembed`. Its probes are run before and after.

        Raises:
            RecallDropped: they find less than in their last run with the model before, and it was not forced. That
                model stands again.
        """
        if self._encoder is None:
            raise InvalidInput.at("$.embeddings", "embeddings are off; there is no model to embed with")
        old = find_space(self._database.primary, space)
        before = self.probes.last(space, old.space.generation)
        reembed(self._database.primary, old, self._encoder, self._clock, progress)
        self._indexes.drop(space)
        if before is not None:
            found, expected = self.probes.compared(space, before, self._clock())
            if found < expected and not force:
                turn_back(self._database.primary, old, self._clock())
                self._indexes.drop(space)
                raise RecallDropped(space, expected, found)
            self.probes.run(space, OWNER, self._clock)
        return find_space(self._database, space).space

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
