"""All pages of the console."""

from collections.abc import Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.console.pages import (
    ask,
    assets,
    clock,
    conversations,
    documents,
    editing,
    erasing,
    graph,
    home,
    imports,
    keys,
    live,
    memories,
    memory,
    quality,
    review,
    review_candidates,
    review_lint,
    signing,
    space,
    tasks,
    timeline,
    undoing,
    uploading,
    webhooks,
)


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [
        *ask.ROUTES,
        *assets.ROUTES,
        *clock.ROUTES,
        *conversations.ROUTES,
        *documents.ROUTES,
        *editing.ROUTES,
        *erasing.ROUTES,
        *graph.ROUTES,
        *home.ROUTES,
        *imports.ROUTES,
        *keys.ROUTES,
        *live.ROUTES,
        *memories.ROUTES,
        *memory.ROUTES,
        *quality.ROUTES,
        *review.ROUTES,
        *review_candidates.ROUTES,
        *review_lint.ROUTES,
        *signing.ROUTES,
        *space.ROUTES,
        *tasks.ROUTES,
        *timeline.ROUTES,
        *undoing.ROUTES,
        *uploading.ROUTES,
        *webhooks.ROUTES,
    ]
