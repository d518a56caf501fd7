"""The way into the server."""

import gc
from importlib import import_module

from service.settings import Settings


def serve(settings: Settings) -> None:
    """Load the server and run it.

    Until `service.server` has the application made, nobody looks for garbage: what is loaded is none, and going through
    it again and again took a twelfth of the processor time of a start.

    Raises:
        SettingsError: the address cannot be listened on, or must not be; or packages are missing.
        MuistiError: the database cannot be used.
    """
    gc.disable()
    import_module("service.server").run(settings)
