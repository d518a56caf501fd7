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
    spaces,
    tasks,
    undo,
    uploading,
    webhooks,
)

_ALL = (
    *(
        one.routes
        for one in (
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
            spaces,
            tasks,
            undo,
            uploading,
            webhooks,
        )
    ),
    memories.entries,
    search.everywhere,
    receipts.everywhere,
    erasure.everywhere,
)


def routes() -> Mapping[str, Sequence[HTTPRouteHandler]]:
    """Return all handlers of the service by their path."""
    return by_path(handler for one in _ALL for handler in one.handlers)
