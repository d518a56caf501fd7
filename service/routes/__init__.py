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
    conversations,
    discourse,
    documents,
    erasure,
    generations,
    graph,
    keys,
    lint,
    memories,
    moving,
    operations,
    probes,
    receipts,
    search,
    spaces,
    tasks,
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
            conversations,
            discourse,
            documents,
            erasure,
            generations,
            graph,
            keys,
            lint,
            memories,
            moving,
            operations,
            probes,
            receipts,
            search,
            spaces,
            tasks,
            webhooks,
        )
    ),
    *(memories.entries, search.everywhere, receipts.everywhere, erasure.everywhere, checkpoints.forks, spaces.facets),
)


def routes() -> Mapping[str, Sequence[HTTPRouteHandler]]:
    """Return all handlers of the service by their path."""
    return by_path(handler for one in _ALL for handler in one.handlers)
