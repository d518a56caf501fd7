"""The engine of the service: opens the database, gives each caller their views, closes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from muisti.core.assembly.parts import Given, kinds, shared, views
from muisti.core.embedding.cache import BYTES
from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Hosted, Models, SecondModels
from muisti.core.graph.extraction import Reader as GraphTexts
from muisti.core.graph.extraction import usual_reader
from muisti.core.graph.indexing import step
from muisti.core.graph.model import Unread
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.kernels import bake
from muisti.core.model.choices import OFF, SecondQuery
from muisti.core.model.errors import MuistiError, SpaceMoving
from muisti.core.model.operations import AuditPage
from muisti.core.model.outcomes import Quota
from muisti.core.model.spaces import DEFAULT, USUAL_POLICY, Policy, Space
from muisti.core.model.tasks import Task
from muisti.core.model.times import Clock
from muisti.core.model.values import Json, RequestKey
from muisti.core.operations.erasure.eraser import Eraser
from muisti.core.operations.erasure.purge_task import KIND as PURGE
from muisti.core.operations.erasure.purge_task import PurgeWork, Told, items_of, sealed
from muisti.core.operations.erasure.redaction import Redaction
from muisti.core.operations.generations.lifecycle import Generations, Progress
from muisti.core.operations.generations.second_vectors import SecondVectors
from muisti.core.operations.keys import Keys, SigningKeys, audit_page
from muisti.core.operations.missing_vectors import Recognition, Vectors
from muisti.core.operations.quality.receipts import Receipts
from muisti.core.operations.renewal import renew
from muisti.core.operations.spaces.registry import Spaces
from muisti.core.operations.upkeep import Leases, Upkeep
from muisti.core.operations.webhooks import Webhooks
from muisti.core.parsing.workers import Workers
from muisti.core.placement.holdings import hold_nothing
from muisti.core.query.evidence import Calibration
from muisti.core.query.filters import Subject
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.store.migrate import migrate
from muisti.core.support.meters import Meters
from muisti.core.support.waiting import ChangeNotifier
from muisti.core.tasks.claim import UNFENCED, FencedCommit
from muisti.core.tasks.runner import Broken, Runner, silent
from muisti.core.tasks.tasks import Tasks
from muisti.core.views.memories import Memories

DAY_HOURS = 24
RECEIPT_DAYS = 30
HOUR_US = 3_600_000_000
MEMORY = 512 << 20  # bytes


class Engine:
    """Owns a database and all that works on it. Memories are reached through `seen_by`, or through `owner`.

    `owner` sees and may do everything, as whoever has the database itself.
    """

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
        others: Sequence[Encoder] = (),
        seconds: Mapping[str, Encoder] = {},
        cache_bytes: int = BYTES,
        receipt_days: float = RECEIPT_DAYS,
        parsers: int = 1,
        task_queue: int = 0,
        graph_reader: Callable[[], GraphTexts] = usual_reader,
        second_query: SecondQuery = "mapped",
        second_query_seconds: float = 0.0,
    ) -> None:
        """Bring the database to the current schema. `encoder` None means that embeddings are off.

        - `encoder` embeds spaces that have no model yet. `others` serve the spaces whose model they are.
          Vectors of slow models are kept in `cache_bytes` of memory.
        - `seconds` are the models, by name, that may be the second one of a space. `policy` names the default.
        - `index_memory` is in bytes.
        - `retention_hours` is how long answers of requests with an idempotency key are kept. Old versions are kept at
          least as long, whatever a policy says.
        - `calibration` None knows no model: answers are `uncalibrated`, except those of keyword search.
        - `quota` and `policy` apply to spaces without their own.
        - `parsers` is how many processes read files of foreign formats at the same time.
        - `graph_reader` makes what reads texts for the knowledge graph, when it is first needed.
        - `second_query` is the way to ask second models where a query names none; each vector of a query may take
          `second_query_seconds`, 0 is no limit.
        - Receipts are kept for `receipt_days`.
        - `task_queue` tasks of a space may wait; 0 is no limit.

        Raises:
            SchemaTooNew: a newer Muisti wrote the database.
        """
        self._database = database
        self._shares_models = False
        self._choices: dict[str, Any] = {
            "index_memory": index_memory, "retention_hours": retention_hours, "calibration": calibration,
            "quota": quota, "policy": policy, "others": others, "seconds": seconds, "cache_bytes": cache_bytes,
            "receipt_days": receipt_days, "parsers": parsers, "task_queue": task_queue, "graph_reader": graph_reader,
            "second_query": second_query, "second_query_seconds": second_query_seconds,
        }  # fmt: skip
        self.models = Models(encoder, others, cache_bytes, SecondModels(seconds, policy.second_model or OFF))
        self._clock = clock
        migrate(database.primary, clock())
        renew(database.primary)
        self.meters = Meters(database.meters)
        self.notifier = ChangeNotifier()
        given = Given(
            database=database,
            models=self.models,
            clock=clock,
            meters=self.meters,
            notifier=self.notifier,
            index_memory=index_memory,
            retention_us=int(retention_hours * HOUR_US),
            calibration=calibration or Calibration(),
            quota=quota or Quota(),
            policy=policy,
            workers=Workers(parsers),
            graph_reader=graph_reader,
            second_query=second_query,
            second_query_seconds=second_query_seconds,
        )
        self._workers = given.workers
        parts = shared(given)
        self.tasks = Tasks(database.primary, self.meters.tasks, task_queue)
        self._views = views(given, parts, self.tasks)
        self._indexes = parts.indexes
        self._retrievals = parts.retrievals
        self._sizes = parts.sizes
        self._importer = parts.importer
        self.owner = self.seen_by(OWNER)
        self.probes = parts.probes
        self.keys = Keys(database, parts.screener)
        self.receipts = Receipts(database.primary, parts.ids, receipt_days)
        self.leases = Leases(database.primary)
        self.webhooks = Webhooks(database.primary)
        for kind in kinds(given, parts, self._views):
            self.tasks.register(kind)
        self._graph = self._views.graph.index
        self.generations = Generations(
            database.primary, parts.indexes, parts.searcher, parts.probes, self.models, self.tasks, clock
        )
        self.signing_keys = SigningKeys(database)
        self.eraser = Eraser(database, parts.indexes, clock)
        self.redaction = Redaction(database, parts.indexes, self.eraser, clock)
        self.recognition = Recognition(database.primary, self.models, clock)
        self.recognition.recall()
        self.vectors = Vectors(database.primary, self.models, clock)
        self.second_vectors = SecondVectors(
            database.primary, self.models, self.tasks, clock, self.meters.second_vectors
        )
        self.spaces = Spaces(
            database, parts.indexes, self.eraser, clock, given.quota, parts.screener, self.models.seconds
        )
        # History is kept at least as long as stored answers, because an answer names versions.
        self.upkeep = Upkeep(parts.transactions, self.eraser, policy, given.retention_us)
        with suppress(SpaceMoving):  # it is in another database
            self.spaces.ensure(DEFAULT)

    def beside(self, database: Database) -> "Engine":
        """Return an engine of another database, which holds what is moved to it; models and choices are the same."""
        migrate(database.primary, self._clock())
        hold_nothing(database.primary)
        made = Engine(database, self.models.default, self._clock, **self._choices)
        made._shares_models = True
        return made

    def limit_indexes(self, memory: int) -> None:
        """Let all indexes together take so many bytes."""
        self._indexes.limit(memory)

    @property
    def database(self) -> Database:
        """The database, for work on it as a whole."""
        return self._database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the waiting writes and close the database."""
        self._database.hurry()
        with suppress(MuistiError):  # only counts are lost
            self.flush_retrievals()
        self._workers.close()
        self._indexes.close()
        self._database.close()
        self._graph.close()
        for encoder in () if self._shares_models else self.models.hosted:
            encoder.close()

    def stop_embedding(self) -> None:
        """End what waits for a model behind an endpoint; call it before stopping background work."""
        for encoder in self.models.hosted:
            encoder.stop()

    def settle(self) -> None:
        """Wait for background work."""
        self._indexes.settle()

    def warm(self) -> None:
        """Load what the first search would wait for: the compiled kernels and the model."""
        bake()
        default = self.models.default
        if default is not None and not isinstance(default, Hosted):
            default.encode_query("warm")

    def check(self) -> None:
        """Raise when the database is known to be unfit for writing. Nothing is read."""
        self._database.primary.check()

    def now(self) -> int:
        """Return the time in microseconds since 1970."""
        return self._clock()

    @property
    def store(self) -> str:
        """Name and version of the database engine."""
        return self._database.engine

    @property
    def model(self) -> str | None:
        """Name of the default embedding model, None when embeddings are off."""
        return None if self.models.default is None else self.models.default.name

    @property
    def generation(self) -> str | None:
        """Hash of the default embedding model, which is loaded to compute it; None when embeddings are off."""
        return None if self.models.default is None else self.models.default.identity

    @property
    def indexes_loaded(self) -> int:
        """Number of spaces whose index is in memory."""
        return self._indexes.loaded

    @property
    def index_bytes(self) -> int:
        """Memory of all indexes, in bytes."""
        return self._indexes.nbytes

    @property
    def filter_bytes(self) -> int:
        """The part of `index_bytes` that remembered rows of filters take."""
        return self._indexes.filter_nbytes

    @property
    def indexes_loading(self) -> list[str]:
        """Spaces whose index is being loaded."""
        return self._indexes.loading

    @property
    def indexes_evicted(self) -> int:
        """Number of indexes dropped to stay within the memory limit."""
        return self._indexes.evicted

    def seen_by(self, caller: Caller, *, dry_run: bool = False, fenced: FencedCommit = UNFENCED) -> Memories:
        """Return the memories as a caller reads and changes them. With `dry_run`, writes are rolled back.

        `fenced` is what the one write through these views commits for a task; see `core.tasks`.
        """
        return Memories(self._views, caller, dry_run=dry_run, fenced=fenced)

    def runner(self, lease: float, per_space: int, broken: Broken = silent) -> Runner:
        """Return a runner of the tasks of this database; see `core.tasks.runner`."""
        return Runner(self._database.primary, self.tasks, lease, per_space, broken)

    def purge(
        self, space: str, subject: Subject, what: Mapping[str, Json], caller: Caller, request: RequestKey | None
    ) -> tuple[Task, bool]:
        """Make a task that erases the memories that meet a condition now. Return whether an earlier request made it."""
        begun = self.tasks.begin(space, PURGE, sealed(what), caller, request)
        if isinstance(begun, Task):
            return begun, True
        begun.add_items(items_of(self.eraser.chosen(space, subject)))
        return begun.end(), False

    def report_purges(self, told: Told) -> None:
        """Let this process work on purges; `told` makes the result of the task from the report."""
        self.tasks.register(PurgeWork(self._database.primary, self.eraser, self._clock, told))

    def unread_graphs(self) -> list[Unread]:
        """Return the spaces whose graph lacks versions that have come."""
        return self._graph.lagging()

    def extend_graph(self, space: str, versions: int) -> bool:
        """Read some versions of a space into its graph, and return whether more are left; see `graph.work.step`."""
        return step(self.tasks, self._graph, space, versions)

    def forget_tasks(self) -> bool:
        """Delete tasks that ended long ago, and what ended imports left. Return whether more tasks are left."""
        self._importer.clear()
        return self.tasks.forget()

    def audit(self, *, limit: int = 50, cursor: str | None = None) -> AuditPage:
        """Return a page of the audit log of administration and deletions, newest first."""
        return audit_page(self._database, limit, cursor)

    def flush_retrievals(self) -> None:
        """Write the retrieval counts and the sizes of memories that are buffered."""
        self._retrievals.flush()
        while self._sizes.flush():
            pass

    def reembed(self, space: str, progress: Progress, *, force: bool = False) -> Space:
        """Embed a space again with the default model, and drop the model before; see `Generations.embed_again`."""
        self.generations.embed_again(space, progress, OWNER, force=force)
        return find_space(self._database, space).space
