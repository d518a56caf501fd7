"""The HTTP routes: those of the rooms, and others, one noun a file. Handlers translate for the core, decide nothing."""

from collections.abc import Mapping, Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.agents import routes as agents
from muisti.service.checkpoints import routes as checkpoints
from muisti.service.conversations import routes as conversations
from muisti.service.conversations import turn_and_topic_routes as discourse
from muisti.service.documents import routes as documents
from muisti.service.erasure import routes as erasure
from muisti.service.graph import routes as graph
from muisti.service.http.routing import by_path
from muisti.service.memory_stores import routes as memory_stores
from muisti.service.placement import routes as placement
from muisti.service.probes import routes as probes
from muisti.service.quotas import routes as quotas
from muisti.service.receipts import routes as receipts
from muisti.service.routes import (
    batch,
    changes,
    code,
    generations,
    keys,
    lint,
    memories,
    reviews,
    search,
    server,
    spaces,
    tasks,
    transfer,
)
from muisti.service.webhooks import routes as webhooks

_ALL = (
    *(
        one.routes
        for one in (
            agents,
            batch,
            changes,
            checkpoints,
            code,
            reviews,
            conversations,
            discourse,
            documents,
            erasure,
            generations,
            graph,
            keys,
            lint,
            memories,
            memory_stores,
            transfer,
            server,
            placement,
            probes,
            quotas,
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
