"""All pages of the console."""

from collections.abc import Sequence

from litestar.handlers import HTTPRouteHandler

from muisti.service.console.pages import (
    ask,
    assets,
    conversations,
    documents,
    editing,
    erasing,
    home,
    live,
    memories,
    memory,
    quality,
    signing,
    space,
    undoing,
    uploading,
)


def handlers() -> Sequence[HTTPRouteHandler]:
    """Return the handlers of all pages."""
    return [
        *ask.ROUTES,
        *assets.ROUTES,
        *conversations.ROUTES,
        *documents.ROUTES,
        *editing.ROUTES,
        *erasing.ROUTES,
        *home.ROUTES,
        *live.ROUTES,
        *memories.ROUTES,
        *memory.ROUTES,
        *quality.ROUTES,
        *signing.ROUTES,
        *space.ROUTES,
        *undoing.ROUTES,
        *uploading.ROUTES,
    ]
