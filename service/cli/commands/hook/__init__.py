"""The hook commands: `run` records an event of an agent client, `install` and `uninstall` change its settings."""

from typing import TYPE_CHECKING, Any

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals, Subcommands

if TYPE_CHECKING:
    from muisti.service.cli.commands.hook import client_settings, storing
else:  # with the core
    client_settings = Lazy("muisti.service.cli.commands.hook.client_settings")
    storing = Lazy("muisti.service.cli.commands.hook.storing")

CLIENTS = ("claude-code",)
COMMANDS = {
    "run": ("hook:run", "Record an event that a client sends on standard input."),
    "install": ("hook:install", "Make a client record its prompts and conversations."),
    "uninstall": ("hook:uninstall", "Remove the hooks from a client's settings."),
}

hook = Subcommands(
    "hook",
    commands_at=COMMANDS,
    examples=("muisti hook install claude-code", "muisti hook uninstall claude-code"),
    help="Record prompts and tool calls of an agent client.\n\nThey are stored as candidates: searches find them only "
    "with --status candidate, until `muisti promote` activates them.",
)


@click.command(
    cls=Command,
    examples=("""echo '{"hook_event_name": "UserPromptSubmit", "prompt": "Deploy on Fridays"}' | muisti hook run""",),
)
@click.option("--wait", is_flag=True, help="Store the event before exiting, instead of in the background.")
@click.pass_obj
def run(options: Globals, wait: bool) -> None:
    """Record an event that a client sends on standard input.

    The event has the format of Claude Code. Stored are the prompt of UserPromptSubmit, the tool_input of PreToolUse,
    the tool_response of PostToolUse and the conversation of PreCompact. Other events are ignored. The event's cwd names
    the project. A text that may hold a secret is dropped. The command prints nothing and always exits with 0. It
    does not wait for the storing.
    """
    storing.run(options, wait)


@click.command(
    cls=Command,
    examples=("muisti hook install claude-code", "muisti hook install claude-code --project --tools --dry-run"),
)
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
@click.option("--tools", is_flag=True, help="Also record the input and output of tools.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.pass_obj
def install(options: Globals, name: str, **asked: Any) -> None:
    """Make a client record its prompts and conversations.

    Writes `muisti hook run` into the settings of CLIENT, which is claude-code. It runs for each prompt, and for a
    conversation before it is compacted. Shows what changes; `muisti hook uninstall CLIENT` removes it.
    """
    client_settings.install(options, **asked)


@click.command(cls=Command, examples=("muisti hook uninstall claude-code",))
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.pass_obj
def uninstall(options: Globals, name: str, **asked: Any) -> None:
    """Remove the hooks from a client's settings.

    Removes every `muisti hook run` from the settings of CLIENT, and nothing else.
    """
    client_settings.uninstall(options, **asked)
