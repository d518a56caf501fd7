"""The table of clients in docs/how-to/clients.md: `python -m tests.service.connect.table` tries each, and writes it.

Each client gets its entry, its hooks and its skill in a home of its own. What the entry starts is then called in two
projects, as the client would start it, and neither may see what the other was given. Undo must leave no byte.
"""

import os
import re
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import httpx2
import mcp_types as types
from click.testing import CliRunner
from mcp import StdioServerParameters
from mcp.client.client import Client as McpClient
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from muisti.service.agents.formats import FORMATS
from muisti.service.cli import main as muisti
from muisti.service.connect.calling import filled
from muisti.service.connect.clients import CLIENTS, Client, Entry, Home, started, url_of
from muisti.service.connect.hooks import HOOKS
from muisti.service.connect.planning import entry_of

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "clients.md"
HEAD = "| command | file, on Linux; of a project | hooks | skill | project | over HTTP | undo | live call |"
PROJECTS = ("web", "api")
WHEN = {"start": "at the start", "file": "at files"}
URL = "http://127.0.0.1:8321/mcp"
HOME = Home(Path("~"), {}, "linux")


def row(client: Client, tried: Mapping[str, bool]) -> str:
    """Return the line of a client, from its declaration and from what was tried."""
    files = [f"`{client.where(HOME).as_posix()}`", *([f"`{client.project}`"] if client.project else [])]
    skill = f"`~/{client.skills}`" if client.skills else ""
    done = ("yes" if tried[name] else "no" for name in ("undo", "call"))
    cells = (
        f"`muisti connect {client.name}`",
        "; ".join(files),
        hooked(client),
        skill,
        way(client),
        web(client),
        *done,
    )
    return re.sub(r"\|  +(?=\|)", "| ", f"| {' | '.join(cells)} |")


def hooked(client: Client) -> str:
    """Return in words what the hooks of a client do."""
    if client.name == "vscode":
        return "those of Claude Code"
    events = FORMATS[client.name].events.values() if client.name in HOOKS else ()
    shown = {one.kind for one in events if one.shown is not None}
    told = ["recall"] if "prompt" in shown else [WHEN[kind] for kind in WHEN if kind in shown]
    return ", ".join([*told, *(["record"] if {"prompt", "end"} & {one.kind for one in events} else [])])


def web(client: Client) -> str:
    """Return in words how the entry for a server names the project."""
    if client.http is None:
        return "no HTTP"
    header = client.http(URL, False).get("env_http_headers", {})
    named = f"folder={client.folder}" if client.folder else next((f"{name}: {one}" for name, one in header.items()), "")
    return f"`{named}`" if named else "with `--project` or `--space`" if client.project else "with `--space`"


def way(client: Client) -> str:
    """Return in words how the server that a client starts finds the project."""
    return "working folder" if client.at_work else f"`{client.workspace}`" if client.workspace else "roots"


def words_in(client: Client, entry: Entry, project: Path) -> list[str]:
    """Return the words that a client runs in a project: it fills in the variable for the folder."""
    words = started(entry) or []
    return [word.replace(client.workspace, str(project)) if client.workspace else word for word in words]


async def called(client: Client, entry: Entry, project: Path, elsewhere: Path) -> str:
    """Remember something in a project, and return what is then listed there."""
    command, *words = words_in(client, entry, project)
    folder = project if client.at_work else elsewhere
    environ = {"MUISTI_EMBEDDINGS": "off", "HOME": str(elsewhere)}
    run = StdioServerParameters(command=command, args=words, env=environ, cwd=str(folder))

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=project.as_uri())])

    async with McpClient(stdio_client(run), list_roots_callback=roots, mode="legacy") as opened:
        return await _asked(opened, project)


async def called_over_http(entry: Entry, project: Path) -> str:
    """Do the same at a server, whose entry a client fills in: from its environment, or with its folder."""
    known = {"PWD": str(project), "workspaceFolder": str(project)}
    headers = {name: known[one] for name, one in entry.get("env_http_headers", {}).items()}
    http = httpx2.AsyncClient(headers=headers)
    async with http, McpClient(streamable_http_client(filled(url_of(entry), known), http_client=http)) as opened:
        return await _asked(opened, project)


async def _asked(opened: McpClient, project: Path) -> str:
    await opened.call_tool("remember", {"content": f"The word of {project.name} is {project.name}x"})
    return getattr((await opened.call_tool("list_memories", {})).content[0], "text", "")


def keeps_apart(folder: Path, ask: Callable[[Path], Coroutine[Any, Any, str]]) -> bool:
    """Tell whether two projects see their own word, and not that of the other."""
    seen: dict[str, str] = {}
    for name in PROJECTS:
        (folder / name).mkdir(exist_ok=True)
        seen[name] = anyio.run(ask, folder / name)
    return all((f"{one}x" in seen[other]) == (one == other) for one in PROJECTS for other in PROJECTS)


def tried(client: Client) -> Mapping[str, bool]:
    """Connect a client in an empty home, call what it starts in two projects, and undo it all."""
    with TemporaryDirectory() as name:
        home, folder = Path(name) / "home", Path(name)
        path = client.where(Home(home, {}))
        path.parent.mkdir(parents=True)
        os.environ.update(HOME=str(home), MUISTI_EMBEDDINGS="off")
        words = ["connect", client.name, "--no-check", "--database", str(folder / "muisti.db")]
        before = sorted(home.rglob("*"))
        CliRunner().invoke(muisti, words, catch_exceptions=False)
        entry = entry_of(client, path, "muisti")
        call = entry is not None and keeps_apart(folder, partial(called, client, entry, elsewhere=folder))
        CliRunner().invoke(muisti, [*words, "--undo"], catch_exceptions=False)
        return {"call": call, "undo": sorted(home.rglob("*")) == before}


def rows() -> Iterator[str]:
    yield HEAD
    yield re.sub(r"[^|]+", " --- ", HEAD)
    for client in CLIENTS.values():
        found = row(client, tried(client))
        sys.stdout.write(f"{found}\n")
        yield found


def main() -> None:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "MUISTI_URL", "MUISTI_SPACE"):
        os.environ.pop(variable, None)
    text = PAGE.read_text("utf-8")
    start = text.index("| command | file, on Linux")
    end = text.index("\n\n", start)
    PAGE.write_text(f"{text[:start]}{chr(10).join(rows())}{text[end:]}", "utf-8")


if __name__ == "__main__":
    main()
