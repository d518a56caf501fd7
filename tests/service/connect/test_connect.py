"""`muisti connect` on files as people have them, and the official MCP client on what it wrote."""

import json
import os
import re
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client as McpClient
from mcp.client.stdio import stdio_client

from muisti.service.cli.commands.clients import CLIENTS as NAMES
from muisti.service.connect import jsonc, program
from muisti.service.connect.clients import CLIENTS, KEY, Home, started
from muisti.service.settings.tool_groups import GROUPS, groups_in, in_order
from tests.service.app.test_server import serving
from tests.service.conftest import Run
from tests.service.connect import table

URL = "http://127.0.0.1:8321/mcp"
FOLDER = "${workspaceFolder}"
DOCS = Path(__file__).parents[3] / "docs"

# What a user has already: comments, other servers, a name of ours in another place, habits of their own.
BEFORE = {
    "claude-code": """{
  "numStartups": 41,
  "mcpServers": {
    "files": {"type": "stdio", "command": "npx", "args": ["-y", "files"], "env": {}}
  },
  "projects": {"/home/me/web": {"mcpServers": {"muisti": {"command": "other"}}}}
}
""",
    "claude-desktop": '{"mcpServers":{"files":{"command":"npx","args":["-y","files"]}},"globalShortcut":""}',
    "cursor": '{\n\t"mcpServers": {}\n}\n',
    "vscode": """{
    // asked for once
    "inputs": [{"type": "promptString", "id": "token", "password": true}],
    "servers": {
        "files": {"type": "stdio", "command": "npx"}, // mine
    },
}
""",
    "codex": """# Models
model = "gpt-5" # the large one

[mcp_servers.files]   # files
command = "npx"
args = ["-y",
  "files"]

[tui]
notifications = true
""",
    "gemini-cli": '{\r\n  "theme": "Dracula",\r\n  "selectedAuthType": "gemini-api-key"\r\n}\r\n',
    "zed": """// Zed settings
//
// For information on how to configure Zed, see the documentation.
{
  "vim_mode": true,
  "context_servers": {
    /* turned off for now:
    "old": {"command": "x"}, */
    "files": {"command": "npx", "args": []},
  },
  "buffer_font_size": 15, // larger
}
""",
    "copilot-cli": '{\n  "mcpServers": {\n    "files": {"type": "local", "command": "npx", "tools": ["*"]}\n  }\n}',
    "windsurf": '{\n    "mcpServers": {\n        "files": {"serverUrl": "https://files.example/mcp"}\n    }\n}\n',
    "cline": '{\r\n  "mcpServers": {\r\n    "files": {"command": "npx", "disabled": true}\r\n  }\r\n}',
    "roo": '{"mcpServers": {"files": {"command": "npx", "alwaysAllow": ["read"], "timeout": 60}}}',
    "opencode": """{
  "$schema": "https://opencode.ai/config.json",
  // local models
  "provider": {"ollama": {"npm": "@ai-sdk/openai-compatible"}},
  "mcp": {
    "files": {"type": "local", "command": ["npx", "-y", "files"], "enabled": true}, // mine
  },
}
""",
    "goose": """# Goose
GOOSE_PROVIDER: anthropic   # the one that works
extensions:
  developer:  # built in
    enabled: true
    type: builtin

  files:
    args:
    - -y
    - files
    cmd: npx
    enabled: true
    type: stdio

# the end
GOOSE_MODE: auto
""",
    "jetbrains": '{\n  "mcpServers": {\n    "files": {\n      "command": "npx"\n    }\n  }\n}\n',
    "kiro": '{\n  "mcpServers": {\n    "fetch": {"command": "uvx", "disabled": false, "autoApprove": []}\n  }\n}\n',
    "hermes": """model:
    default: hermes-4   # four spaces
mcp_servers:  # none yet
agent: {max_turns: 60}
""",
    "openclaw": """{
  // gateway
  "gateway": {"port": 18789},
  "mcp": {
    "servers": {
      "files": {"command": "npx"}
    }
  },
}
""",
}


