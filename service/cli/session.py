"""What commands work with: a client, and a space. Light, so that `--help` is; the work is in `service.cli.opening`."""

from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from service.cli.base import Globals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.access import Need
    from service.cli.opening import Session
    from service.client import Client
    from service.project import Choice
    from service.settings import Settings


def session(
    options: Globals, allowed: "Sequence[str]" = (), *, create: bool = False
) -> "AbstractContextManager[Session]":
    """A client and a space; what the service refuses inside becomes the end of the command.

    `allowed` is stored whatever the policy of the space says. Only with `create` is a database made that is missing.

    Raises:
        Failure: no service, no such thing, a conflict. The exit code says which.
    """
    return _opening().session(options, allowed, create=create)


def client(
    options: Globals, settings: "Settings | None" = None, *, create: bool = False
) -> "AbstractContextManager[Client]":
    """A client of the server that the options name, else of this process on `settings` (default: those in force).

    Only with `create` is a database made that is missing.
    """
    return _opening().client(options, settings, create=create)


def demand(options: Globals, need: "Need") -> None:
    """Check that the access mode and category of the command allow what needs `need`. Raises Failure if not."""
    import_module("service.cli.callers").demand(options, need)


def refusals(options: Globals) -> AbstractContextManager[None]:
    """Turn what was refused into an exit code, the words on stderr, and with --json the problem on stdout."""
    return _opening().refusals(options)


def server_url(options: Globals) -> str | None:
    """The server that the options or the environment name; None stands for the database file."""
    return _opening().server_url(options)


def space_choice(options: Globals) -> "Choice":
    """The space that the options or the project name, and why."""
    return _opening().space_choice(options)


def _opening() -> Any:
    return import_module("service.cli.opening")
