"""Build all that works on a database: what several groups share, the views, and the kinds of tasks."""

from collections.abc import Callable

import msgspec

from muisti.core.conversations.adopting import Adopter
from muisti.core.conversations.context.builder import About, Builder
from muisti.core.conversations.context.rendering import Sizes
from muisti.core.conversations.following import Following, Summarise
from muisti.core.conversations.objects import Objects
from muisti.core.conversations.streaming import Streamer
from muisti.core.conversations.summaries import Summaries
from muisti.core.conversations.topics import Topics
from muisti.core.conversations.view import Conversations, Discourse
from muisti.core.conversations.working import WorkingMemory
from muisti.core.documents.anchors import Anchors
from muisti.core.documents.ingesting import Ingest, Ingester
from muisti.core.documents.pruning import Ender, Pruner
from muisti.core.documents.storing import Storer
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.reading import Code
from muisti.core.documents.view import Documents
from muisti.core.embedding.models import Models
from muisti.core.graph.answers import FactAnswers
from muisti.core.graph.communities import CommunityFinder
from muisti.core.graph.exporting import GraphExporter
from muisti.core.graph.extraction import Reader as GraphTexts
from muisti.core.graph.indexing import GraphIndex, GraphWork
from muisti.core.graph.pagerank import EntityFilters, Incidences, Walks
from muisti.core.graph.reading import GraphReader
from muisti.core.graph.view import Graph
from muisti.core.graph.walking import GraphWalker
from muisti.core.identity.caller import OWNER
from muisti.core.index.cache import Indexes
from muisti.core.model.choices import SecondQuery
from muisti.core.model.ids import IdSource
from muisti.core.model.outcomes import Quota
from muisti.core.model.spaces import Policy
from muisti.core.model.times import Clock
from muisti.core.operations.generations.second_vectors import Embed
from muisti.core.operations.quality.lint import Linter
from muisti.core.operations.quality.probes import Probes
from muisti.core.operations.spaces.forks import Timeline
from muisti.core.operations.transfer.importing.importer import Importer
from muisti.core.operations.transfer.importing.work import ImportWork
from muisti.core.parsing.workers import Workers
from muisti.core.query.evidence import Calibration
from muisti.core.read.tallies import Tallies
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import Asking
from muisti.core.search.query_vectors import QueryEmbedder
from muisti.core.search.searcher import Searcher
from muisti.core.store.database import Database
from muisti.core.support.meters import Meters
from muisti.core.support.waiting import ChangeNotifier
from muisti.core.tasks.claim import Kind
from muisti.core.tasks.tasks import Tasks
from muisti.core.views.memories import Parts
from muisti.core.views.read import Contexts, Read
from muisti.core.views.review import Review
from muisti.core.views.write import Write
from muisti.core.write.calls import Calls
from muisti.core.write.conflicts.check import Checker
from muisti.core.write.echoes import RecentResults
from muisti.core.write.intake import EchoCheck, Intake, Provenance
from muisti.core.write.object_writer import Keeper
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions
from muisti.core.write.undo import Undoer


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
    recent_results: RecentResults
    screener: Screener
    intake: Intake
    retrievals: Retrievals
    sizes: Sizes
    importer: Importer
    anchors: Anchors


def shared(given: Given) -> Shared:
    """Build the parts that several groups use."""
    database, primary, models, meters = given.database, given.database.primary, given.models, given.meters
    memory, vectors = given.index_memory, models.default is not None
    ids, recent_results, screener = IdSource(), RecentResults(), Screener(given.policy)
    indexes = Indexes(database, meters.load_seconds, given.notifier, memory=memory, vectors=vectors)
    embedder = QueryEmbedder(models, given.second_query, given.second_query_seconds)
    searcher = Searcher(database, indexes, models, given.calibration, given.policy, embedder)
    graph = GraphReader(primary, GraphIndex(primary, given.graph_reader, given.policy, meters.graph))
    entities, incidences = EntityFilters(graph), Incidences(primary)
    probes = Probes(primary, searcher, ids, screener)
    anchors = Anchors(primary)
    echoes = EchoCheck(primary, recent_results, given.policy)
    intake = Intake(screener, echoes, Provenance(primary), anchors.cited)
    transactions = Transactions(
        primary, indexes, models, ids, given.quota, given.retention_us, meters.changes, probes.foreseen
    )
    return Shared(
        ids=ids,
        indexes=indexes,
        searcher=searcher,
        graph=graph,
        incidences=incidences,
        entities=entities,
        asking=Asking(database, searcher, entities, Walks(graph, incidences), FactAnswers(graph)),
        probes=probes,
        transactions=transactions,
        recent_results=recent_results,
        screener=screener,
        intake=intake,
        retrievals=Retrievals(primary),
        sizes=Sizes(database),
        importer=Importer(transactions, intake, given.clock),
        anchors=anchors,
    )