def at(folder: str) -> str:
    return f"{URL}?folder={folder}"


HTTP: dict[str, Any] = {
    "claude-code": {"type": "http", "url": at("${PWD}"), "headers": {"Authorization": "Bearer ${MUISTI_KEY}"}},
    "cursor": {"url": at(FOLDER), "headers": {"Authorization": "Bearer ${env:MUISTI_KEY}"}},
    "vscode": {"type": "http", "url": at(FOLDER), "headers": {"Authorization": "Bearer ${env:MUISTI_KEY}"}},
    "codex": {"url": URL, "bearer_token_env_var": "MUISTI_KEY", "env_http_headers": {"Muisti-Folder": "PWD"}},
    "gemini-cli": {"httpUrl": at("$PWD"), "headers": {"Authorization": "Bearer $MUISTI_KEY"}},
    "copilot-cli": {
        "type": "http", "url": at("${PWD}"), "headers": {"Authorization": "Bearer ${MUISTI_KEY}"}, "tools": ["*"],
    },
    "windsurf": {"serverUrl": URL, "headers": {"Authorization": "Bearer ${env:MUISTI_KEY}"}},
    "roo": {"url": at(FOLDER), "headers": {"Authorization": "Bearer ${env:MUISTI_KEY}"}, "type": "streamable-http"},
    "opencode": {
        "url": at("{env:PWD}"), "headers": {"Authorization": "Bearer {env:MUISTI_KEY}"}, "type": "remote",
        "enabled": True,
    },
    "kiro": {"url": URL, "headers": {"Authorization": "Bearer ${MUISTI_KEY}"}},
    "hermes": {"url": URL, "headers": {"Authorization": "Bearer ${MUISTI_KEY}"}},
    "openclaw": {"url": URL, "headers": {"Authorization": "Bearer ${MUISTI_KEY}"}, "transport": "streamable-http"},
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of a user of every client, on this system."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA", KEY):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    for name, text in BEFORE.items():
        path = file_of(name, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def file_of(name: str, home: Path) -> Path:
    return CLIENTS[name].where(Home(home, {}))


def data(name: str, text: str) -> Any:
    return CLIENTS[name].form.read(text)


def entry(name: str, text: str) -> Any:
    found = data(name, text)
    for part in CLIENTS[name].holder:
        found = found[part]
    return found["muisti"]


def test_the_command_knows_every_client():
    assert tuple(CLIENTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_is_added_nothing_else_changes_and_undo_gives_back_every_byte(name: str, run: Run, home: Path):
    path = file_of(name, home)
    result = run("connect", name, "--no-check")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{path}\tchanged\n"
    after = path.read_bytes().decode()
    kept = [line.strip().removesuffix(",") for line in BEFORE[name].splitlines() if "muisti" not in line]
    if "\n" in BEFORE[name]:
        assert [line for line in kept if line.replace("{}", "{") not in after] == []
    before, now = data(name, BEFORE[name]), data(name, after)
    first, *arguments = started(entry(name, after)) or []
    assert Path(first).is_absolute() and arguments[:2] == ["mcp", "--database"]
    server = os.environ.get("MUISTI_DATABASE_URL")  # with `pytest --store sqld`
    assert arguments[2] == server if server else Path(arguments[2]).is_absolute()
    assert CLIENTS[name].at_work or "--folder" in arguments, "it finds the project in one way or another"
    held = now
    for part in CLIENTS[name].holder:
        held = held[part]
    held.pop("muisti")
    assert {name: one for name, one in now.items() if one} == {name: one for name, one in before.items() if one}
    assert run("connect", name, "--no-check").stdout == f"{path}\tunchanged\n"
    assert path.read_bytes().decode() == after
    assert run("connect", name, "--undo").exit_code == 0
    assert path.read_bytes().decode() == BEFORE[name]
    assert not [*path.parent.glob("*backup*")]
    assert run("connect", name, "--undo").stdout == f"{path}\tunchanged\n"


@pytest.mark.parametrize("name", HTTP)
def test_a_server_is_named_with_the_key_as_the_client_reads_variables(
    name: str, run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(KEY, "muisti_secret")
    assert run("connect", name, "--no-check", "--url", "http://127.0.0.1:8321/v1").exit_code == 0
    text = file_of(name, home).read_text("utf-8")
    assert entry(name, text) == HTTP[name]
    assert "muisti_secret" not in text
    monkeypatch.delenv(KEY)
    assert run("connect", name, "--no-check", "--url", "http://127.0.0.1:8321").exit_code == 0
    without = {key: one for key, one in HTTP[name].items() if key not in ("headers", "bearer_token_env_var")}
    assert entry(name, file_of(name, home).read_text("utf-8")) == without
    run("connect", name, "--undo")
    assert file_of(name, home).read_bytes().decode() == BEFORE[name]


def test_what_cannot_be_is_said_and_nothing_is_written(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    assert "leave out --url" in run("connect", "claude-desktop", "--url", URL).stderr
    monkeypatch.setenv(KEY, "muisti_secret")
    assert "leave out --url" in run("connect", "zed", "--url", URL).stderr.lower()
    assert run("connect", "claude-desktop", "--project").exit_code == 1
    for name, broken in (
        ("zed", b'{"a": }'), ("codex", b"a = ["), ("cursor", b'{"mcpServers": []}'), ("vscode", b"\xff"),
    ):  # fmt: skip
        path = file_of(name, home)
        path.write_bytes(broken)
        result = run("connect", name, "--no-check")
        assert result.exit_code == 1 and str(path) in result.stderr
        assert path.read_bytes() == broken
    assert run("connect", "claude").exit_code == 64
    unreachable = run("connect", "gemini-cli", "--url", "http://127.0.0.1:1")
    assert unreachable.exit_code == 1 and "Nothing was written" in unreachable.stderr
    assert file_of("gemini-cli", home).read_bytes().decode() == BEFORE["gemini-cli"]


def test_undo_keeps_what_came_later_and_leaves_no_file_that_was_not_there(run: Run, home: Path):
    path = file_of("zed", home)
    run("connect", "zed", "--no-check")
    path.write_text(path.read_text("utf-8").replace('"vim_mode": true', '"vim_mode": false'), "utf-8")
    run("connect", "zed", "--undo")
    assert path.read_text("utf-8") == BEFORE["zed"].replace('"vim_mode": true', '"vim_mode": false')
    for name in NAMES:
        path = file_of(name, home)
        path.unlink()
        run("connect", name, "--no-check")
        assert entry(name, path.read_text("utf-8"))
        assert run("connect", name, "--undo").stdout == f"{path}\tremoved\n"
        assert not path.exists()


def test_links_are_followed_and_rights_stay(run: Run, home: Path, tmp_path: Path):
    real, path = tmp_path / "dotfiles.json", file_of("claude-code", home)
    real.write_text(path.read_text("utf-8"), "utf-8")
    real.chmod(0o600)
    path.unlink()
    path.symlink_to(real)
    run("connect", "claude-code", "--no-check")
    assert path.is_symlink() and entry("claude-code", real.read_text("utf-8"))
    assert sys.platform == "win32" or real.stat().st_mode & 0o777 == 0o600


def test_a_dry_run_shows_the_difference_and_print_the_entry(run: Run, home: Path):
    shown = run("connect", "zed", "--dry-run").stdout
    assert re.search(r'^\+    "muisti": \{$', shown, re.MULTILINE)
    assert file_of("zed", home).read_bytes().decode() == BEFORE["zed"]
    report = json.loads(run("connect", "codex", "--dry-run", "--json").stdout)
    assert report["dry_run"] and report["state"] == "changed" and "+[mcp_servers.muisti]" in report["diff"]
    printed = json.loads(run("connect", "cursor", "--print", "--space", "acme.web").stdout)
    assert printed["mcpServers"]["muisti"]["args"][-2:] == ["--space", "acme.web"]
    assert tomllib.loads(run("connect", "codex", "--print").stdout)["mcp_servers"]["muisti"]


def test_a_projects_file_names_the_projects_space(run: Run, home: Path):
    run("connect", "cursor", "--project", "--no-check")
    made = json.loads(Path(".cursor/mcp.json").read_text("utf-8"))["mcpServers"]["muisti"]
    assert made["args"][-2:] == ["--space", run("space").stdout.split("\t")[0]]
    assert run("connect", "cursor", "--project", "--undo").stdout.endswith("\tremoved\n")


@pytest.mark.parametrize(("system", "environ", "wanted"), [
    ("linux", {}, ".config/Code/User/mcp.json"),
    ("linux", {"XDG_CONFIG_HOME": "/home/me/.cfg"}, ".cfg/Code/User/mcp.json"),
    ("darwin", {"XDG_CONFIG_HOME": "/home/me/.cfg"}, "Library/Application Support/Code/User/mcp.json"),
    ("win32", {"APPDATA": "/home/me/AppData/Roaming"}, "AppData/Roaming/Code/User/mcp.json"),
])  # fmt: skip
def test_each_system_has_its_places(system: str, environ: dict[str, str], wanted: str):
    me = Path("/home/me")
    home = Home(me, environ, system)
    assert CLIENTS["vscode"].where(home) == me / wanted
    desktop = wanted.replace("Code/User/mcp.json", "Claude/claude_desktop_config.json")
    assert CLIENTS["claude-desktop"].where(home) == me / desktop
    zed = {"win32": "AppData/Roaming/Zed", "linux": ".cfg/zed" if environ else ".config/zed"}.get(system, ".config/zed")
    assert CLIENTS["zed"].where(home) == me / zed / "settings.json"


@pytest.mark.file_only
def test_the_official_client_starts_what_is_written_and_remembers(run: Run, home: Path):
    assert run("connect", "claude-code", "--space", "mine", "--no-check").exit_code == 0
    made = json.loads(file_of("claude-code", home).read_text("utf-8"))["mcpServers"]["muisti"]

    async def work() -> str:
        start = StdioServerParameters(command=made["command"], args=made["args"], env={"MUISTI_EMBEDDINGS": "off"})
        async with McpClient(stdio_client(start)) as client:
            await client.call_tool("remember", {"content": "We deploy on Fridays"})
            return getattr((await client.call_tool("recall", {"query": "deploy"})).content[0], "text", "")

    assert "We deploy on Fridays" in anyio.run(work)
    assert "We deploy on Fridays" in run("search", "deploy", "--space", "mine").stdout


@pytest.mark.file_only
def test_a_tool_of_a_running_server_is_called_before_anything_is_written(run: Run, home: Path, tmp_path: Path):
    with serving(tmp_path) as (_, url):
        report = json.loads(run("connect", "gemini-cli", "--url", url, "--space", "default", "--json").stdout)
    assert "recall" in report["tools"] and report["state"] == "changed"
    assert entry("gemini-cli", file_of("gemini-cli", home).read_text("utf-8")) == {
        "httpUrl": f"{url}/mcp?project=default"
    }


def test_groups_of_tools_are_part_of_the_entry(run: Run, home: Path):
    done = run("connect", "cursor", "--print", "--url", URL, "--tools", "code, memory")
    assert json.loads(done.stdout)["mcpServers"]["muisti"]["url"] == f"{URL}?tools=memory,code&folder={FOLDER}"
    started = json.loads(run("connect", "cursor", "--print", "--tools", "all").stdout)["mcpServers"]["muisti"]
    assert started["args"][-2:] == ["--tools", in_order(groups_in("all"))]
    refused = run("connect", "cursor", "--print", "--tools", "nothing")
    assert refused.exit_code == 64 and ", ".join(GROUPS) in refused.output


def test_a_client_that_is_offered_no_tool_to_call_is_connected_by_its_list(run: Run, home: Path):
    done = run("connect", "cursor", "--tools", "documents")
    assert done.exit_code == 0, done.output
    assert "the list of tools was answered" in done.stderr


def test_a_command_of_ones_own_is_written_with_its_absolute_path(run: Run, home: Path, tmp_path: Path):
    made = tmp_path / "uvx"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    result = run("connect", "cursor", "--no-check", "--command", f"{made} --from /x/muisti.whl muisti")
    assert result.exit_code == 0, result.output
    written = entry("cursor", file_of("cursor", home).read_text())
    assert written["command"] == str(made)
    assert written["args"][:4] == ["--from", "/x/muisti.whl", "muisti", "mcp"]
    assert run("connect", "cursor", "--undo").exit_code == 0
    assert file_of("cursor", home).read_bytes() == BEFORE["cursor"].encode()


@pytest.mark.parametrize("command", ["no-such-command-here", "'", ""])
def test_a_command_that_is_not_there_is_refused(run: Run, home: Path, command: str):
    result = run("connect", "cursor", "--no-check", "--command", command)
    assert result.exit_code == 1 and "--command" in result.stderr
    assert file_of("cursor", home).read_bytes() == BEFORE["cursor"].encode()


def test_from_a_clone_it_says_that_the_entry_breaks_when_the_clone_moves(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    clone = Path(sys.prefix).parent
    monkeypatch.setattr(program, "origin_of", lambda: program.Origin(clone, True))
    result = run("connect", "cursor", "--no-check")
    assert "when the clone moves or goes, the entry breaks" in result.stderr
    assert "--command muisti" in result.stderr


def test_check_tells_what_is_gone_and_what_to_do(run: Run, home: Path, tmp_path: Path):
    made = tmp_path / "muisti"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    missing = run("connect", "cursor", "--check")
    assert missing.exit_code == 1 and "has no entry muisti" in missing.stderr
    assert run("connect", "cursor", "--no-check", "--command", str(made)).exit_code == 0
    made.unlink()
    before = file_of("cursor", home).read_bytes()
    gone = run("connect", "cursor", "--check")
    assert gone.exit_code == 1
    assert f"starts {made}, which is gone. `muisti connect cursor` writes the entry again." in gone.stderr
    doctor = run("doctor", "--quick")
    assert f"{made}, which is gone; muisti connect cursor writes the entry again" in doctor.stdout
    assert file_of("cursor", home).read_bytes() == before


def test_check_calls_a_tool_as_the_client_would(run: Run, home: Path):
    assert run("connect", "cursor", "--no-check").exit_code == 0
    result = run("connect", "cursor", "--check")
    assert result.exit_code == 0, result.output
    assert "a call of overview was answered" in result.stderr


@pytest.fixture
def uvx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an environment as uvx does, which it may delete, with uvx in PATH."""
    passing = tmp_path / "uv" / "archive-v0" / "x4" / "bin"
    passing.mkdir(parents=True)
    for path in (passing / "muisti", passing / "python", tmp_path / "uvx"):
        path.touch(0o755)
    monkeypatch.setattr(program.sys, "executable", str(passing / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("UV", raising=False)
    return tmp_path / "uvx"


def test_what_uvx_runs_is_registered_as_uvx(uvx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    wheel = tmp_path / "muisti.whl"
    monkeypatch.setattr(program, "origin_of", lambda: program.Origin(wheel, False))
    assert program.program() == program.Program((str(uvx), "--from", str(wheel), "muisti"))
    assert program.missing(program.program().words) == str(wheel)
    wheel.touch()
    assert program.missing(program.program().words) is None
    monkeypatch.setattr(program, "origin_of", lambda: program.Origin(None, False))
    assert program.program().words[2].startswith("muisti==")


def test_a_link_in_the_users_folder_of_programs_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    environment, programs = tmp_path / "tools" / "muisti" / "bin", tmp_path / "local"
    environment.mkdir(parents=True)
    programs.mkdir()
    for path in (environment / "muisti", environment / "python"):
        path.touch(0o755)
    (programs / "muisti").symlink_to(environment / "muisti")
    monkeypatch.setattr(program.sys, "executable", str(environment / "python"))
    monkeypatch.setattr(program, "origin_of", lambda: program.Origin(None, False))
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert program.program().words == (str(environment / "muisti"),)
    monkeypatch.setenv("PATH", str(programs))
    assert program.program() == program.Program((str(programs / "muisti"),))


def everything(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


def test_all_clients_get_server_hooks_and_skill_and_lose_them_byte_for_byte(run: Run, home: Path):
    before = everything(home)
    shown = run("connect", "all", "--dry-run")
    assert shown.exit_code == 0 and everything(home) == before, shown.output
    done = run("connect", "all", "--no-check")
    assert done.exit_code == 0, done.output
    for line in run("connect", "status").stdout.splitlines()[1:]:
        name, found, server, hooks, skill = line.split("\t")
        assert (found, server) == ("yes", "yes") and "no" not in (hooks, skill), name
    assert run("connect", "all", "--no-check").stdout == "", "it is all there"
    states = json.loads(run("connect", "status", "--json").stdout)
    assert [one["client"] for one in states] == [*NAMES] and all(one["entry"] for one in states)
    report = json.loads(run("connect", "all", "--undo", "--dry-run", "--json").stdout)
    assert {one["client"] for one in report["changes"]} == {*NAMES}
    gemini = jsonc.read(file_of("gemini-cli", home).read_text("utf-8"))
    assert "muisti" in gemini["mcpServers"] and "BeforeAgent" in gemini["hooks"], "both are in one file"
    assert "muisti_hook.py" in (home / "Documents" / "Cline" / "Hooks" / "UserPromptSubmit").read_text("utf-8")
    undone = run("connect", "all", "--undo")
    assert undone.exit_code == 0, undone.output
    assert everything(home) == before


def test_a_client_whose_file_cannot_be_read_does_not_keep_the_others_from_theirs(run: Run, home: Path):
    file_of("zed", home).write_text('{"a": ', "utf-8")
    done = run("connect", "all", "--no-check")
    assert done.exit_code == 0 and "Zed stays as it is" in done.stderr
    assert entry("cursor", file_of("cursor", home).read_text("utf-8"))
    assert file_of("zed", home).read_text("utf-8") == '{"a": '


def test_without_any_client_it_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    refused = run("connect", "all")
    assert refused.exit_code == 1 and "no agent client was found" in refused.stderr


@pytest.mark.file_only
@pytest.mark.parametrize("name", ["claude-code", "cursor", "zed"])
def test_two_projects_of_one_client_do_not_mix(name: str, run: Run, home: Path, tmp_path: Path):
    """A client of each kind: it starts the server in the folder, fills the folder in, or is asked for its roots."""
    database = str(tmp_path / "muisti.db")
    assert run("connect", name, "--no-check", "--database", database).exit_code == 0
    made = entry(name, file_of(name, home).read_text("utf-8"))
    assert table.keeps_apart(tmp_path, partial(table.called, CLIENTS[name], made, elsewhere=tmp_path))
    assert "webx" in run("list", "--space", "web", "--database", database).stdout


@pytest.mark.file_only
def test_two_projects_of_each_client_do_not_mix_over_http(run: Run, home: Path, tmp_path: Path):
    with serving(tmp_path) as (_, url):
        for name in HTTP:
            if CLIENTS[name].folder or name == "codex":
                assert run("connect", name, "--no-check", "--url", url).exit_code == 0
                made = entry(name, file_of(name, home).read_text("utf-8"))
                (tmp_path / name).mkdir()
                assert table.keeps_apart(tmp_path / name, partial(table.called_over_http, made)), name


def test_the_page_has_the_table_of_the_declarations():
    page = table.PAGE.read_text("utf-8")
    rows = [table.HEAD, *(table.row(client, {"undo": True, "call": True}) for client in CLIENTS.values())]
    assert [row for row in rows if row not in page.splitlines()] == []
