"""The one object that the service holds: opens the store, delegates, closes."""

from contextlib import suppress
from typing import Self

from core import auditing
from core.arrivals import Arrivals
from core.audited import AuditPage
from core.bell import Bell
from core.calibration import Calibration
from core.caller import OWNER, Caller
from core.checkpoints import Checkpoints
from core.counts import Quota
from core.deciding import Conflicts
from core.echoes import Echoes
from core.embed import Encoder
from core.erasing import Eraser
from core.errors import (
    InvalidInput,
    MuistiError,
    RecallDropped,
)
from core.expiry import Expirer
from core.forks import Forks
from core.ids import IdSource
from core.importing.importer import Importer
from core.index.cache import Indexes
from core.intake import Intake
from core.kernels import bake
from core.keys import Keys
from core.leases import Leases
from core.linting import Linter
from core.lives import Lives
from core.memories import Memories, Parts
from core.meters import Meters
from core.probes import Probes
from core.provenance import Provenance
from core.reading import find_space
from core.receipts import Receipts
from core.reembed import Progress, reembed, turn_back
from core.registry import Spaces
from core.reviewing import Reviewer
from core.screening import Screener
from core.search import Searcher
from core.served import Served
from core.signing import SigningKeys
from core.spaces import USUAL_POLICY, Policy, Space
from core.store.database import Database
from core.store.migrate import migrate
from core.store.spaces import DEFAULT
from core.telemetry import Retrievals
from core.times import Clock
from core.transactions import Transactions
from core.undoing import Undoer
from core.upkeep import Upkeep
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
        quota = quota or Quota()
        migrate(database.primary, clock())
        self.meters = Meters(database.meters)
        self.bell = Bell()
        self._indexes = Indexes(
            database, self.meters.load_seconds, self.bell, memory=index_memory, vectors=encoder is not None
        )
        answers = int(retention_hours * HOUR_US)
        ids, screener = IdSource(), Screener(policy)
        searcher = Searcher(database, self._indexes, encoder, calibration or Calibration(), policy)
        self.probes = Probes(database.primary, searcher, ids)
        transactions = Transactions(
            database.primary, self._indexes, encoder, answers, quota, self.meters.changes, self.probes.foreseen
        )
        served = Served()
        echoes = Echoes(database.primary, served, policy)
        intake = Intake(screener, echoes, Provenance(database.primary))
        lives = Lives(database.primary, encoder, transactions, ids, quota, intake)
        writer = Writer(database.primary, self._indexes, encoder, transactions, lives, ids, quota, intake)
        undoer = Undoer(database.primary, encoder, transactions, quota, intake)
        arrivals = Arrivals(database.primary, encoder, intake)
        points = Checkpoints(database, encoder, transactions, arrivals, clock)
        forks = Forks(database, self._indexes, transactions, arrivals, quota)
        retrievals = Retrievals(database.primary)
        importer = Importer(database.primary, self._indexes, encoder, quota, clock, intake)
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
            Conflicts(database.primary, encoder, transactions, quota),
            importer,
            quota,
        )
        super().__init__(parts, OWNER)
        self.keys = Keys(database)
        self.receipts = Receipts(database.primary, ids, receipt_days)
        self.leases = Leases(database.primary)
        self.webhooks = Webhooks(database.primary)
        self.signing_keys = SigningKeys(database)
        self.eraser = Eraser(database, self._indexes, served, clock)
        self.spaces = Spaces(database, self._indexes, self.eraser, clock, quota, policy)
        expirer = Expirer(database.primary, transactions)
        # Answers name versions, so these are kept as long at least.
        self.upkeep = Upkeep(database.primary, expirer, self.eraser, policy, answers)
        self.spaces.ensure(DEFAULT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the waiting writes and let go of the database."""
        self._database.hurry()
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

    def check(self) -> None:
        """Raise when the database is not fit to be written to, as far as is known without reading it."""
        self._database.primary.check()

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

    def audit(self, *, limit: int = 50, cursor: str | None = None) -> AuditPage:
        """Who administered or deleted what, newest first."""
        (rows,) = self._database.read([auditing.page_of(limit, cursor)])
        return auditing.page(rows, limit)

    def flush_retrievals(self) -> None:
        """Write down what was retrieved since the last time."""
        self._parts.retrievals.flush()

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
