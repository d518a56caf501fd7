"""The programs that Muisti can be connected to: where their configuration is, and the entry of a server in it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from muisti.service.connect import jsonc, toml, yaml

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
    `at_work`: the program starts servers in its working folder, so that they find the project's space. `workspace` is a
    variable for that folder, as the program expands it in arguments. `folder` is one that it
    expands in URLs. `skills` is the user's folder of skills.
    """

    name: str
    title: str
    holder: tuple[str, ...]
    where: Callable[[Home], Path]
    stdio: Callable[[str, list[str]], Entry]
    http: Callable[[str, bool], Entry] | None = None
    project: str | None = None
    form: ModuleType = field(default=jsonc)  # how its file is read and changed: `jsonc`, `toml` or `yaml`
    at_work: bool = False
    workspace: str | None = None
    folder: str | None = None
    skills: str | None = None
    knows_variables: bool = True
    then: str = "Restart it"

    def is_present(self, home: Home) -> bool:
        """Tell whether the program seems to be installed: its file is there, or a folder of its own."""
        path = self.where(home)
        folders = (path.parent, self.skills and (home.folder / self.skills).parent)
        shared = {home.folder, home.settings(), home.settings() / "Code" / "User", home.folder / ".config"}
        return path.exists() or any(one and one.is_dir() and one not in shared for one in folders)


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


def _with(maker: Callable[[str, Any], Entry], **more: Any) -> Callable[[str, Any], Entry]:
    """Return a maker of entries that have more fields, or others in place of those of `maker`."""
    return lambda first, second: {**maker(first, second), **more}


def _codex(url: str, key: bool) -> Entry:
    named = {"env_http_headers": {"Muisti-Folder": "PWD"}}  # it fills in no variables in URLs
    return {"url": url} | ({"bearer_token_env_var": KEY} if key else {}) | named


def _opencode(command: str, arguments: list[str]) -> Entry:
    return {"type": "local", "command": [command, *arguments], "enabled": True}


def _goose(command: str, arguments: list[str]) -> Entry:
    return {"name": "muisti", "type": "stdio", "cmd": command, "args": arguments, "enabled": True, "timeout": 300}


def started(entry: Entry) -> list[str] | None:
    """Return the words of the command that an entry starts; None for one that names a URL.

    >>> started({"type": "local", "command": ["muisti", "mcp"]}), started({"url": "http://127.0.0.1:8321/mcp"})
    (['muisti', 'mcp'], None)
    """
    first = entry.get("command", entry.get("cmd"))
    if first is None:
        return None
    return [str(word) for word in (first if isinstance(first, list) else [first, *entry.get("args", [])])]


def url_of(entry: Entry) -> str:
    """Return the URL that an entry names, by whichever name its client has for it."""
    return next(entry[name] for name in ("url", "httpUrl", "serverUrl", "uri") if name in entry)


def _in_vscode(extension: str, file: str) -> Callable[[Home], Path]:
    """Return the place of a file of an extension of VS Code."""
    return lambda home: home.settings() / "Code" / "User" / "globalStorage" / extension / "settings" / file


def _zed(home: Home) -> Path:
    if home.system == "win32":
        return home.settings() / "Zed" / "settings.json"
    config = home.folder / ".config"
    return (config if home.system == "darwin" else home.named("XDG_CONFIG_HOME", config)) / "zed" / "settings.json"


