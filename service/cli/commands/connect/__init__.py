"""The connect command."""

from typing import TYPE_CHECKING, Any

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals

if TYPE_CHECKING:
    from muisti.service.cli.commands.connect import client_file
else:  # with the core
    client_file = Lazy("muisti.service.cli.commands.connect.client_file")

CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini-cli", "zed")


@click.command(
    cls=Command,
    examples=(
        "muisti connect claude-code",
        "muisti connect cursor --project --space acme.web",
        "muisti connect codex --url http://127.0.0.1:8321",
        "muisti connect zed --dry-run",
        "muisti connect vscode --undo",
    ),
)
@click.argument("name", metavar="CLIENT", type=click.Choice(CLIENTS))
@click.option("--project", is_flag=True, help="Only for the project in this folder, in a file that can be shared.")
@click.option("--as", "called", default="muisti", show_default=True, metavar="NAME", help="What the client calls it.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--print", "printed", is_flag=True, help="Print the entry alone, for a client that is not listed.")
@click.option("--undo", is_flag=True, help="Take the entry out again.")
@click.option("--no-check", is_flag=True, help="Write it although no server may answer.")
@click.pass_obj
def connect(options: Globals, name: str, **asked: Any) -> None:
    """Let an agent client use Muisti.

    Writes the MCP server into the configuration of CLIENT: claude-code, claude-desktop, cursor, vscode, codex,
    gemini-cli or zed. Shows what changes, keeps comments and order, keeps a copy beside the file, and first starts or
    reaches the server as the client would, and calls a tool. Without --url the client starts muisti itself, on the
    database file. A key is never written: the client finds it in MUISTI_KEY.
    """
    client_file.run(options, name, **asked)