def views(given: Given, parts: Shared, tasks: Tasks) -> Parts:
    """Build a view of each kind for the owner."""
    calls = Calls(OWNER, given.clock)
    discourse = _discourse(given, parts, calls)
    return Parts(
        clock=given.clock,
        read=Read(
            calls=calls,
            database=given.database,
            searcher=parts.searcher,
            asking=parts.asking,
            entities=parts.entities,
            retrievals=parts.retrievals,
            recent_results=parts.recent_results,
            importer=parts.importer,
            anchors=parts.anchors,
            tallies=Tallies(given.database, given.quota),
        ),
        write=_write(parts, calls),
        timeline=Timeline(calls=calls, store=parts.transactions, intake=parts.intake, screener=parts.screener),
        review=Review(
            calls=calls,
            database=given.database,
            retrievals=parts.retrievals,
            store=parts.transactions,
            linter=Linter(given.database, parts.indexes, given.models, parts.screener),
        ),
        context=Contexts(
            calls=calls,
            builder=Builder(given.database, parts.asking, parts.sizes, About(parts.graph), parts.anchors.checked),
            retrievals=parts.retrievals,
            recent_results=parts.recent_results,
        ),
        conversations=_conversations(given, parts, calls, discourse),
        discourse=discourse,
        documents=_documents(given, parts, calls),
        code=_code(given.database.primary, parts.anchors.index, calls),
        graph=_graph(parts, tasks, calls),
    )


def _write(parts: Shared, calls: Calls) -> Write:
    store, intake = parts.transactions, parts.intake
    return Write(
        calls=calls,
        store=store,
        intake=intake,
        checker=Checker(store.database, store.indexes, store.models),
        undoer=Undoer(store, intake),
        importer=parts.importer,
    )


def _discourse(given: Given, parts: Shared, calls: Calls) -> Discourse:
    primary, keeper = given.database.primary, Keeper(parts.transactions, parts.intake)
    return Discourse(
        calls=calls,
        database=given.database,
        topics=Topics(primary, keeper),
        summariser=Summaries(primary, keeper),
        holder=WorkingMemory(primary, parts.intake, given.quota),
    )


def _conversations(given: Given, parts: Shared, calls: Calls, discourse: Discourse) -> Conversations:
    store, intake = parts.transactions, parts.intake
    return Conversations(
        calls=calls,
        following=Following(discourse.topics, discourse.summariser),
        database=given.database,
        streamer=Streamer(store, intake),
        objects=Objects(store, intake),
        adopter=Adopter(store, intake),
    )


def _documents(given: Given, parts: Shared, calls: Calls) -> Documents:
    store, intake = parts.transactions, parts.intake
    storer, ender = Storer(store, intake), Ender(store, intake)
    return Documents(
        calls=calls,
        database=given.database,
        storer=storer,
        ingester=Ingester(given.database.primary, storer, given.workers, given.clock),
        ender=ender,
        pruner=Pruner(store, ender),
    )


def _code(primary: Database, index: CodeIndex, calls: Calls) -> Code:
    return Code(calls=calls, database=primary, index=index)


def _graph(parts: Shared, tasks: Tasks, calls: Calls) -> Graph:
    walker = GraphWalker(parts.graph)
    return Graph(
        calls=calls,
        index=parts.graph.index,
        reader=parts.graph,
        walker=walker,
        finder=CommunityFinder(parts.incidences, parts.graph.kept),
        exporter=GraphExporter(parts.graph, walker),
        keeper=Keeper(parts.transactions, parts.intake),
        tasks=tasks,
    )


def kinds(given: Given, parts: Shared, views: Parts) -> list[Kind]:
    """Return the kinds of work that tasks do; another kind is one line more. See `core.tasks`."""
    primary, talks = given.database.primary, views.discourse
    return [
        Ingest(views.documents.ingester, views.code.index.resolve),
        Embed(primary, given.models),
        ImportWork(parts.importer),
        Summarise(views.conversations, talks.topics, talks.summariser, given.clock),
        GraphWork(primary, views.graph.index),
    ]
