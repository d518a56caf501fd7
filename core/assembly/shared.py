"""The operator's choices, and the parts that several groups use."""

from collections.abc import Callable

import msgspec

from muisti.core.conversations.context.sizes import Sizes
from muisti.core.embedding.models import Models
from muisti.core.graph.extraction import Reader as GraphTexts
from muisti.core.graph.incidence import Incidences
from muisti.core.graph.indexing import GraphIndex
from muisti.core.graph.pagerank import EntityFilters, Walks
from muisti.core.graph.reading import GraphReader
from muisti.core.index.cache import Indexes
from muisti.core.model.counts import Quota
from muisti.core.model.ids import IdSource
from muisti.core.model.spaces import Policy
from muisti.core.model.terms import SecondQuery
from muisti.core.model.times import Clock
from muisti.core.operations.quality.probes import Probes
from muisti.core.operations.transfer.importing.importer import Importer
from muisti.core.parsing.workers import Workers
from muisti.core.query.calibration import Calibration
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import Asking
from muisti.core.search.query_vectors import QueryEmbedder
from muisti.core.search.searcher import Searcher
from muisti.core.store.database import Database
from muisti.core.support.meters import Meters
from muisti.core.support.notifier import ChangeNotifier
from muisti.core.write.import_undo import ImportUndoer
from muisti.core.write.intake import EchoCheck, Intake, Provenance
from muisti.core.write.recent_results import RecentResults
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's choices that all parts are built from: a database in the current schema, a model, a clock, limits.

    `index_memory` is in bytes, `retention_us` in microseconds. `second_query` and its seconds are as in
    `core.search.query_vectors`.
    """

    database: Database
    models: Models
    clock: Clock
    meters: Meters
    notifier: ChangeNotifier
    index_memory: int
    retention_us: int
    calibration: Calibration
    quota: Quota
    policy: Policy
    workers: Workers
    graph_reader: Callable[[], GraphTexts]
    second_query: SecondQuery
    second_query_seconds: float


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """Parts that several groups use. Each exists once for a database."""

    ids: IdSource
    indexes: Indexes
    searcher: Searcher
    graph: GraphReader
    incidences: Incidences
    entities: EntityFilters
    asking: Asking
    probes: Probes
    transactions: Transactions
    import_undoer: ImportUndoer
    recent_results: RecentResults
    screener: Screener
    intake: Intake
    retrievals: Retrievals
    sizes: Sizes
    importer: Importer


def shared(given: Given) -> Shared:
    """Build the parts that several groups use."""
    primary = given.database.primary
    ids = IdSource()
    indexes = Indexes(
        given.database,
        given.meters.load_seconds,
        given.notifier,
        memory=given.index_memory,
        vectors=given.models.default is not None,
    )
    searcher = Searcher(
        database=given.database,
        indexes=indexes,
        models=given.models,
        calibration=given.calibration,
        default=given.policy,
        embedder=QueryEmbedder(given.models, given.second_query, given.second_query_seconds),
    )
    graph = GraphReader(primary, GraphIndex(primary, given.graph_reader, given.policy, given.meters.graph))
    entities = EntityFilters(graph)
    incidences = Incidences(primary)
    screener = Screener(default=given.policy)
    probes = Probes(database=primary, searcher=searcher, ids=ids, screener=screener)
    recent_results = RecentResults()
    intake = Intake(
        screener=screener,
        echoes=EchoCheck(database=primary, recent_results=recent_results, default=given.policy),
        provenance=Provenance(database=primary),
    )
    transactions = Transactions(
        database=primary,
        indexes=indexes,
        models=given.models,
        retention_us=given.retention_us,
        quota=given.quota,
        changes=given.meters.changes,
        foresee=probes.foreseen,
    )
    import_undoer = ImportUndoer(database=primary, transactions=transactions)
    return Shared(
        ids=ids,
        indexes=indexes,
        searcher=searcher,
        graph=graph,
        incidences=incidences,
        entities=entities,
        asking=Asking(given.database, searcher, entities, Walks(graph, incidences)),
        probes=probes,
        transactions=transactions,
        import_undoer=import_undoer,
        recent_results=recent_results,
        screener=screener,
        intake=intake,
        retrievals=Retrievals(database=primary),
        sizes=Sizes(database=given.database),
        importer=Importer(
            database=primary,
            indexes=indexes,
            models=given.models,
            quota=given.quota,
            clock=given.clock,
            intake=intake,
            undoer=import_undoer,
        ),
    )
