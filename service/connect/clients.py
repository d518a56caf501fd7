"""The programs that Muisti can be connected to: where their configuration is, and the entry of a server in it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from muisti.service.connect import jsonc, toml

KEY = "MUISTI_KEY"
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Home:
    """A user's folders. `system` is named as in `sys.platform`."""

    folder: Path
    environ: Mapping[str, str]
    system: str = sys.platform

    def settings(self) -> Path:
        """Return the folder in which programs keep their settings on this system."""
        if self.system == "darwin":
            return self.folder / "Library" / "Application Support"
        if self.system == "win32":
            return self.named("APPDATA", self.folder / "AppData" / "Roaming")
        return self.named("XDG_CONFIG_HOME", self.folder / ".config")

    def named(self, variable: str, otherwise: Path) -> Path:
        return Path(self.environ[variable]) if self.environ.get(variable) else otherwise


@dataclass(frozen=True, slots=True)
class Client:
    """A program, with its configuration file and the form of a server's entry in it.

    `holder` is the path of the object that holds the servers. `stdio` makes an entry from a command and its arguments,
    `http` from a URL and whether a key is sent. `where` finds the user's file; `project` is the file of a project.
    `at_work`: the program starts servers in its working folder, so that they find the project's space.
    """

    name: str
    title: str
    holder: tuple[str, ...]
    where: Callable[[Home], Path]
    stdio: Callable[[str, list[str]], Entry]
    http: Callable[[str, bool], Entry] | None = None
    project: str | None = None
    form: ModuleType = field(default=jsonc)
    at_work: bool = False
    knows_variables: bool = True
    then: str = "Restart it"


def _command(command: str, arguments: list[str]) -> Entry:
    return {"command": command, "args": arguments}


def _typed(command: str, arguments: list[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": arguments}


def _url(name: str, variable: str, typed: bool = False) -> Callable[[str, bool], Entry]:
    """Return a maker of entries with the URL under `name`; `variable` refers to the key in the client's syntax."""

    def entry(url: str, key: bool) -> Entry:
        headers = {"headers": {"Authorization": f"Bearer {variable}"}} if key else {}
        return ({"type": "http"} if typed else {}) | {name: url} | headers

    return entry


def _codex(url: str, key: bool) -> Entry:
    return {"url": url} | ({"bearer_token_env_var": KEY} if key else {})


def _zed(home: Home) -> Path:
    if home.system == "win32":
        return home.settings() / "Zed" / "settings.json"
    config = home.folder / ".config"
    return (config if home.system == "darwin" else home.named("XDG_CONFIG_HOME", config)) / "zed" / "settings.json"


_SERVERS, _MCP = ("mcpServers",), "Restart it; /mcp shows the server"
CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code", "Claude Code", _SERVERS,
            lambda home: home.named("CLAUDE_CONFIG_DIR", home.folder) / ".claude.json",
            _typed, _url("url", f"${{{KEY}}}", typed=True), ".mcp.json", at_work=True, then=_MCP,
        ),
        Client(
            "claude-desktop", "Claude Desktop", _SERVERS,
            lambda home: home.settings() / "Claude" / "claude_desktop_config.json", _command,
        ),
        Client(
            "cursor", "Cursor", _SERVERS, lambda home: home.folder / ".cursor" / "mcp.json",
            _command, _url("url", f"${{env:{KEY}}}"), ".cursor/mcp.json",
            then="Turn the server on in Cursor's settings, under MCP",
        ),
        Client(
            "vscode", "VS Code", ("servers",), lambda home: home.settings() / "Code" / "User" / "mcp.json",
            _typed, _url("url", f"${{env:{KEY}}}", typed=True), ".vscode/mcp.json",
            then="Start the server above its entry in the file, or by the command MCP: List Servers",
        ),
        Client(
            "codex", "Codex", ("mcp_servers",),
            lambda home: home.named("CODEX_HOME", home.folder / ".codex") / "config.toml",
            _command, _codex, ".codex/config.toml", toml, at_work=True, then=_MCP,
        ),
        Client(
            "gemini-cli", "Gemini CLI", _SERVERS, lambda home: home.folder / ".gemini" / "settings.json",
            _command, _url("httpUrl", f"${KEY}"), ".gemini/settings.json", at_work=True, then=_MCP,
        ),
        Client(
            "zed", "Zed", ("context_servers",), _zed, _command, _url("url", KEY), ".zed/settings.json",
            knows_variables=False, then="It reads the settings immediately; the agent's settings show the server",
        ),
    )
}  # fmt: skip
