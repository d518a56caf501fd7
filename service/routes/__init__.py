"""The routes: one noun a file. Handlers translate; they do not decide."""

from collections.abc import Sequence

from litestar import Router
from litestar.types import ControllerRouterHandler

from service.routes import (
    batch,
    changes,
    checkpoints,
    conflicts,
    docs,
    entries,
    erasure,
    facets,
    forks,
    health,
    keys,
    lint,
    memories,
    metadata,
    metrics,
    moving,
    probes,
    receipts,
    reviews,
    search,
    spaces,
    telemetry,
    undo,
    webhooks,
)

IN_A_SPACE: Sequence[ControllerRouterHandler] = (
    *memories.ROUTES,
    *batch.ROUTES,
    *entries.ROUTES,
    *search.ROUTES,
    *facets.ROUTES,
    *undo.ROUTES,
    *telemetry.ROUTES,
    *reviews.ROUTES,
    *lint.ROUTES,
    *conflicts.ROUTES,
    *webhooks.ROUTES,
    *changes.ROUTES,
    *probes.ROUTES,
    *checkpoints.ROUTES,
    *moving.ROUTES,
    *forks.ROUTES,
    *erasure.IN_A_SPACE,
)


def routes() -> list[ControllerRouterHandler]:
    """All routes of the service."""
    return [
        *spaces.ROUTES,
        Router("/v1/spaces/{space:str}", route_handlers=IN_A_SPACE),
        *erasure.ROUTES,
        *keys.ROUTES,
        *receipts.ROUTES,
        *health.ROUTES,
        *metrics.ROUTES,
        *docs.ROUTES,
        *metadata.ROUTES,
    ]
