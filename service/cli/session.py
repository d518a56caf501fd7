"""A client and a space for commands. `service.cli.opening` opens them, and loads when a command first asks."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muisti.service.app.client import Client
    from muisti.service.auth.access import Need
    from muisti.service.cli import callers, opening
    from muisti.service.cli.opening import Session
    from muisti.service.cli.project import Choice
    from muisti.service.settings import Settings
else:  # a twentieth of a second, of which `--help` needs nothing
    callers = Lazy("muisti.service.cli.callers")
    opening = Lazy("muisti.service.cli.opening")


def session(
    options: Globals, allowed: "Sequence[str]" = (), *, create: bool = False
) -> "AbstractContextManager[Session]":
    """A client and a space; what the service refuses inside becomes the end of the command.

    `allowed` is stored whatever the policy of the space says. Only with `create` is a database made that is missing.

    Raises:
        Failure: no service, no such thing, a conflict. The exit code says which.
    """
    return opening.session(options, allowed, create=create)


def client(
    options: Globals, settings: "Settings | None" = None, *, create: bool = False
) -> "AbstractContextManager[Client]":
    """A client of the server that the options name, else of this process on `settings` (default: those in force).

    Only with `create` is a database made that is missing.
    """
    return opening.client(options, settings, create=create)


def demand(options: Globals, need: "Need") -> None:
    """Check that the access mode and category of the command allow what needs `need`. Raises Failure if not."""
    callers.demand(options, need)


def refusals(options: Globals) -> AbstractContextManager[None]:
    """Turn what was refused into an exit code, the words on stderr, and with --json the problem on stdout."""
    return opening.refusals(options)


def server_url(options: Globals) -> str | None:
    """The server that the options or the environment name; None stands for the database file."""
    return opening.server_url(options)


def space_choice(options: Globals) -> "Choice":
    """The space that the options or the project name, and why."""
    return opening.space_choice(options)
