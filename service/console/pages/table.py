"""All pages of the console."""

from collections.abc import Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.console.pages import ask, assets, home, live, quality, signing, space, undoing


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [
        *ask.ROUTES,
        *assets.ROUTES,
        *home.ROUTES,
        *live.ROUTES,
        *quality.ROUTES,
        *signing.ROUTES,
        *space.ROUTES,
        *undoing.ROUTES,
    ]
