"""The hook commands: `run` records an event of an agent client, `install` and `uninstall` change its settings."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.model.location import database_path
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Failure, Globals, Subcommands
from muisti.service.cli.options import flag
from muisti.service.cli.output import talk
from muisti.service.cli.session import refusals, server_url

if TYPE_CHECKING:
    from muisti.service.cli import changes, configuration
    from muisti.service.cli.commands.hook import storing
    from muisti.service.connect import clients, files, hooks
else:  # with the core, and with the settings
    changes = Lazy("muisti.service.cli.changes")
    configuration = Lazy("muisti.service.cli.configuration")
    storing = Lazy("muisti.service.cli.commands.hook.storing")
    clients = Lazy("muisti.service.connect.clients")
    files = Lazy("muisti.service.connect.files")
    hooks = Lazy("muisti.service.connect.hooks")

CLIENTS = ("claude-code",)

hook = Subcommands(
    "hook",
    examples=("muisti hook install claude-code", "muisti hook uninstall claude-code"),
    help="Record prompts and tool calls of an agent client.\n\nThey are stored as candidates: searches find them only "
    "with --status candidate, until `muisti promote` activates them.",
)


@hook.has("""echo '{"hook_event_name": "UserPromptSubmit", "prompt": "Deploy on Fridays"}' | muisti hook run""")
@flag("--wait", "Store the event before exiting, instead of in the background.")
def run(options: Globals, wait: bool) -> None:
    """Record an event that a client sends on standard input.

    The event has the format of Claude Code. Stored are the prompt of UserPromptSubmit, the tool_input of PreToolUse,
    the tool_response of PostToolUse and the conversation of PreCompact. Other events are ignored. The event's cwd names
    the project. A text that may hold a secret is dropped. The command prints nothing and always exits with 0. It
    does not wait for the storing.
    """
    storing.run(options, wait)


@hook.has("muisti hook install claude-code", "muisti hook install claude-code --project --tools --dry-run")
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@flag("--project", "Only for the project in this folder.")
@flag("--tools", "Also record the input and output of tools.")
@flag("--dry-run", "Show what would change, and change nothing.")
def install(options: Globals, name: str, *, project: bool, tools: bool, dry_run: bool) -> None:
    """Make a client record its prompts and conversations.

    Writes `muisti hook run` into the settings of CLIENT, which is claude-code. It runs for each prompt, and for a
    conversation before it is compacted. Shows what changes; `muisti hook uninstall CLIENT` removes it.
    """
    events = hooks.ALWAYS + (hooks.OF_TOOLS if tools else ())
    with _possible():
        change = hooks.install(_path(project), hooks.command(_flags(options)), events)
        _finish(options, change, dry_run)
    if not dry_run:
        where = " --project" if project else ""
        talk(f"To remove it: muisti hook uninstall claude-code{where}")
        talk("To list what is stored: muisti list --status candidate --category captured")


@hook.has("muisti hook uninstall claude-code")
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@flag("--project", "Only for the project in this folder.")
@flag("--dry-run", "Show what would change, and change nothing.")
def uninstall(options: Globals, name: str, *, project: bool, dry_run: bool) -> None:
    """Remove the hooks from a client's settings.

    Removes every `muisti hook run` from the settings of CLIENT, and nothing else.
    """
    with _possible():
        _finish(options, hooks.uninstall(_path(project)), dry_run)


def _finish(options: Globals, change: "files.Change", dry_run: bool) -> None:
    changes.show(options, change, dry_run)
    if change.changes and not dry_run:
        change.write()
    changes.written(options, change, dry_run, {})


def _path(project: bool) -> Path:
    return Path.cwd() / hooks.PROJECT if project else hooks.where(clients.Home(Path.home(), os.environ))


def _flags(options: Globals) -> list[str]:
    """Return the options of a hook's command, so that it stores where a command run here now would."""
    space = ["--space", options.space] if options.space else []
    if url := server_url(options):
        return ["--url", url, *space]
    with refusals(options):
        database = configuration.in_force(options).database_url
    if database.startswith("file:"):
        database = str(Path(database_path(database)).absolute())
    return ["--database", database, *space]


@contextmanager
def _possible() -> Iterator[None]:
    try:
        yield
    except files.NotPossible as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written: {error.strerror}") from error
