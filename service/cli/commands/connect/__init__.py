"""The connect command."""

from typing import TYPE_CHECKING, Any

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import flag, option
from muisti.service.cli.values import OneOf, near

if TYPE_CHECKING:
    from muisti.service.cli.commands.connect import client_file
else:  # with the core
    client_file = Lazy("muisti.service.cli.commands.connect.client_file")

CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini-cli", "zed")
# Other names of clients, in lower case.
ALSO = {"claude": CLIENTS[:2], "anthropic": CLIENTS[:2], "openai": ("codex",), "copilot": ("vscode",)}


class Client(OneOf):
    """A client that the command can set up. The message about another one names the nearest, or the way without it."""

    def advice(self, word: str) -> str:
        """Return the clients that may be meant, else how to set up a client that is not listed."""
        meant = ALSO.get(word.casefold())
        if meant or near(word, CLIENTS):
            return f". Did you mean {' or '.join(meant)}?" if meant else super().advice(word)
        return ". For any other client, `muisti connect cursor --print` prints an entry to copy into its settings"


@command(
    "muisti connect claude-code",
    "muisti connect cursor --project --space acme.web",
    "muisti connect codex --url http://127.0.0.1:8321",
    "muisti connect vscode --tools memory,code",
    "muisti connect zed --dry-run",
    "muisti connect cursor --command 'uvx --from muisti-0.1.0-py3-none-any.whl muisti'",
    "muisti connect claude-code --check",
    "muisti connect vscode --undo",
)
@click.argument("name", metavar="CLIENT", type=Client(CLIENTS))
@flag("--project", "Only for the project in this folder, in a file that a team can share.")
@option("--as called", "Name of the entry.", default="muisti")
@option(
    "--tools",
    "Groups of tools, as a,b: memory, conversations, documents, code, graph, admin, chatgpt, or all.",
    metavar="GROUPS",
)
@flag("--dry-run", "Show what would change, and change nothing.")
@flag("--print printed", "Print the entry alone, for a client that is not listed.")
@flag("--undo", "Remove the entry.")
@flag("--check", "Check an entry that exists: start what it starts, and call a tool.")
@option(
    "--command", 'How the client starts Muisti, as "uvx --from FILE muisti".  [default: this one]', metavar="COMMAND"
)
@flag("--no-check", "Write the entry without a test call.")
def connect(options: Globals, name: str, **asked: Any) -> None:
    """Register Muisti as an MCP server in an agent client.

    CLIENT is claude-code, claude-desktop, cursor, vscode, codex, gemini-cli or zed. The command first starts or reaches
    the server as the client would, and calls a tool. Then it shows what changes, and writes the entry into the client's
    configuration file. Comments and order stay, and a copy of the old file is kept beside it. Without --url the client
    starts muisti itself, on the database file: this installation, or what --command names. A key is never written: the
    client reads it from MUISTI_KEY.
    """
    client_file.run(options, name, **asked)
