"""`muisti import --local` on a machine with four agents and two projects."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from muisti.service.cli.commands import local_work
from muisti.service.cli.commands.transfer import AGENTS as OFFERED
from muisti.service.connect.traces import AGENTS as KNOWN
from muisti.service.terminal import output, transfer_ends
from tests.durability.server import Server
from tests.service.conftest import Run
from tests.service.connect.machine import AGENTS, AT, PROJECTS, SECRET, claude, furnish, talk, write

PLACES = {*PROJECTS.values(), "personal"}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with the agents; commands run in an empty folder beside it."""
    home = tmp_path / "machine"
    furnish(home)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(params=["file", "server"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, ...]]:
    if request.param == "file":
        yield ("--database", str(tmp_path / "muisti.db"))
        return
    with Server(tmp_path / "served.db") as running:
        yield ("--url", running.url)


def brought(run: Run, *words: str) -> dict[str, Any]:
    done = run("import", "--local", "--json", *words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def counted(report: Mapping[str, Any], name: str) -> dict[str, int]:
    return {one["space"]: one[name] for one in report["spaces"]}


def texts(run: Run, space: str, *where: str) -> list[str]:
    listed = json.loads(run("list", "--limit", "200", "--json", "--space", space, *where).stdout)["items"]
    return [one["content"] for one in listed]


def test_each_project_comes_into_its_space_once_and_without_secrets(run: Run, machine: Path, where: tuple[str, ...]):
    tried = brought(run, "--dry-run", *where)
    assert "boat" not in run("spaces", "--plain", *where).stdout
    done = brought(run, "--yes", *where)
    assert done["found"] == tried["found"] and counted(done, "new") == counted(tried, "new")
    assert set(counted(done, "new")) == PLACES and all(counted(done, "new").values())
    assert not any(counted(done, "failed").values()) and len(done["unreadable"]) == 3
    for project, space in PROJECTS.items():
        stored = texts(run, space, *where)
        assert all(f"{agent} says the {project} is forty years old" in stored for agent in AGENTS)
        assert not any(other in text for text in stored for other in PROJECTS if other != project)
        assert stored.count(f"Never: Leave the {project} open") == 1
        own = [one for one in done["found"] if one["space"] == space]
        assert {one["client"]: one["left_out"]["looks like a secret"] for one in own} == dict.fromkeys(AGENTS, 1)
    assert {*texts(run, "personal", *where)} == {
        "Answer in short sentences", "Use metres.", "Gemini Added Memories: My boat is called Meri",
        "Greet me in Finnish.",
    }  # fmt: skip
    everything = "".join(run("export", "-", "--space", space, *where).stdout for space in PLACES)
    assert SECRET not in everything
    again = brought(run, "--yes", *where)
    assert counted(again, "new") == dict.fromkeys(PLACES, 0) == counted(again, "changed")
    assert counted(again, "known") == counted(done, "new")


def test_what_grew_and_what_was_edited_comes_in_as_a_change(run: Run, machine: Path, where: tuple[str, ...]):
    brought(run, "--yes", *where)
    said = [*talk("claude-code", "garden"), ("user", "Prune the apple trees")]
    garden = machine / "work" / "garden"
    write(machine / ".claude" / "projects" / "-work-garden" / "garden.jsonl", claude("garden", garden, *said))
    rules = (garden / "CLAUDE.md").read_text("utf-8").replace("Paint the garden", "Paint the garden fence")
    write(garden / "CLAUDE.md", rules)
    done = brought(run, "--yes", *where)
    assert (counted(done, "new")["garden"], counted(done, "changed")) == (
        1,
        {"ann.boat": 0, "garden": 1, "personal": 0},
    )
    stored = texts(run, "garden", *where)
    assert "Prune the apple trees" in stored and "Never: Paint the garden fence" in stored
    assert "Never: Paint the garden" not in stored
    found = run("list", "--json", "--space", "garden", "--category", "rules", *where).stdout
    (edited,) = [one for one in json.loads(found)["items"] if one["content"].endswith("fence")]
    assert edited["supersedes"] and (edited["metadata"]["file"], edited["metadata"]["line"]) == ("CLAUDE.md", 6)
    assert counted(brought(run, "--yes", *where), "changed") == dict.fromkeys(PLACES, 0)


def test_a_rule_that_was_changed_or_deleted_here_stays_so(run: Run, machine: Path):
    brought(run, "--yes")
    listed = json.loads(run("list", "--json", "--space", "garden", "--category", "rules").stdout)["items"]
    ids = {one["content"]: one["id"] for one in listed}
    run("update", ids["Never: Paint the garden"], "Never: Paint the garden shed", "--space", "garden")
    run("delete", ids["The garden is old."], "--space", "garden")
    done = brought(run, "--yes")
    assert (counted(done, "new")["garden"], counted(done, "changed")["garden"]) == (0, 0)
    stored = texts(run, "garden")
    assert "Never: Paint the garden shed" in stored and "The garden is old." not in stored


def test_an_import_is_undone_for_each_space(run: Run, machine: Path):
    done = brought(run, "--yes")
    for one in done["spaces"]:
        assert run("import", "--undo", str(one["import_id"]), "--space", one["space"]).exit_code == 0
        assert texts(run, one["space"]) == []
    assert counted(brought(run, "--yes"), "new") == counted(done, "new")


@pytest.mark.parametrize(
    ("words", "spaces", "clients"),
    [
        (("--client", "codex"), PLACES, {"codex"}),
        (("--client", "cursor", "--client", "gemini-cli"), PLACES, {"cursor", "gemini-cli"}),
        (("--project", "{home}/work/boat-spring"), {"ann.boat"}, set(AGENTS)),
        (("--since", "2020-01-01"), PLACES, set(AGENTS)),
        (("--space", "all"), {"all"}, set(AGENTS)),
    ],
)
def test_a_part_of_the_machine(words: tuple[str, ...], spaces: set[str], clients: set[str], run: Run, machine: Path):
    done = brought(run, "--dry-run", *(word.format(home=machine) for word in words))
    assert set(counted(done, "new")) == spaces
    assert {one["client"] for one in done["found"] if one["files"]} == clients


def test_what_has_not_changed_since_a_time_is_left_out(run: Run, machine: Path):
    done = brought(run, "--dry-run", "--since", "2126-01-01")
    assert done["spaces"] == [] and any("not changed since" in one["left_out"] for one in done["found"])


def test_a_person_is_shown_what_was_found_and_asked(run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch):
    assert run("import", "--local").exit_code == 64
    monkeypatch.setattr(local_work, "asking", lambda: True)
    monkeypatch.setattr(output, "for_people", lambda _: True)
    refused = run("import", "--local", input="n\n")
    assert (
        refused.exit_code == 1 and "Found on this machine" in refused.stdout and "looks like a secret" in refused.stdout
    )
    assert "ann.boat" not in run("spaces").stdout
    agreed = run("import", "--local", input="y\n")
    assert agreed.exit_code == 0 and "muisti import --undo" in agreed.stderr
    assert "Nothing is new." in run("import", "--local").stderr


HOSTILE = {
    ".claude/projects/-x/a.jsonl": '{"type": "user", "uuid": "1", "cwd": "/\\u0000", "message": {"content": "hi"}}\n'
    * 2,
    ".claude/projects/-x/b.jsonl": '{"cwd": "{garden}"}\n' + "[" * 100_000 + '\n{"type": "user", "message": 7}',
    ".claude/projects/-x/c.jsonl": '{"cwd": "relative", "type": "user", "uuid": "1", "message": {"content": [7, {}]}}',
    ".codex/sessions/rollout-1.jsonl": "\x00\xff\n"
    + '{"type": "session_meta", "payload": {"cwd": "{garden}", "id": []}}',
    ".codex/sessions/rollout-2.jsonl": '{"type": "session_meta", "payload": {"cwd": {}, "id": []}}',
    ".gemini/tmp/x/.project_root": "{garden}",
    ".gemini/tmp/x/chats/session-1.json": '{"sessionId": "a", "messages": [',
    ".gemini/tmp/x/chats/session-2.jsonl": '{"$set": {"messages": [1, {"id": {}}]}}\n{"$rewindTo": "none"}',
    ".gemini/projects.json": '{"projects": []}',
    ".config/Cursor/User/globalStorage/state.vscdb": "no database",
    ".config/Cursor/User/workspaceStorage/x/workspace.json": '{"folder": 7}',
    ".claude/CLAUDE.md": "---\n&a [*a, *a]\n---\n" + "- " * 5_000 + "x\n" + "#" * 10_000 + "\n```\nnever closed",
}


def test_hostile_files_are_named_and_passed_over(run: Run, machine: Path):
    for name, text in HOSTILE.items():
        write(machine / name, text.replace("{garden}", str(machine / "work" / "garden")))
    done = brought(run, "--yes")
    named = "\n".join(done["unreadable"])
    assert all(
        part in named for part in ("b.jsonl:2", "b.jsonl:3", "rollout-1.jsonl:1", "session-1.json", "state.vscdb")
    )
    assert "claude-code says the boat is forty years old" in texts(run, "ann.boat")
    assert counted(brought(run, "--yes"), "new") == dict.fromkeys(counted(done, "new"), 0)


def test_after_a_kill_it_goes_on(run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch):
    bring, calls = transfer_ends.Here.bring, list[str]()

    def killed(end: transfer_ends.Here, space: str, *words: Any, **how: Any) -> Any:
        calls.append(space)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return bring(end, space, *words, **how)

    monkeypatch.setattr(transfer_ends.Here, "bring", killed)
    assert run("import", "--local", "--yes").exit_code != 0
    came = texts(run, calls[0])
    done = brought(run, "--yes")
    assert came and counted(done, "new")[calls[0]] == 0 and counted(done, "new")[calls[1]] > 0
    assert sorted(texts(run, calls[0])) == sorted(came)


def test_what_may_not_be_read_is_passed_over(run: Run, machine: Path):
    loop = machine / "work" / "loop"
    loop.symlink_to(loop)
    write(machine / ".claude" / "projects" / "-l" / "l.jsonl", claude("l", loop / "in", ("user", "Round and round")))
    (machine / ".codex" / "sessions" / "rollout-none.jsonl").symlink_to(machine / "nowhere")
    (machine / ".gemini" / "GEMINI.md").chmod(0)
    done = brought(run, "--yes")
    assert counted(done, "new")["ann.boat"] > 0 and not any(counted(done, "failed").values())


def test_conversations_of_one_name_are_kept_apart(run: Run, machine: Path):
    """Agents and resumed sessions give a name twice; no turn is lost for that."""
    folder = machine / "work" / "garden"
    write(machine / ".claude" / "projects" / "-work-garden" / "z.jsonl",
          json.dumps({"type": "user", "uuid": "z", "sessionId": "garden", "cwd": str(folder), "timestamp": AT.format(1),
                      "message": {"role": "user", "content": "Resumed in the garden"}}))  # fmt: skip
    done = brought(run, "--yes")
    assert not any(counted(done, "failed").values()) and "Resumed in the garden" in texts(run, "garden")


def test_the_command_line_offers_every_agent():
    assert set(OFFERED) == set(KNOWN)
