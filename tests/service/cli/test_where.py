"""Location of a user's memories: one database, found from every folder, which reads never create."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from muisti.service.cli import main
from muisti.service.settings.places import FILE, shown, users_database, usual_database
from muisti.service.terminal.project import Choice, kin
from tests.conftest import REAL_DATABASE
from tests.service.cli_commands import of_the_tree
from tests.service.conftest import Run

ID = "0197a3c0-5f4e-7000-8000-0123456789ab"

# Reads that answer nothing about an empty space, and reads of one thing, which an empty space has not.
ANSWERED = {
    ("search", "x"), ("context", "x"), ("handoff",), ("list",), ("list", "--all"), ("validate", "x"),
    ("categories",), ("tags",),
    ("stats",), ("changes",), ("checkpoint", "list"), ("diff", "0"), ("lint",), ("conflicts", "list"), ("spaces",),
    ("space", "list"), ("policy",), ("import", "--list"), ("keys", "list"), ("audit",), ("webhook", "list"),
    ("generations", "list"), ("tasks", "list"), ("probe", "list"), ("probe", "run"), ("reads", "list"),
    ("reads", "unanswered"), ("receipt", "list"), ("conversations", "list"), ("documents", "list"),
    ("documents", "stale", "."), ("code", "find", "x"), ("code", "map"),
    ("graph", "status"), ("graph", "entities"), ("graph", "relations"), ("graph", "proposals"),
    ("graph", "communities"), ("placement", "list"), ("placement", "plan"), ("placement", "check"),
    ("add", "x", "--dry-run"), ("put", "a", "b", "x", "--dry-run"), ("conversations", "add", "c", "x", "--dry-run"),
    ("ingest", ".", "--dry-run"), ("graph", "relate", "x", "knows", "y", "--dry-run"),
}  # fmt: skip
NOT_FOUND = {
    ("get", ID), ("history", ID), ("telemetry", ID), ("tasks", "show", "x"), ("tasks", "watch", "x"),
    ("receipt", "show", "x"), ("receipt", "replay", "x"), ("conversations", "show", "x"),
    ("conversations", "topics", "x"), ("conversations", "summary", "x"), ("conversations", "working", "x"),
    ("documents", "show", "x"), ("code", "outline", "x"), ("graph", "show", "x"), ("graph", "neighbours", "x"),
    ("graph", "path", "x", "y"), ("space", "compare", "x"), ("conversations", "suggest", "x", "--dry-run"),
    ("code", "callers", "x"), ("code", "callees", "x"),
}  # fmt: skip
# What each command that changes something, or writes a file, is tried with where there is no database.
NO_DATABASE = {
    ("update", ID, "x"), ("supersede", ID, "x"), ("delete", ID), ("restore", ID), ("undo",),
    ("checkpoint", "create", "x"), ("checkpoint", "delete", "x"),
    ("rollback", "1"), ("space", "clear", "--dry-run"), ("conflicts", "decide", "1", "keep"),
    ("feedback", ID, "useful"), ("promote",), ("prune",), ("purge", ID, "--yes"),
    ("space", "fork", "x"), ("space", "merge", "x", "y"), ("space", "delete", "x", "--confirm", "x"),
    ("policy", "--secrets", "allow"), ("quota", "--memories", "1"), ("export", "-"), ("export", "out.ndjson"),
    ("import", "--undo", "1"), ("backup", "copy.db"), ("keys", "revoke", "x"), ("keys", "clear", "--yes"),
    ("scrub", "--admin-url", "http://localhost:9"),
    ("keys", "rotate", "x"), ("webhook", "create", "https://example.org"), ("webhook", "delete", "x"),
    ("webhook", "redeliver", "x"), ("generations", "build", "x"), ("generations", "switch"),
    ("generations", "rollback"), ("generations", "drop", "x"), ("tasks", "cancel", "x"), ("reembed",), ("calibrate",),
    ("probe", "add", "x", ID), ("probe", "delete", "x"), ("reads", "forget"),
    ("conversations", "rename", "x", "y"), ("conversations", "move", "x", "y"), ("conversations", "close", "x"),
    ("conversations", "reopen", "x"), ("conversations", "delete", "x"), ("conversations", "summarise"),
    ("conversations", "adopt"), ("conversations", "suggest", "x"), ("conversations", "summary", "x", "--renew"),
    ("documents", "text", "x"), ("documents", "prune", "--dry-run"), ("documents", "delete", "x"),
    ("graph", "merge", "x", "y"), ("graph", "keep-apart", "x", "y"), ("graph", "retract", "x"), ("graph", "build"),
    ("graph", "draw", "x.svg"), ("graph", "export", "x.json"), ("graph", "drop"),
    ("space", "warm"), ("placement", "add", "x", "file:x.db"), ("placement", "move", "x", "--target", "x"),
    ("placement", "promote", "x", "--target", "x"), ("placement", "drain", "x"),
    ("lint", "--fix", "secret"), ("changes", "--follow"), ("generations", "compare"),
}  # fmt: skip
NOTHING_MADE = {
    ("doctor",), ("doctor", "--quick"), ("space",), ("space", "which"), ("import", "in.ndjson", "--dry-run"),
    ("space", "create", "x", "--dry-run"),
}  # fmt: skip
# Commands that may make a database, need none, or make one of their own that they throw away.
OTHERS = {
    "hooks install", "hooks remove", "import", "restore-backup", "keys create", "serve", "mcp", "connect", "hook run",
    "hook install", "hook uninstall", "skill", "completion", "demo", "eval", "models test", "top", "verify-report",
}  # fmt: skip


def everything_in(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*")}


def test_every_command_says_what_it_does_where_there_is_no_database():
    tried = {" ".join(words) for words in ANSWERED | NOT_FOUND | NO_DATABASE | NOTHING_MADE}
    names = of_the_tree(main)
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


@pytest.fixture(scope="module")
def one_space(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a database with one empty space, which is called `full`."""
    path = tmp_path_factory.mktemp("one") / FILE
    words = ["--database", str(path), "space", "create", "full"]
    assert CliRunner().invoke(main, words).exit_code == 0
    return path.read_bytes()


