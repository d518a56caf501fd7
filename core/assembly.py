"""Build the parts of the core: first the shared ones, then a group of parts for each view."""

from collections.abc import Callable

import msgspec

from muisti.core.context.about import About
from muisti.core.context.builder import Builder
from muisti.core.context.sizes import Sizes
from muisti.core.conversations.adopting import Adopter
from muisti.core.conversations.following import Following
from muisti.core.conversations.objects import Objects
from muisti.core.conversations.reading import Reader
from muisti.core.conversations.refreshing import Summarise
from muisti.core.conversations.streaming import Streamer
from muisti.core.conversations.summaries import Summaries
from muisti.core.conversations.topics import Topics
from muisti.core.conversations.working import WorkingMemory
from muisti.core.documents.ending import Ender
from muisti.core.documents.ingesting import Ingest, Ingester
from muisti.core.documents.pruning import Pruner
from muisti.core.documents.reading import DocumentReader
from muisti.core.documents.storing import Storer
from muisti.core.embedding.models import Models
from muisti.core.erasure.eraser import Eraser
from muisti.core.generations.building import Embed
from muisti.core.generations.lifecycle import Generations
from muisti.core.graph.communities import CommunityFinder
from muisti.core.graph.exporting import GraphExporter
from muisti.core.graph.extraction import Reader as GraphTexts
from muisti.core.graph.incidence import Incidences
from muisti.core.graph.indexing import GraphIndex
from muisti.core.graph.pagerank import Walks
from muisti.core.graph.reading import GraphReader
from muisti.core.graph.selecting import EntityFilters
from muisti.core.graph.walking import GraphWalker
from muisti.core.graph.work import GraphWork
from muisti.core.index.cache import Indexes
from muisti.core.model.counts import Quota
from muisti.core.model.ids import IdSource
from muisti.core.model.spaces import Policy
from muisti.core.model.times import Clock
from muisti.core.operations.upkeep import Upkeep
from muisti.core.parsing.workers import Workers
from muisti.core.quality.lint import Linter
from muisti.core.quality.probes import Probes
from muisti.core.query.calibration import Calibration
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import Asking
from muisti.core.search.searcher import Searcher
from muisti.core.spaces.checkpoints import Checkpoints
from muisti.core.spaces.clearing import Clearer
from muisti.core.spaces.forks import Forks
from muisti.core.spaces.registry import Spaces
from muisti.core.store.database import Database
from muisti.core.support.meters import Meters
from muisti.core.support.notifier import ChangeNotifier
from muisti.core.symbols.indexing import CodeIndex
from muisti.core.symbols.reading import CodeReader
from muisti.core.tasks.claim import Kind
from muisti.core.tasks.tasks import Tasks
from muisti.core.transfer.importing.importer import Importer
from muisti.core.transfer.importing.work import ImportWork
from muisti.core.views.code import CodeParts
from muisti.core.views.context import ContextParts
from muisti.core.views.conversations import ConversationParts
from muisti.core.views.discourse import DiscourseParts
from muisti.core.views.documents import DocumentParts
from muisti.core.views.graph import GraphParts
from muisti.core.views.memories import Parts
from muisti.core.views.read import ReadParts
from muisti.core.views.review import ReviewParts
from muisti.core.views.timeline import TimelineParts
from muisti.core.views.write import WriteParts
from muisti.core.write.arrivals import Arrivals
from muisti.core.write.conflict_decisions import Conflicts
from muisti.core.write.echo_check import EchoCheck
from muisti.core.write.expiry import Expirer
from muisti.core.write.graph_decisions import GraphDecisions
from muisti.core.write.intake import Intake
from muisti.core.write.keeping import Keeper
from muisti.core.write.lifecycle import Lifecycle
from muisti.core.write.provenance import Provenance
from muisti.core.write.recent_results import RecentResults
from muisti.core.write.review import Reviewer
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions
from muisti.core.write.undo import Undoer
from muisti.core.write.writer import Writer


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's choices that all parts are built from: a database in the current schema, a model, a clock, limits.

    `index_memory` is in bytes, `retention_us` in microseconds.
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
    )
    graph = GraphReader(primary, GraphIndex(primary, given.graph_reader, given.policy, given.meters.graph))
    entities = EntityFilters(graph)
    incidences = Incidences(primary)
    probes = Probes(database=primary, searcher=searcher, ids=ids)
    recent_results = RecentResults()
    screener = Screener(default=given.policy)
    intake = Intake(
        screener=screener,
        echoes=EchoCheck(database=primary, recent_results=recent_results, default=given.policy),
        provenance=Provenance(database=primary),
    )
    return Shared(
        ids=ids,
        indexes=indexes,
        searcher=searcher,
        graph=graph,
        incidences=incidences,
        entities=entities,
        asking=Asking(given.database, searcher, entities, Walks(graph, incidences)),
        probes=probes,
        transactions=Transactions(
            database=primary,
            indexes=indexes,
            models=given.models,
            retention_us=given.retention_us,
            quota=given.quota,
            changes=given.meters.changes,
            foresee=probes.foreseen,
        ),
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
        ),
    )


