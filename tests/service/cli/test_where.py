"""Location of a user's memories: one database, found from every folder, which reads never create."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import pytest
from click.testing import Result

from muisti.service.cli import main
from muisti.service.cli.project import Choice, kin
from muisti.service.settings.places import FILE, local_database, shown, users_database, usual_database
from tests.conftest import REAL_DATABASE

Run = Callable[..., Result]
ID = "0197a3c0-5f4e-7000-8000-0123456789ab"

# What each command is tried with where there is no database. The value says how it ends.
NO_DATABASE = {
    ("search", "x"), ("list",), ("get", ID), ("update", ID, "x"), ("supersede", ID, "x"), ("delete", ID),
    ("validate", "x"), ("categories",), ("tags",), ("history", ID), ("restore", ID), ("undo",), ("changes",),
    ("checkpoint", "create", "x"), ("checkpoint", "list"), ("checkpoint", "delete", "x"), ("diff", "1", "2"),
    ("rollback", "1"), ("space", "clear", "--dry-run"), ("lint",), ("conflicts", "list"),
    ("conflicts", "decide", "1", "keep"),
    ("feedback", ID, "useful"), ("telemetry", ID), ("promote",), ("prune",), ("purge", ID, "--yes"),
    ("space", "fork", "x"), ("space", "compare", "x"), ("space", "merge", "x", "y"),
    ("space", "delete", "x", "--confirm", "x"), ("space", "list"), ("spaces",), ("stats",), ("policy",),
    ("policy", "--secrets", "allow"), ("quota", "--memories", "1"), ("export", "-"), ("export", "out.ndjson"),
    ("import", "--list"), ("import", "--undo", "1"), ("backup", "copy.db"), ("keys", "list"), ("keys", "revoke", "x"),
    ("keys", "clear", "--yes"),
    ("scrub", "--admin-url", "http://localhost:9"),
    ("keys", "rotate", "x"), ("audit",), ("webhook", "create", "https://example.org"), ("webhook", "list"),
    ("generations", "list"), ("generations", "build", "x"), ("generations", "compare"), ("generations", "switch"),
    ("generations", "rollback"), ("generations", "drop", "x"),
    ("tasks", "list"), ("tasks", "show", "x"), ("tasks", "watch", "x"), ("tasks", "cancel", "x"),
    ("webhook", "delete", "x"), ("webhook", "redeliver", "x"), ("reembed",), ("calibrate",), ("probe", "add", "x", ID),
    ("probe", "list"), ("probe", "run"), ("probe", "delete", "x"),
    ("reads", "list"), ("reads", "unanswered"), ("reads", "forget"),
    ("receipt", "list"),
    ("receipt", "show", "x"), ("receipt", "replay", "x"),
    ("conversations", "list"), ("conversations", "show", "x"), ("conversations", "rename", "x", "y"),
    ("conversations", "move", "x", "y"), ("conversations", "close", "x"), ("conversations", "reopen", "x"),
    ("conversations", "delete", "x"), ("conversations", "topics", "x"), ("conversations", "summary", "x"),
    ("conversations", "summarise"),
    ("conversations", "working", "x"), ("conversations", "adopt"), ("conversations", "suggest", "x"), ("context", "x"),
    ("add", "x", "--dry-run"), ("space", "create", "x", "--dry-run"), ("ingest", ".", "--dry-run"),
    ("documents", "list"), ("documents", "show", "x"), ("documents", "text", "x"), ("documents", "stale", "."),
    ("documents", "prune", "--dry-run"), ("documents", "delete", "x"), ("code", "find", "x"), ("code", "callers", "x"),
    ("code", "callees", "x"), ("code", "outline", "x"), ("code", "map"),
    ("graph", "status"), ("graph", "entities"), ("graph", "show", "x"), ("graph", "neighbours", "x"),
    ("graph", "path", "x", "y"), ("graph", "relations"), ("graph", "proposals"), ("graph", "communities"),
    ("graph", "merge", "x", "y"), ("graph", "keep-apart", "x", "y"), ("graph", "retract", "x"), ("graph", "build"),
    ("graph", "draw", "x.svg"), ("graph", "export", "x.json"), ("graph", "drop"),
    ("graph", "relate", "x", "knows", "y", "--dry-run"),
}  # fmt: skip
NOTHING_MADE = {
    ("doctor",),
    ("doctor", "--quick"),
    ("space",),
    ("space", "which"),
    ("import", "in.ndjson", "--dry-run"),
}
# Commands that may make a database, need none, or make one of their own that they throw away.
OTHERS = {
    "add", "conversations add", "ingest", "hooks install", "hooks remove",
    "put", "import", "restore-backup", "keys create", "space create", "serve", "mcp", "connect", "hook run",
    "hook install", "hook uninstall", "skill", "completion", "demo", "eval", "models test", "top", "verify-report",
}  # fmt: skip


def leaves(group: click.Group, words: Sequence[str] = ()) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, [*words, name])
        else:
            yield " ".join([*words, name])


def everything_in(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*")}


def test_every_command_says_what_it_does_where_there_is_no_database():
    tried = {" ".join(words) for words in NO_DATABASE | NOTHING_MADE}
    names = set(leaves(main))
    missing = [
        name for name in names - OTHERS if not any(words == name or words.startswith(f"{name} ") for words in tried)
    ]
    assert missing == [], "add them to the tables of this module"


@pytest.mark.file_only
@pytest.mark.parametrize("words", sorted(NO_DATABASE), ids=" ".join)
def test_a_command_that_needs_a_database_says_so_and_makes_none(words: tuple[str, ...], run: Run, home: Path):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert f"Error: no database at ~/muisti/{FILE} yet" in result.stderr
    assert "muisti add" in result.stderr
    assert everything_in(home, Path.cwd()) == set()


@pytest.mark.file_only
@pytest.mark.parametrize("words", sorted(NOTHING_MADE), ids=" ".join)
def test_a_command_that_needs_no_database_makes_none(words: tuple[str, ...], run: Run, home: Path):
    if words[0] == "import":
        memory = {"type": "memory", "content": "x"}
        Path("in.ndjson").write_text(json.dumps(memory) + "\n")
    before = everything_in(home, Path.cwd())
    assert run(*words).exit_code in (0, 1)
    assert everything_in(home, Path.cwd()) == before


@pytest.mark.file_only
def test_a_mistyped_database_is_named_and_not_made(run: Run, tmp_path: Path):
    result = run("--database", str(tmp_path / "nope" / "x.db"), "list")
    assert result.exit_code == 1 and "nope/x.db yet" in result.stderr
    assert not (tmp_path / "nope").exists()


@pytest.mark.file_only
def test_the_first_memory_makes_the_database_and_says_where(run: Run, home: Path):
    result = run("add", "one")
    assert result.stderr == f"Created the space notes (working directory, 'notes') in ~/muisti/{FILE}.\n"
    assert (home / "muisti" / FILE).exists() and everything_in(Path.cwd()) == set()
    assert run("add", "two").stderr == ""


@pytest.mark.file_only
def test_a_project_has_the_same_memories_in_each_of_its_folders(run: Run, monkeypatch: pytest.MonkeyPatch):
    subprocess.run(["git", "init", "-q"], check=True)
    run("add", "We deploy on Tuesdays")
    Path("src/deep").mkdir(parents=True)
    monkeypatch.chdir("src/deep")
    assert "Tuesdays" in run("search", "deploy").stdout
    assert everything_in(Path.cwd()) == set()


@pytest.mark.file_only
@pytest.mark.parametrize("below", [".", "src/deep"])
def test_a_database_of_the_project_is_used_and_said(below: str, run: Run, monkeypatch: pytest.MonkeyPatch):
    run("add", "ours", "--database", FILE, "--space", "s")
    subprocess.run(["git", "init", "-q"], check=True)
    Path(below).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(below)
    result = run("list", "--space", "s")
    assert "ours" in result.stdout
    assert result.stderr == f"Using {os.path.relpath(local_database() or '')}, not ~/muisti/{FILE}.\n"
    assert run("list", "--space", "s", "--json").stderr == ""
    assert run("list", "--space", "s", "--database", str(local_database())).stderr == ""


@pytest.mark.file_only
def test_a_database_above_a_folder_without_a_repository_is_not_taken(run: Run, monkeypatch: pytest.MonkeyPatch):
    run("add", "theirs", "--database", FILE)
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert usual_database() == f"file:{users_database(os.environ)}"


def test_a_user_without_a_home_has_the_database_in_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def nobody() -> Path:
        raise RuntimeError("no home")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", nobody)
    assert usual_database({}) == f"file:{FILE}"
    assert usual_database({"XDG_DATA_HOME": "relative"}) == f"file:{FILE}"


def test_a_home_that_is_the_root_is_not_abbreviated():
    assert shown(Path("/data/x.db"), {"HOME": "/"}) == "/data/x.db"


def test_no_test_finds_the_data_of_whoever_runs_it(home: Path):
    ours = users_database(os.environ)
    assert ours is not None and ours.is_relative_to(home) and ours != REAL_DATABASE
    code = "import os; from muisti.service.settings.places import users_database; print(users_database(os.environ))"
    seen = subprocess.run(["python", "-c", code], capture_output=True, text=True, check=False)
    assert seen.stdout.strip() in (str(ours), ""), seen.stdout


def remote(url: str) -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "remote", "add", "origin", url], check=True)


@pytest.mark.parametrize("words", [("search", "deploys"), ("list",), ("stats",), ("undo",)], ids=" ".join)
def test_a_missing_space_names_the_one_of_before_and_the_command_that_joins_them(words: tuple[str, ...], run: Run):
    run("add", "We deploy on Tuesdays")
    remote("https://github.com/acme/web.git")
    lost = run(*words)
    assert lost.exit_code == (0 if words[0] in ("search", "list") else 1)  # what is asked of nothing has an answer
    line = next(line for line in lost.stderr.splitlines() if line.startswith("notes may hold"))
    assert "`muisti space merge notes acme.web --drop`" in line
    first = run("add", "The first here")
    assert line in first.stderr
    assert run("space", "merge", "notes", "acme.web", "--drop").exit_code == 0
    assert "Tuesdays" in run("search", "deploys").stdout


def test_spaces_of_a_fork_and_of_a_slip_are_found_and_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "proj"
    folder.mkdir()
    monkeypatch.chdir(folder)
    remote("https://github.com/acme/web-app.git")
    names = ["proj", "acme.webapp", "other.web-app", "acme.web-ap", "web-app", "acme.api", "default", "acme.web-app"]
    here = Choice("acme.web-app", "git remote origin")
    assert [one.space for one in kin(here, folder, names)] == [
        "acme.web-ap", "acme.webapp", "other.web-app", "proj", "web-app"
    ]  # fmt: skip
    assert kin(Choice("acme.api-v1", "git remote origin"), folder, ["acme.api-v2"]) == []
    (slip,) = kin(Choice("acme.wbe", "--space"), folder, ["acme.web", "proj"])
    assert slip.advice == "Did you mean --space acme.web?"


@pytest.mark.file_only
def test_doctor_names_forks_and_slips_too(run: Run):
    for space in ("acme.webapp", "other.web-app", "acme.other"):
        run("add", "x", "--space", space)
    remote("https://github.com/acme/web-app.git")
    found = [line for line in run("doctor", "--quick", "--plain").stdout.splitlines() if line.startswith("project\t")]
    assert ["acme.webapp" in found[0], "other.web-app" in found[1], len(found)] == [True, True, 2]


def test_below_a_folder_with_a_space_that_is_named(run: Run, monkeypatch: pytest.MonkeyPatch):
    run("add", "x")
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert "--space notes works in the space of a folder above." in run("list").stderr


@pytest.mark.file_only
def test_a_missing_space_names_the_default_one_when_that_holds_memories(run: Run):
    run("add", "We deploy on Fridays", "--space", "other")
    assert "--space default" not in run("search", "deploy").stderr
    run("add", "We deploy on Tuesdays", "--space", "default")
    assert "The space default holds memories: --space default" in run("search", "deploy").stderr


READS = [("search", "x"), ("list",), ("context", "x"), ("tags",), ("categories",)]


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_a_read_of_a_missing_space_answers_nothing_and_says_so(words: tuple[str, ...], run: Run):
    run("--space", "notes", "add", "We deploy on Tuesdays")
    found = run("--space", "notse", "--json", *words)
    assert found.exit_code == 0
    assert {"hits", "items", "text"} & json.loads(found.stdout).keys()
    assert "there is no space notse" in found.stderr and "Did you mean --space notes?" in found.stderr
