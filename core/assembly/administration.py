"""Build what works on all spaces: kinds of tasks, models, the registry and the maintenance."""

from muisti.core.assembly.shared import Given, Shared
from muisti.core.conversations.refreshing import Summarise
from muisti.core.documents.ingesting import Ingest
from muisti.core.graph.work import GraphWork
from muisti.core.operations.erasure.eraser import Eraser
from muisti.core.operations.generations.building import Embed
from muisti.core.operations.generations.lifecycle import Generations
from muisti.core.operations.spaces.registry import Spaces
from muisti.core.operations.transfer.importing.work import ImportWork
from muisti.core.operations.upkeep import Upkeep
from muisti.core.tasks.claim import Kind
from muisti.core.tasks.tasks import Tasks
from muisti.core.views.memories import Parts
from muisti.core.write.expiry import Expirer


def kinds(given: Given, parts: Shared, views: Parts) -> list[Kind]:
    """Return the kinds of work that tasks do; another kind is one line more. See `core.tasks`."""
    primary, code = given.database.primary, views.code.index
    return [
        Ingest(views.documents.ingester, code.resolve),
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
        screener=parts.screener,
        seconds=given.models.seconds,
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
