"""Entry point of the server."""

import gc
from typing import TYPE_CHECKING

from muisti.core.support.lazy import Lazy
from muisti.service.settings import Settings

if TYPE_CHECKING:
    from muisti.service.app import server
else:  # loaded while the garbage collector is off
    server = Lazy("muisti.service.app.server")


def serve(settings: Settings) -> None:
    """Load the server and run it.

    The garbage collector is off until the application is created. Loaded modules are no garbage, and searching them
    took a twelfth of the processor time of a start. It is on again when this returns or raises.

    Raises:
        SettingsError: the server cannot or must not listen on the address; or packages are missing.
        MuistiError: the database cannot be used.
    """
    gc.disable()
    try:
        server.run(settings)
    finally:
        gc.enable()