def views(given: Given, parts: Shared, tasks: Tasks) -> Parts:
    """Build the parts that the views of all callers share."""
    discourse = _discourse(given, parts)
    return Parts(
        clock=given.clock,
        read=ReadParts(
            database=given.database,
            searcher=parts.searcher,
            asking=parts.asking,
            entities=parts.entities,
            retrievals=parts.retrievals,
            recent_results=parts.recent_results,
            importer=parts.importer,
            quota=given.quota,
        ),
        write=_write(given, parts),
        timeline=_timeline(given, parts),
        review=_review(given, parts),
        context=ContextParts(
            builder=Builder(database=given.database, asking=parts.asking, sizes=parts.sizes, about=About(parts.graph)),
            retrievals=parts.retrievals,
            recent_results=parts.recent_results,
        ),
        conversations=_conversations(given, parts, discourse),
        discourse=discourse,
        documents=_documents(given, parts),
        code=_code(given),
        graph=_graph(given, parts, tasks),
    )


def kinds(given: Given, parts: Shared, views: Parts) -> list[Kind]:
    """Return the kinds of work that tasks do; another kind is one line more. See `core.tasks`."""
    primary, code = given.database.primary, views.code.index
    return [
        Ingest(views.documents.ingester, lambda space, alive: code.resolve(space, None, alive)),
        Embed(primary, given.models),
        ImportWork(parts.importer),
        Summarise(views.conversations.reader, views.discourse.topics, views.discourse.summaries, given.clock),
        GraphWork(primary, views.graph.index),
    ]


def generations(given: Given, parts: Shared, tasks: Tasks) -> Generations:
    """Build the models of spaces."""
    return Generations(
        database=given.database.primary,
        indexes=parts.indexes,
        searcher=parts.searcher,
        probes=parts.probes,
        models=given.models,
        tasks=tasks,
        clock=given.clock,
    )


def registry(given: Given, parts: Shared, eraser: Eraser) -> Spaces:
    """Build the registry of spaces."""
    return Spaces(
        database=given.database,
        indexes=parts.indexes,
        eraser=eraser,
        clock=given.clock,
        quota=given.quota,
        policy=given.policy,
    )


def upkeep(given: Given, parts: Shared, eraser: Eraser) -> Upkeep:
    """Build the maintenance. History is kept at least as long as stored answers, because an answer names versions."""
    primary = given.database.primary
    return Upkeep(
        database=primary,
        expirer=Expirer(database=primary, transactions=parts.transactions),
        eraser=eraser,
        policy=given.policy,
        least_history_us=given.retention_us,
    )


def _write(given: Given, parts: Shared) -> WriteParts:
    primary = given.database.primary
    lifecycle = Lifecycle(
        database=primary,
        models=given.models,
        transactions=parts.transactions,
        ids=parts.ids,
        quota=given.quota,
        intake=parts.intake,
    )
    return WriteParts(
        database=primary,
        writer=Writer(
            database=primary,
            indexes=parts.indexes,
            models=given.models,
            transactions=parts.transactions,
            lifecycle=lifecycle,
            ids=parts.ids,
            quota=given.quota,
            intake=parts.intake,
        ),
        lifecycle=lifecycle,
        undoer=Undoer(
            database=primary,
            models=given.models,
            transactions=parts.transactions,
            quota=given.quota,
            intake=parts.intake,
        ),
        importer=parts.importer,
    )


