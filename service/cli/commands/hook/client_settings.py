"""The hooks in the settings of an agent client: written and removed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from muisti.core.model.location import database_path
from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.changes import show, written
from muisti.service.cli.configuration import in_force
from muisti.service.cli.output import talk
from muisti.service.cli.session import refusals, server_url
from muisti.service.connect import hooks
from muisti.service.connect.clients import Home
from muisti.service.connect.files import Change, NotPossible


def install(options: Globals, *, project: bool, tools: bool, dry_run: bool) -> None:
    """Write the hooks. They use the server or database that is configured now."""
    events = hooks.ALWAYS + (hooks.OF_TOOLS if tools else ())
    with _possible():
        change = hooks.install(_path(project), hooks.command(_flags(options)), events)
        _finish(options, change, dry_run)
    if not dry_run:
        where = " --project" if project else ""
        talk(f"To remove it: muisti hook uninstall claude-code{where}")
        talk("To list what is stored: muisti list --status candidate --category captured")


def uninstall(options: Globals, *, project: bool, dry_run: bool) -> None:
    """Remove the hooks."""
    with _possible():
        _finish(options, hooks.uninstall(_path(project)), dry_run)


def _finish(options: Globals, change: Change, dry_run: bool) -> None:
    show(options, change, dry_run)
    if change.changes and not dry_run:
        change.write()
    written(options, change, dry_run, {})


def _path(project: bool) -> Path:
    return Path.cwd() / hooks.PROJECT if project else hooks.where(Home(Path.home(), os.environ))


def _flags(options: Globals) -> list[str]:
    """Return the options of a hook's command, so that it stores where a command run here now would."""
    space = ["--space", options.space] if options.space else []
    if url := server_url(options):
        return ["--url", url, *space]
    with refusals(options):
        database = in_force(options).database_url
    if database.startswith("file:"):
        database = str(Path(database_path(database)).absolute())
    return ["--database", database, *space]


@contextmanager
def _possible() -> Iterator[None]:
    try:
        yield
    except NotPossible as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written: {error.strerror}") from error
