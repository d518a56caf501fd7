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
    home,
    live,
    memories,
    memory,
    quality,
    review,
    review_candidates,
    review_lint,
    signing,
    space,
    timeline,
    undoing,
    uploading,
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
        *home.ROUTES,
        *live.ROUTES,
        *memories.ROUTES,
        *memory.ROUTES,
        *quality.ROUTES,
        *review.ROUTES,
        *review_candidates.ROUTES,
        *review_lint.ROUTES,
        *signing.ROUTES,
        *space.ROUTES,
        *timeline.ROUTES,
        *undoing.ROUTES,
        *uploading.ROUTES,
    ]
