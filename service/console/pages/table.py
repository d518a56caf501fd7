"""All pages of the console."""

from collections.abc import Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.console.pages import ask, assets, home, signing, space, undoing


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [*ask.ROUTES, *assets.ROUTES, *home.ROUTES, *signing.ROUTES, *space.ROUTES, *undoing.ROUTES]