def _timeline(given: Given, parts: Shared) -> TimelineParts:
    arrivals = Arrivals(database=given.database.primary, models=given.models, intake=parts.intake)
    return TimelineParts(
        checkpoints=Checkpoints(
            database=given.database,
            models=given.models,
            transactions=parts.transactions,
            arrivals=arrivals,
            clock=given.clock,
        ),
        clearer=Clearer(parts.transactions),
        forks=Forks(
            database=given.database,
            indexes=parts.indexes,
            transactions=parts.transactions,
            arrivals=arrivals,
            quota=given.quota,
        ),
    )


def _keeper(given: Given, parts: Shared) -> Keeper:
    return Keeper(
        transactions=parts.transactions,
        intake=parts.intake,
        models=given.models,
        ids=parts.ids,
        quota=given.quota,
    )


def _discourse(given: Given, parts: Shared) -> DiscourseParts:
    primary = given.database.primary
    keeper = _keeper(given, parts)
    return DiscourseParts(
        database=given.database,
        topics=Topics(database=primary, keeper=keeper),
        summaries=Summaries(database=primary, keeper=keeper),
        working=WorkingMemory(database=primary, intake=parts.intake),
    )


def _conversations(given: Given, parts: Shared, discourse: DiscourseParts) -> ConversationParts:
    primary = given.database.primary
    return ConversationParts(
        following=Following(topics=discourse.topics, summaries=discourse.summaries),
        reader=Reader(database=given.database),
        streamer=Streamer(
            database=primary,
            models=given.models,
            transactions=parts.transactions,
            ids=parts.ids,
            quota=given.quota,
            intake=parts.intake,
        ),
        objects=Objects(
            database=primary,
            models=given.models,
            transactions=parts.transactions,
            ids=parts.ids,
            quota=given.quota,
            intake=parts.intake,
            keeper=_keeper(given, parts),
        ),
        adopter=Adopter(database=primary, transactions=parts.transactions, ids=parts.ids, intake=parts.intake),
    )


def _code(given: Given) -> CodeParts:
    primary = given.database.primary
    index = CodeIndex(primary)
    return CodeParts(database=primary, index=index, reader=CodeReader(primary, index))


def _graph(given: Given, parts: Shared, tasks: Tasks) -> GraphParts:
    walker = GraphWalker(parts.graph)
    return GraphParts(
        index=parts.graph.index,
        reader=parts.graph,
        walker=walker,
        communities=CommunityFinder(parts.graph, parts.incidences),
        exporter=GraphExporter(parts.graph, walker),
        decisions=GraphDecisions(given.database.primary, _keeper(given, parts), parts.intake),
        tasks=tasks,
    )


def _documents(given: Given, parts: Shared) -> DocumentParts:
    primary = given.database.primary
    storer = Storer(
        database=primary,
        models=given.models,
        transactions=parts.transactions,
        ids=parts.ids,
        quota=given.quota,
        intake=parts.intake,
    )
    ender = Ender(
        database=primary,
        models=given.models,
        transactions=parts.transactions,
        quota=given.quota,
        intake=parts.intake,
    )
    return DocumentParts(
        reader=DocumentReader(database=given.database),
        storer=storer,
        ingester=Ingester(database=primary, storer=storer, workers=given.workers, clock=given.clock),
        ender=ender,
        pruner=Pruner(database=primary, transactions=parts.transactions, ender=ender),
    )


def _review(given: Given, parts: Shared) -> ReviewParts:
    primary = given.database.primary
    return ReviewParts(
        database=given.database,
        retrievals=parts.retrievals,
        conflicts=Conflicts(database=primary, models=given.models, transactions=parts.transactions, quota=given.quota),
        reviewer=Reviewer(database=primary, transactions=parts.transactions),
        linter=Linter(database=given.database, indexes=parts.indexes, models=given.models, screener=parts.screener),
    )