@pytest.mark.file_only
@pytest.mark.parametrize("words", sorted(ANSWERED | NOT_FOUND), ids=" ".join)
def test_what_is_missing_is_read_as_an_empty_space(words: tuple[str, ...], run: Run, home: Path, one_space: bytes):
    """A missing database and a missing space give the answer of an empty space, and a read makes no file."""
    status = int(words in NOT_FOUND)
    bare = run(*words, "--json")
    assert (bare.exit_code, "Traceback" in bare.output) == (status, False), bare.output
    assert f"no database at ~/muisti/{FILE} yet" in bare.stderr and "muisti add" in bare.stderr
    assert everything_in(home, Path.cwd()) == set()
    (home / "muisti").mkdir()
    (home / "muisti" / FILE).write_bytes(one_space)
    missing = run(*words, "--json", "--space", "fulll")
    assert (missing.exit_code, "Traceback" in missing.output) == (status, False), missing.output
    assert not status or "Error: " in bare.stderr and "Error: " in missing.stderr
    if words[0] not in ("spaces", "space", "keys", "audit", "receipt", "placement"):  # these ask about no space
        assert "there is no space fulll" in missing.stderr and "--space full?" in missing.stderr
    if not status:
        answers = [json.loads(one.stdout or "{}").keys() - {"degraded"} for one in (bare, missing)]
        assert answers[0] == answers[1]


@pytest.mark.file_only
@pytest.mark.parametrize("words", sorted(NOTHING_MADE), ids=" ".join)
def test_a_command_that_needs_no_database_makes_none(words: tuple[str, ...], run: Run, home: Path):
    if words[0] == "import":
        memory = {"type": "memory", "content": "x"}
        Path("in.ndjson").write_text(json.dumps(memory) + "\n")
    before = everything_in(home, Path.cwd())
    assert run(*words).exit_code in (0, 1)
    assert everything_in(home, Path.cwd()) == before


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
