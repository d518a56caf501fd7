"""Build the parts of the views, a group for each."""

from muisti.core.assembly.shared import Given, Shared
from muisti.core.conversations.adopting import Adopter
from muisti.core.conversations.context.builder import About, Builder
from muisti.core.conversations.following import Following
from muisti.core.conversations.objects import Objects
from muisti.core.conversations.reading import Reader
from muisti.core.conversations.streaming import Streamer
from muisti.core.conversations.summaries import Summaries
from muisti.core.conversations.topics import Topics
from muisti.core.conversations.working import WorkingMemory
from muisti.core.documents.ingesting import Ingester
from muisti.core.documents.pruning import Ender, Pruner
from muisti.core.documents.reading import DocumentReader
from muisti.core.documents.storing import Storer
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.reading import CodeReader
from muisti.core.graph.communities import CommunityFinder
from muisti.core.graph.decisions import GraphDecisions
from muisti.core.graph.exporting import GraphExporter
from muisti.core.graph.walking import GraphWalker
from muisti.core.operations.quality.lint import Linter
from muisti.core.operations.spaces.checkpoints import Checkpoints
from muisti.core.operations.spaces.clearing import Clearer
from muisti.core.operations.spaces.forks import Forks
from muisti.core.tasks.tasks import Tasks
from muisti.core.views.code import CodeParts
from muisti.core.views.context import ContextParts
from muisti.core.views.conversations import ConversationParts
from muisti.core.views.discourse import DiscourseParts
from muisti.core.views.documents import DocumentParts
from muisti.core.views.graph import GraphParts
from muisti.core.views.memories import Parts, ReviewParts, TimelineParts
from muisti.core.views.read import ReadParts
from muisti.core.views.write import WriteParts
from muisti.core.write.arrivals import Arrivals
from muisti.core.write.conflict_decisions import Conflicts
from muisti.core.write.keeping import Keeper
from muisti.core.write.lifecycle import Lifecycle
from muisti.core.write.review import Reviewer
from muisti.core.write.undo import Undoer
from muisti.core.write.writer import Writer


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
            imports=parts.import_undoer,
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
            screener=parts.screener,
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
        working=WorkingMemory(database=primary, intake=parts.intake, quota=given.quota),
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
