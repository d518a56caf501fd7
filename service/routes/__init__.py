"""The HTTP routes, one noun a file. Handlers translate between HTTP and the core and decide nothing."""

from collections.abc import Mapping, Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.routes import (
    batch,
    changes,
    checkpoints,
    code,
    conflicts,
    context,
    conversations,
    discourse,
    docs,
    document_pruning,
    documents,
    entries,
    erasure,
    exchanges,
    facets,
    forks,
    generations,
    graph,
    graph_changes,
    graph_communities,
    graph_moving,
    health,
    keys,
    lint,
    memories,
    metadata,
    metrics,
    moving,
    optimize,
    probes,
    reads,
    receipts,
    reviews,
    search,
    sessions,
    spaces,
    suggestions,
    tasks,
    telemetry,
    topics,
    undo,
    uploading,
    webhooks,
)

IN_A_SPACE: Sequence[HTTPRouteHandler] = (
    *memories.ROUTES,
    *batch.ROUTES,
    *entries.ROUTES,
    *search.ROUTES,
    *context.ROUTES,
    *sessions.ROUTES,
    *conversations.ROUTES,
    *topics.ROUTES,
    *exchanges.ROUTES,
    *discourse.ROUTES,
    *documents.ROUTES,
    *uploading.ROUTES,
    *graph.ROUTES,
    *graph_changes.ROUTES,
    *graph_communities.ROUTES,
    *graph_moving.ROUTES,
    *document_pruning.ROUTES,
    *suggestions.ROUTES,
    *optimize.ROUTES,
    *facets.ROUTES,
    *undo.ROUTES,
    *telemetry.ROUTES,
    *reviews.ROUTES,
    *lint.ROUTES,
    *code.ROUTES,
    *conflicts.ROUTES,
    *webhooks.ROUTES,
    *changes.ROUTES,
    *probes.ROUTES,
    *receipts.ROUTES,
    *reads.ROUTES,
    *generations.ROUTES,
    *checkpoints.ROUTES,
    *moving.ROUTES,
    *tasks.ROUTES,
    *forks.ROUTES,
    *erasure.IN_A_SPACE,
)


EVERYWHERE: Sequence[HTTPRouteHandler] = (
    *spaces.ROUTES,
    *erasure.ROUTES,
    *keys.ROUTES,
    *search.EVERYWHERE,
    *receipts.EVERYWHERE,
    *health.ROUTES,
    *metrics.ROUTES,
    *docs.ROUTES,
    *metadata.ROUTES,
)


def routes() -> Mapping[str, Sequence[HTTPRouteHandler]]:
    """Return all handlers of the service by their path."""
    found: dict[str, list[HTTPRouteHandler]] = {}
    for before, handlers in (("", EVERYWHERE), ("/v1/spaces/{space:str}", IN_A_SPACE)):
        for handler in handlers:
            for path in handler.paths:
                found.setdefault(before + path, []).append(handler)
    return found
