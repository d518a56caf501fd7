"""The hook commands: what an agent client runs when something happens, and how it comes to."""

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
    "run": ("hook:run", "Keep what a client tells on standard input."),
    "install": ("hook:install", "Let a client tell."),
    "uninstall": ("hook:uninstall", "Let it tell no more."),
}

hook = Subcommands(
    "hook",
    commands_at=COMMANDS,
    examples=("muisti hook install claude-code", "muisti hook uninstall claude-code"),
    help="Keep what happens in an agent client.\n\nAs observations that nobody has confirmed: they are found only by "
    "--status candidate until they are promoted.",
)


@click.command(
    cls=Command,
    examples=("""echo '{"hook_event_name": "UserPromptSubmit", "prompt": "Deploy on Fridays"}' | muisti hook run""",),
)
@click.option("--wait", is_flag=True, help="Store it before ending, instead of in the background.")
@click.pass_obj
def run(options: Globals, wait: bool) -> None:
    """Keep what a client tells on standard input.

    The payload is that of Claude Code: the prompt of UserPromptSubmit, the tool_input of PreToolUse, the tool_response
    of PostToolUse, the conversation of PreCompact; of other events nothing. Its cwd is the project. What may hold a
    secret is dropped. Says nothing, ends at once and always with 0: a client is never kept waiting.
    """
    storing.run(options, wait)


@click.command(
    cls=Command,
    examples=("muisti hook install claude-code", "muisti hook install claude-code --project --tools --dry-run"),
)
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
@click.option("--tools", is_flag=True, help="Also what tools are given and answer.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.pass_obj
def install(options: Globals, name: str, **asked: Any) -> None:
    """Let a client tell.

    Writes `muisti hook run` into the settings of CLIENT, claude-code, for prompts and conversations that it is about
    to compact. Shows what changes; `muisti hook uninstall CLIENT` takes it out again.
    """
    client_settings.install(options, **asked)


@click.command(cls=Command, examples=("muisti hook uninstall claude-code",))
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.pass_obj
def uninstall(options: Globals, name: str, **asked: Any) -> None:
    """Let it tell no more.

    Takes every `muisti hook run` out of the settings of CLIENT, and nothing else.
    """
    client_settings.uninstall(options, **asked)
