"""Hooks: what an agent client tells is kept once, secrets never, and the client never waits nor fails."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.cli.commands.hook_work import TEXT_MAX, captured, may_be_secret
from muisti.service.connect import hooks, jsonc
from tests.examples import few
from tests.service.conftest import Run

SETTINGS = """{
  // mine
  "model": "opus",
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "./lint.sh"}]} // first
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  }
}
"""
SECRETS = [
    "my jwt is eyJhbGciOi.eyJzdWIi.sig", "AKIAABCDEFGHIJKLMNOP", "Authorization: Bearer x", "api_key = 1",
    "secret_key=1", "PASSWORD=hunter2", "token=abc", "ghp_" + "a1B2c3D4e5F6" * 3,
]  # fmt: skip


def sent(event: str, **fields: object) -> str:
    return json.dumps({"hook_event_name": event, "session_id": "s", **fields})


def kept(run: Run, *options: str) -> list[dict[str, Any]]:
    return json.loads(run("list", "--status", "candidate", "--json", *options).stdout)["items"]


@pytest.mark.parametrize(("event", "fields", "text"), [
    ("UserPromptSubmit", {"prompt": " Deploy on Fridays "}, "Deploy on Fridays"),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls ä"}}, '{"command": "ls ä"}'),
    ("PostToolUse", {"tool_name": "Bash", "tool_response": "a.txt"}, "a.txt"),
    ("PreCompact", {"conversation": [{"role": "user", "content": "Hi"}, {"content": ["Ho"]}]}, 'user: Hi\n["Ho"]'),
    ("UserPromptSubmit", {"prompt": "x" * 9000}, "x" * TEXT_MAX),
])  # fmt: skip
def test_each_event_has_its_field(event: str, fields: dict[str, object], text: str):
    found = captured(sent(event, cwd="/work/web", **fields))
    assert found is not None
    memory = found.memory()
    assert (memory["content"], memory["type"], memory["status"]) == (text, "observation", "candidate")
    assert (str(found.folder), memory["metadata"].get("tool")) == ("/work/web", fields.get("tool_name"))


@pytest.mark.parametrize(
    "payload",
    ["", "no JSON", "[]", "null", "1", sent("SessionStart", prompt="x"), sent("Stop"), sent("UserPromptSubmit"),
     sent("UserPromptSubmit", prompt="  "), sent("PreToolUse", tool_input=None), '{"hook_event_name": 1}'],
)  # fmt: skip
def test_of_all_else_nothing_is_kept(payload: str):
    assert captured(payload) is None


@few
@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_no_payload_breaks_it(value: object):
    for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact"):
        payload = {"hook_event_name": event, "prompt": value, "tool_input": value, "tool_response": value}
        found = captured(json.dumps({**payload, "conversation": value, "cwd": value, "tool_name": value}))
        assert found is None or 1 <= len(found.text) <= TEXT_MAX


@pytest.mark.parametrize("text", SECRETS)
def test_what_may_be_a_secret_is_dropped_wherever_it_stands(text: str, run: Run):
    assert may_be_secret(text)
    assert captured(sent("UserPromptSubmit", prompt="x" * 9000 + " " + text)) is None, "behind what would be cut, too"
    assert captured(sent("PreToolUse", tool_input={"deep": [{"env": text}]})) is None
    assert captured(sent("PreCompact", conversation=[{"role": "user", "content": text}])) is None


def test_a_payload_is_kept_once_in_the_space_of_its_project(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    web = Path("web")
    (web / ".git").mkdir(parents=True)
    (web / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    payload = sent("UserPromptSubmit", prompt="We deploy on Fridays", cwd=str(web.absolute()))
    for _ in range(2):
        result = run("hook", "run", "--wait", input=payload)
        assert (result.exit_code, result.output) == (0, "")
    (memory,) = kept(run, "--space", "web")
    assert (memory["content"], memory["category"], memory["source"]) == (
        "We deploy on Fridays", "captured", "hook:UserPromptSubmit",
    )  # fmt: skip
    assert len(memory["key"]) >= 32, "a hash of the text"
    by_meaning = run(
        "search", "when do we ship?", "--mode", "semantic", "--status", "candidate", "--space", "web", "--all"
    )
    assert "Fridays" in by_meaning.stdout
    assert run("search", "deploy", "--space", "web").stdout == "", "nobody has confirmed it"


@pytest.mark.file_only
def test_it_never_fails_and_says_nothing(run: Run):
    payload = sent("UserPromptSubmit", prompt="x", cwd=".")
    Path("broken.db").write_bytes(b"this is no database" * 100)
    for words in (["--database", "broken.db"], ["--url", "http://127.0.0.1:1"], ["--space", "No Name"]):
        result = run(*words, "hook", "run", "--wait", input=payload)
        assert (result.exit_code, result.output) == (0, "")
    assert run("hook", "run", "--wait", input=b"\xff\xfe").exit_code == 0


@pytest.mark.file_only
def test_the_client_goes_on_while_it_is_stored(tmp_path: Path):
    home = tmp_path / "web"
    home.mkdir()
    muisti = Path(sys.executable).with_name("muisti")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    words = [muisti, "hook", "run", "--database", str(tmp_path / "m.db")]
    payload = sent("UserPromptSubmit", prompt="We deploy on Fridays", cwd=str(home))
    done = subprocess.run(
        words, input=payload, cwd=home, env={**plain, "MUISTI_EMBEDDINGS": "off"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout + done.stderr == ""
    listing = [muisti, "list", "--status", "candidate", "--database", str(tmp_path / "m.db"), "--space", "web"]
    for _ in range(60):
        found = subprocess.run(
            listing, cwd=home, env={**plain, "MUISTI_EMBEDDINGS": "off"}, capture_output=True, text=True
        )
        if "We deploy on Fridays" in found.stdout:
            return
        time.sleep(1)
    raise AssertionError(found.stderr)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(SETTINGS)
    return path


def test_hooks_are_installed_beside_others_and_taken_out_again(run: Run, settings: Path):
    assert run("hook", "install", "claude-code", "--tools").stdout == f"{settings}\tchanged\n"
    text = settings.read_text()
    made = jsonc.read(text)["hooks"]
    assert [*made] == ["UserPromptSubmit", "Stop", "PreCompact", "PreToolUse", "PostToolUse"]
    assert made["UserPromptSubmit"][0]["hooks"][0]["command"] == "./lint.sh"
    (ours,) = made["UserPromptSubmit"][1]["hooks"]
    assert ours["command"].endswith("hook run") and "--database" in ours["command"] and ours["timeout"] == hooks.SECONDS
    assert made["PreToolUse"][0]["matcher"] == "*"
    assert "// mine" in text and "// first" in text
    assert run("hook", "install", "claude-code", "--tools").stdout == f"{settings}\tunchanged\n"
    run("hook", "install", "claude-code", "--url", "http://127.0.0.1:8321")
    assert [*jsonc.read(settings.read_text())["hooks"]] == ["UserPromptSubmit", "Stop", "PreCompact"]
    assert "--url http://127.0.0.1:8321" in settings.read_text()
    assert run("hook", "uninstall", "claude-code").stdout == f"{settings}\tchanged\n"
    assert settings.read_text() == SETTINGS
    assert run("hook", "uninstall", "claude-code").stdout == f"{settings}\tunchanged\n"


def test_a_file_of_ours_alone_is_removed_and_a_damaged_one_left(run: Run, settings: Path):
    assert run("hook", "install", "claude-code", "--project").stdout.endswith("changed\n")
    assert run("hook", "uninstall", "claude-code", "--project").stdout.endswith("removed\n")
    assert not Path(hooks.PROJECT).exists()
    settings.write_text('{"hooks": ')
    assert run("hook", "install", "claude-code").exit_code == 1
    assert settings.read_text() == '{"hooks": '
    shown = run("hook", "install", "claude-code", "--project", "--dry-run").stdout
    assert "+++" in shown and not Path(hooks.PROJECT).exists()
