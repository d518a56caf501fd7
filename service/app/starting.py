"""The way into the server."""

import gc
from typing import TYPE_CHECKING

from muisti.core.support.lazy import Lazy
from muisti.service.settings import Settings

if TYPE_CHECKING:
    from muisti.service.app import server
else:  # loaded while nobody looks for garbage
    server = Lazy("muisti.service.app.server")


def serve(settings: Settings) -> None:
    """Load the server and run it.

    Until the server has the application made, nobody looks for garbage: what is loaded is none, and going through
    it again and again took a twelfth of the processor time of a start.

    Raises:
        SettingsError: the address cannot be listened on, or must not be; or packages are missing.
        MuistiError: the database cannot be used.
    """
    gc.disable()
    server.run(settings)
