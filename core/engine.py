"""The one object that the service holds: opens the store, delegates, closes."""

from contextlib import suppress
from typing import Self

from muisti.core.embedding.encoder import Encoder
from muisti.core.erasure.eraser import Eraser
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.index.cache import Indexes
from muisti.core.kernels import bake
from muisti.core.memories import Memories, Parts
from muisti.core.model.audited import AuditPage
from muisti.core.model.counts import Quota
from muisti.core.model.errors import InvalidInput, MuistiError, RecallDropped
from muisti.core.model.ids import IdSource
from muisti.core.model.spaces import DEFAULT, USUAL_POLICY, Policy, Space
from muisti.core.model.times import Clock
from muisti.core.operations import audit_log
from muisti.core.operations.keys import Keys
from muisti.core.operations.leases import Leases
from muisti.core.operations.reembed import Progress, reembed, turn_back
from muisti.core.operations.signing_keys import SigningKeys
from muisti.core.operations.upkeep import Upkeep
from muisti.core.operations.webhooks import Webhooks
from muisti.core.quality.lint import Linter
from muisti.core.quality.probes import Probes
from muisti.core.quality.receipts import Receipts
from muisti.core.query.calibration import Calibration
from muisti.core.read.reading import find_space
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.searcher import Searcher
from muisti.core.spaces.checkpoints import Checkpoints
from muisti.core.spaces.forks import Forks
from muisti.core.spaces.registry import Spaces
from muisti.core.store.database import Database
from muisti.core.store.migrate import migrate
from muisti.core.support.meters import Meters
from muisti.core.support.notifier import Bell
from muisti.core.transfer.importing.importer import Importer
from muisti.core.write.arrivals import Arrivals
from muisti.core.write.decisions import Conflicts
from muisti.core.write.echo_check import Echoes
from muisti.core.write.expiry import Expirer
from muisti.core.write.intake import Intake
from muisti.core.write.lifecycle import Lives
from muisti.core.write.provenance import Provenance
from muisti.core.write.recent_results import Served
from muisti.core.write.review import Reviewer
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions
from muisti.core.write.undo import Undoer
from muisti.core.write.writer import Writer

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
        (rows,) = self._database.read([audit_log.page_of(limit, cursor)])
        return audit_log.page(rows, limit)

    def flush_retrievals(self) -> None:
        """Write down what was retrieved since the last time."""
        self._parts.retrievals.flush()

    def reembed(self, space: str, progress: Progress, *, force: bool = False) -> Space:
        """Embed a space again with the model that runs; see `core.operations.reembed`.

        Its probes are run before and after.

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