_SERVERS, _MCP = ("mcpServers",), "Restart it; /mcp shows the server"
_FOLDER = "${workspaceFolder}"
_ENV = f"${{env:{KEY}}}"
CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code", "Claude Code", _SERVERS,
            lambda home: home.named("CLAUDE_CONFIG_DIR", home.folder) / ".claude.json",
            _typed, _url("url", f"${{{KEY}}}", typed=True), ".mcp.json", at_work=True, folder="${PWD}",
            skills=".claude/skills", then=_MCP,
        ),
        Client(
            "claude-desktop", "Claude Desktop", _SERVERS,
            lambda home: home.settings() / "Claude" / "claude_desktop_config.json", _command,
        ),
        Client(
            "cursor", "Cursor", _SERVERS, lambda home: home.folder / ".cursor" / "mcp.json",
            _command, _url("url", _ENV), ".cursor/mcp.json", workspace=_FOLDER, folder=_FOLDER, skills=".cursor/skills",
            then="Turn the server on in Cursor's settings, under MCP",
        ),
        Client(
            "vscode", "VS Code", ("servers",), lambda home: home.settings() / "Code" / "User" / "mcp.json",
            _typed, _url("url", _ENV, typed=True), ".vscode/mcp.json", workspace=_FOLDER, folder=_FOLDER,
            then="Start the server above its entry in the file, or by the command MCP: List Servers",
        ),
        Client(
            "codex", "Codex", ("mcp_servers",),
            lambda home: home.named("CODEX_HOME", home.folder / ".codex") / "config.toml",
            _command, _codex, ".codex/config.toml", toml, at_work=True, skills=".codex/skills", then=_MCP,
        ),
        Client(
            "gemini-cli", "Gemini CLI", _SERVERS, lambda home: home.folder / ".gemini" / "settings.json",
            _command, _url("httpUrl", f"${KEY}"), ".gemini/settings.json", at_work=True, folder="$PWD",
            skills=".gemini/skills", then=_MCP,
        ),
        Client(
            "zed", "Zed", ("context_servers",), _zed, _command, _url("url", KEY), ".zed/settings.json",
            knows_variables=False, then="It reads the settings immediately; the agent's settings show the server",
        ),
        Client(
            "copilot-cli", "Copilot CLI", _SERVERS, lambda home: home.folder / ".copilot" / "mcp-config.json",
            _with(_command, type="local", tools=["*"]), _with(_url("url", f"${{{KEY}}}", typed=True), tools=["*"]),
            at_work=True, folder="${PWD}", skills=".copilot/skills", then=_MCP,
        ),
        Client(
            "windsurf", "Windsurf", _SERVERS,
            lambda home: home.folder / ".codeium" / "windsurf" / "mcp_config.json",
            _command, _url("serverUrl", _ENV), skills=".codeium/windsurf/skills",
            then="Press Refresh in Cascade's list of MCP servers",
        ),
        Client(
            "cline", "Cline", _SERVERS, _in_vscode("saoudrizwan.claude-dev", "cline_mcp_settings.json"),
            _with(_command, disabled=False), _with(_url("url", KEY), type="streamableHttp", disabled=False),
            skills=".cline/skills", knows_variables=False, then="It reads the file immediately",
        ),
        Client(
            "roo", "Roo Code", _SERVERS, _in_vscode("rooveterinaryinc.roo-cline", "mcp_settings.json"),
            _command, _with(_url("url", _ENV), type="streamable-http"), ".roo/mcp.json", workspace=_FOLDER,
            folder=_FOLDER, skills=".roo/skills", then="It reads the file immediately",
        ),
        Client(
            "opencode", "OpenCode", ("mcp",),
            lambda home: home.named("XDG_CONFIG_HOME", home.folder / ".config") / "opencode" / "opencode.json",
            _opencode, _with(_url("url", f"{{env:{KEY}}}"), type="remote", enabled=True), "opencode.json",
            at_work=True, folder="{env:PWD}", skills=".config/opencode/skills",
        ),
        Client(
            "goose", "Goose", ("extensions",),
            lambda home: home.named("XDG_CONFIG_HOME", home.folder / ".config") / "goose" / "config.yaml",
            _goose, _with(_url("uri", KEY), name="muisti", type="streamable_http", enabled=True, timeout=300),
            form=yaml, at_work=True, skills=".config/goose/skills", knows_variables=False,
        ),
        Client(
            "jetbrains", "JetBrains (Junie)", _SERVERS, lambda home: home.folder / ".junie" / "mcp" / "mcp.json",
            _command, project=".junie/mcp/mcp.json", skills=".junie/skills",
        ),
        Client(
            "kiro", "Kiro", _SERVERS, lambda home: home.folder / ".kiro" / "settings" / "mcp.json",
            _with(_command, disabled=False), _url("url", f"${{{KEY}}}"), ".kiro/settings/mcp.json", at_work=True,
            skills=".kiro/skills", then="It reads the file immediately",
        ),
        Client(
            "hermes", "Hermes", ("mcp_servers",), lambda home: home.folder / ".hermes" / "config.yaml",
            _command, _url("url", f"${{{KEY}}}"), form=yaml, at_work=True, skills=".hermes/skills",
        ),
        Client(
            "openclaw", "OpenClaw", ("mcp", "servers"), lambda home: home.folder / ".openclaw" / "openclaw.json",
            _command, _with(_url("url", f"${{{KEY}}}"), transport="streamable-http"), skills=".openclaw/skills",
        ),
    )
}  # fmt: skip
