"""All pages of the console."""

from collections.abc import Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.console.pages import (
    assets,
    graph,
    home,
    imports,
    keys,
    live,
    quality,
    signing,
    space,
    tasks,
    undoing,
    webhooks,
)


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [
        *assets.ROUTES,
        *graph.ROUTES,
        *home.ROUTES,
        *imports.ROUTES,
        *keys.ROUTES,
        *live.ROUTES,
        *quality.ROUTES,
        *signing.ROUTES,
        *space.ROUTES,
        *tasks.ROUTES,
        *undoing.ROUTES,
        *webhooks.ROUTES,
    ]
