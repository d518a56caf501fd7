"""The application: its assembly, its start and stop, and its fast path."""

from typing import TYPE_CHECKING

from muisti.core.support.lazy import Lazy

if TYPE_CHECKING:
    from muisti.service.app import server
    from muisti.service.app.app import Front
else:  # the whole application, of which a command that asks a server needs nothing
    server = Lazy("muisti.service.app.server")


def create_app() -> "Front":
    """Create the application for an ASGI server, with the settings of the environment and the settings file.

    `uvicorn --factory muisti.service.app:create_app` serves it, also with `--workers`.

    Raises:
        SettingsError: a setting has an unknown name or a bad value; or packages are missing.
    """
    return server.from_environment()
