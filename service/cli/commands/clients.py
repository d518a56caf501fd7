"""Commands that bring Muisti to agent clients and shells: connect, mcp, hook, skill, completion."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.core.model.location import database_path
from muisti.core.support.lazy import Lazy
from muisti.service.schemas.access_modes import MODES
from muisti.service.terminal.base import Failure, Globals, Subcommands, command
from muisti.service.terminal.options import choice, flag, group, option
from muisti.service.terminal.output import console, print_json, talk
from muisti.service.terminal.session import in_force, refusals, server_url
from muisti.service.terminal.values import OneOf, near
from muisti.service.terminal.views import cell, safe, tabbed

if TYPE_CHECKING:
    from muisti.service.cli.commands import client_all, client_file, mcp_work
    from muisti.service.connect import clients, hooks, muisti_hook, planning
else:  # with the core, and with the settings
    client_file = Lazy("muisti.service.cli.commands.client_file")
    mcp_work = Lazy("muisti.service.cli.commands.mcp_work")
    client_all = Lazy("muisti.service.cli.commands.client_all")
    muisti_hook = Lazy("muisti.service.connect.muisti_hook")
    clients = Lazy("muisti.service.connect.clients")
    planning = Lazy("muisti.service.connect.planning")
    hooks = Lazy("muisti.service.connect.hooks")

CLIENTS = (
    *("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini-cli", "zed", "copilot-cli", "windsurf"),
    *("cline", "roo", "opencode", "goose", "jetbrains", "kiro", "hermes", "openclaw"),
)
HOOKED = ("claude-code", "codex", "gemini-cli", "cursor", "copilot-cli", "windsurf", "cline", "opencode")
ALL, STATUS = "all", "status"
DIFF = {"+": "green", "-": "red", "@": "cyan"}
# Other names of clients, in lower case.
ALSO = {
    "claude": CLIENTS[:2], "anthropic": CLIENTS[:2], "openai": ("codex",), "copilot": ("copilot-cli", "vscode"),
    "gemini": ("gemini-cli",), "junie": ("jetbrains",), "intellij": ("jetbrains",),
}  # fmt: skip
_tools = option(
    "--tools",
    "Groups of tools to offer, as a,b: memory, conversations, documents, code, graph, admin, chatgpt, review, or all.",
    metavar="GROUPS",
)


class Client(OneOf):
    """A client that the command can set up. The message about another one names the nearest, or the way without it."""

    def advice(self, word: str) -> str:
        """Return the clients that may be meant, else how to set up a client that is not listed."""
        meant = ALSO.get(word.casefold())
        if meant or near(word, CLIENTS):
            return f". Did you mean {' or '.join(meant)}?" if meant else super().advice(word)
        return ". For any other client, `muisti connect cursor --print` prints an entry to copy into its settings"


@command(
    "muisti connect all",
    "muisti connect status",
    "muisti connect claude-code",
    "muisti connect cursor --project --space acme.web",
    "muisti connect codex --url http://127.0.0.1:8321",
    "muisti connect vscode --tools memory,code",
    "muisti connect zed --dry-run",
    "muisti connect cursor --command 'uvx --from muisti-0.1.0-py3-none-any.whl muisti'",
    "muisti connect claude-code --check",
    "muisti connect vscode --undo",
)
@click.argument("name", metavar="CLIENT", type=Client((ALL, STATUS, *CLIENTS)))
@flag("--project", "Only for the project in this folder, in a file that a team can share.")
@option("--as called", "Name of the entry.", default="muisti")
@_tools
@flag("--dry-run", "Show what would change, and change nothing.")
@flag("--print printed", "Print the entry alone, for a client that is not listed.")
@flag("--undo", "Remove the entry.")
@flag("--check", "Check an entry that exists: start what it starts, and call a tool.")
@option(
    "--command", 'How the client starts Muisti, as "uvx --from FILE muisti".  [default: this one]', metavar="COMMAND"
)
@flag("--no-check", "Write the entry without a test call.")
def connect(options: Globals, name: str, **asked: Any) -> None:
    """Connect agent clients to Muisti.

    With `all` every client found on this machine gets the MCP server, the hooks and the skill; `status` shows who has
    what. One CLIENT gets the MCP server only: claude-code, claude-desktop, cursor, vscode, codex, gemini-cli, zed,
    copilot-cli, windsurf, cline, roo, opencode, goose, jetbrains, kiro, hermes, openclaw.

    The command first starts or reaches the server as the client would, and calls a tool. Then it shows what changes,
    and writes the client's configuration file. Comments and order stay, and a copy of the old file is kept beside it.
    Without --url the client starts muisti itself, on the database file: this installation, or what --command names. A
    key is never written: the client reads it from MUISTI_KEY.
    """
    if name in (ALL, STATUS):
        client_all.run(options, status=name == STATUS, **asked)
        return
    client_file.run(options, name, **asked)


@command(
    "muisti mcp",
    "muisti mcp --space acme.web --mode read-only",
    "muisti mcp --category notes",
    "muisti mcp --tools memory,code",
)
@option(
    "--folder",
    "Folder whose project's space is used, as clients fill it in; `roots` asks the client.",
    metavar="DIR",
)
@choice("--mode", "Tools to offer.  [default: those of --access, or full]", list(MODES))
@option("--category", "Limit the tools to this category.")
@_tools
def mcp(options: Globals, folder: str | None, mode: str | None, category: str | None, tools: str | None) -> None:
    """Serve MCP on standard input and output.

    This is for agent clients that start their MCP servers themselves. It works on the database file and in one space. A
    running Muisti server offers the same tools at /mcp.
    """
    if server_url(options):
        raise click.UsageError("a server that runs already speaks MCP itself, at /mcp; leave out --url and MUISTI_URL")
    mcp_work.run(options, folder, mode, category, tools)


hook = Subcommands(
    "hook",
    examples=("muisti hook install claude-code", "muisti hook uninstall claude-code"),
    help="Recall in an agent client without being asked.\n\nA hook shows the model what applies at a session's start, "
    "at prompts and at files. It keeps prompts and outcomes as candidates: searches find them only with --status "
    "candidate, until `muisti promote` activates them.",
)
_hooked = group(
    click.argument("name", metavar="CLIENT", type=OneOf(HOOKED)),
    flag("--project", "Only for the project in this folder."),
)


@hook.has("""echo '{"hook_event_name": "UserPromptSubmit", "prompt": "May I deploy?"}' | muisti hook run""")
@click.argument("name", metavar="CLIENT[:EVENT]", default="claude-code")
def run(options: Globals, name: str) -> None:
    """Answer an event that a client sends on standard input.

    The event and the answer have the client's own format. It passes the event on to the server that runs on the
    database, or to a `muisti mcp` that works on it. Without either it is silent and leaves a line in hooks.log in the
    user's cache folder. It starts no process and always exits with 0.
    """
    muisti_hook.main([name, *hook_options(options)])


@hook.has("muisti hook install claude-code", "muisti hook install gemini-cli --project --dry-run")
@_hooked
@flag("--dry-run", "Show what would change, and change nothing.")
def install(options: Globals, name: str, *, project: bool, dry_run: bool) -> None:
    """Make a client recall without being asked.

    Writes a command for each event into the files of CLIENT: claude-code, codex, gemini-cli, cursor, copilot-cli,
    windsurf, cline or opencode. Shows what changes; `muisti hook uninstall CLIENT` removes it.
    """
    with _possible():
        for change in hooks.install(name, _place(name, project), hooks.command(name, hook_options(options))):
            _finish(options, change, dry_run)
    if not dry_run:
        where = " --project" if project else ""
        talk(f"To remove it: muisti hook uninstall {name}{where}")
        talk("To list what it keeps: muisti list --status candidate --category captured")


@hook.has("muisti hook uninstall claude-code")
@_hooked
@flag("--dry-run", "Show what would change, and change nothing.")
def uninstall(options: Globals, name: str, *, project: bool, dry_run: bool) -> None:
    """Remove the hooks from a client's settings.

    Removes every hook of Muisti from the files of CLIENT, and nothing else.
    """
    with _possible():
        for change in hooks.uninstall(name, _place(name, project)):
            _finish(options, change, dry_run)


def show_change(options: Globals, change: "planning.Change", dry_run: bool) -> None:
    """Print the diff: on stdout for a dry run, else on stderr."""
    if options.json:
        return
    screen = console(options, stderr=not dry_run)
    for line in change.diff():
        if screen.is_terminal:
            screen.print(cell(line, DIFF.get(line[:1], "")), soft_wrap=True)
        else:
            click.echo(safe(line), err=not dry_run)


def apply(options: Globals, change: "planning.Change", dry_run: bool, more: Mapping[str, Any]) -> None:
    """Print the file and whether it was changed, unchanged or removed."""
    state = "unchanged" if not change.changes else "removed" if change.after is None else "changed"
    backup = planning.backup_of(change.path)
    kept = str(backup) if backup.exists() else None
    if options.json:
        report = {"file": str(change.path), "state": state, "dry_run": dry_run, "backup": kept, "diff": change.diff()}
        print_json({**report, **more})
    elif not dry_run:
        click.echo(tabbed(change.path, state))


def _finish(options: Globals, change: "planning.Change", dry_run: bool) -> None:
    show_change(options, change, dry_run)
    if change.changes and not dry_run:
        change.write()
    apply(options, change, dry_run, {})


def _place(name: str, project: bool) -> Path:
    found = hooks.HOOKS[name]
    return Path.cwd() / found.project if project else found.where(clients.Home(Path.home(), os.environ))


def hook_options(options: Globals) -> list[str]:
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
    except planning.NotPossible as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written: {error.strerror}") from error


def skill_text() -> str:
    """Return the skill file."""
    return resources.files("muisti.service").joinpath("static", "skill.md").read_text("utf-8")


SKILL = Path("skills") / "muisti" / "SKILL.md"


@command("muisti skill", "muisti skill --install", "muisti skill --install --to .agents", "muisti skill > SKILL.md")
@flag("--install", "Write it where agents look for skills.")
@option(
    "--to folder",
    "Settings folder of the agent.  [default: ~/.claude]",
    click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
)
def skill(options: Globals, install: bool, folder: Path | None) -> None:
    """Print the skill file that teaches an agent to use memory.

    The file (SKILL.md) says when to remember, recall and supersede, and has conventions for categories and tags.
    --install writes it to skills/muisti/SKILL.md in ~/.claude, or in the folder that --to names.
    """
    text = skill_text()
    if not install:
        click.echo(text, nl=False)
        return
    path = (folder or Path.home() / ".claude") / SKILL
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from error
    click.echo(str(path))
    talk("Agents read it when they start. To remove it, delete that file.")


@command(
    'eval "$(muisti completion bash)"   # in ~/.bashrc',
    'eval "$(muisti completion zsh)"    # in ~/.zshrc',
    "muisti completion fish > ~/.config/fish/completions/muisti.fish",
)
@click.argument("shell", type=OneOf(("bash", "zsh", "fish")))
def completion(options: Globals, shell: str) -> None:
    """Print a shell script that completes commands, options and names.

    For bash (4.4 or newer), zsh or fish.
    """
    found = import_module("click.shell_completion").get_completion_class(shell)
    root = click.get_current_context().find_root()
    script = found(root.command, {}, str(root.info_name or "muisti"), "_MUISTI_COMPLETE")
    click.echo(script.source_template % script.source_vars())
