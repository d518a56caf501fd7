"""All pages of the console."""

from collections.abc import Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.console.pages import (
    assets,
    clock,
    editing,
    erasing,
    home,
    memories,
    memory,
    review,
    review_candidates,
    review_lint,
    signing,
    space,
    timeline,
    undoing,
)


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [
        *assets.ROUTES,
        *home.ROUTES,
        *signing.ROUTES,
        *space.ROUTES,
        *undoing.ROUTES,
        *memories.ROUTES,
        *memory.ROUTES,
        *editing.ROUTES,
        *erasing.ROUTES,
        *review.ROUTES,
        *review_lint.ROUTES,
        *review_candidates.ROUTES,
        *timeline.ROUTES,
        *clock.ROUTES,
    ]
