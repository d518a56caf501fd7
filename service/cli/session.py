"""Clients and spaces for commands. `service.cli.opening` does the work, and loads on the first call."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals
from muisti.service.cli.output import View, answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muisti.client import Call
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
    options: Globals, allowed: "Sequence[str]" = (), *, create: bool = False, reads: bool = False
) -> "AbstractContextManager[Session]":
    """Open a client and a space. A refusal of the service inside the context ends the command.

    `allowed` names the parts of the policy of the space that do not apply, such as `secrets`. A missing database is
    created only with `create`. With `reads`, a missing space or database is read as an empty one.

    Raises:
        Failure: the service refused a request or cannot be reached. The exit code says why.
    """
    return opening.session(options, allowed, create=create, reads=reads)


def ask(
    options: Globals,
    request: "Callable[[str], Call]",
    view: View,
    allowed: "Sequence[str]" = (),
    *,
    create: bool = False,
    reads: bool = False,
) -> Any:
    """Send the request for the space of the options, print the answer, and return its data. See also `session`."""
    with session(options, allowed, create=create, reads=reads) as opened:
        reply = opened.client.send(request(opened.space))
        answer(options, reply, *view)
        return reply.data


def client(
    options: Globals, settings: "Settings | None" = None, *, create: bool = False, reads: bool = False
) -> "AbstractContextManager[Client]":
    """Open a client of the server that the options name, else of a service in this process.

    That service has `settings`, by default those in force. A missing database is created only with `create`. With
    `reads`, it is read as an empty one.
    """
    return opening.client(options, settings, create=create, reads=reads)


def demand(options: Globals, need: "Need") -> None:
    """Check that the access mode and category of the command allow the scope `need`. Raises Failure if not."""
    callers.demand(options, need)


def refusals(options: Globals) -> AbstractContextManager[None]:
    """Turn a refusal into an exit code and a message on stderr; with --json, print the problem on stdout."""
    return opening.refusals(options)


def server_url(options: Globals) -> str | None:
    """Return the server that the options or the environment name; None means the database file."""
    return opening.server_url(options)


def space_choice(options: Globals) -> "Choice":
    """Return the space that the options or the project name, and why."""
    return opening.space_choice(options)
