"""The HTTP routes, one noun a file. Handlers translate between HTTP and the core and decide nothing."""

from collections.abc import Mapping, Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.http.routing import by_path
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
    documents,
    entries,
    erasure,
    exchanges,
    facets,
    forks,
    generations,
    graph,
    graph_changes,
    graph_moving,
    health,
    keys,
    lint,
    memories,
    metadata,
    moving,
    probes,
    reads,
    receipts,
    search,
    sessions,
    spaces,
    tasks,
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
    *graph_moving.ROUTES,
    *facets.ROUTES,
    *undo.ROUTES,
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
    *docs.ROUTES,
    *metadata.ROUTES,
)


def routes() -> Mapping[str, Sequence[HTTPRouteHandler]]:
    """Return all handlers of the service by their path."""
    return by_path(EVERYWHERE) | by_path(IN_A_SPACE, "/v1/spaces/{space:str}")
