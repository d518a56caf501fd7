"""The command line on the real service in this process, one database file for each test."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import click
import pytest

from muisti.service.cli import COMMANDS, SECTIONS, main
from muisti.service.terminal import output
from muisti.service.terminal.base import GLOBAL
from tests.service.conftest import Run

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def file(home: Path) -> Path:
    """The database that commands use by default."""
    return home / "muisti" / "muisti.db"


def added(run: Run, *words: str) -> dict[str, Any]:
    result = run("add", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a terminal."""
    monkeypatch.setattr(output, "for_people", lambda _: True)


NAMING: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "get": lambda name: ["get", *name], "update": lambda name: ["update", *name, "--reason", "why"],
    "update with a text": lambda name: ["update", *name, "We deploy on Mondays"],
    "supersede": lambda name: ["supersede", *name, "We deploy daily"], "delete": lambda name: ["delete", *name],
    "history": lambda name: ["history", *name], "restore": lambda name: ["restore", *name, "--to", "1"],
    "purge": lambda name: ["purge", *name], "telemetry": lambda name: ["telemetry", *name],
    "feedback": lambda name: ["feedback", *name, "useful"],
    "probe add": lambda name: ["probe", "add", "when do we deploy?", *name],
}  # fmt: skip
OTHER_IDS = {"probe delete", "webhook delete", "webhook redeliver", "receipt show", "receipt replay",
             "graph retract", "tasks show", "tasks watch", "tasks cancel"}  # fmt: skip


def test_every_command_that_takes_an_id_says_that_it_takes_an_address():
    by_id = {
        name
        for name, command in every_command()
        for one in command.params
        if isinstance(one, click.Argument) and "ID" in (one.metavar or "")
    }
    assert by_id == {name.removesuffix(" with a text") for name in NAMING} | OTHER_IDS
    for name, command in every_command():
        if name in by_id - OTHER_IDS:
            assert any("ID | CATEGORY KEY" in (one.metavar or "") for one in command.params), name


def every_command() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for name, command in commands().items():
        found.append((name, command))
        if isinstance(command, click.Group):
            context = click.Context(command)
            below = ((one, command.get_command(context, one)) for one in command.list_commands(context))
            found += [(f"{name} {one}", inner) for one, inner in below if inner is not None]
    return found


@pytest.mark.parametrize("verb", NAMING)
def test_every_command_names_a_memory_by_id_and_by_address(verb: str, run: Run):
    memory = added(run, "We deploy on Fridays", "--category", "rules", "--key", "deploy")
    run("update", memory["id"], "--author", "ann")
    dry = ["--dry-run"] if verb not in ("get", "history", "telemetry", "probe add") else []
    for name in ([memory["id"]], [memory["id"][-8:]], ["rules", "deploy"], ["rules/deploy"]):
        result = run(*NAMING[verb](name), *dry, "--json")
        assert result.exit_code == 0, (name, result.output)
        if dry and verb != "feedback":
            assert memory["id"] in result.stdout, name
    missing = run(*NAMING[verb](["rules", "none"]), *dry, "--json")
    assert missing.exit_code == (0 if verb == "probe add" else 1), missing.output  # a probe may wait for its memory


@pytest.mark.parametrize("words", [
    ["serch"], ["add"], ["add", "x", "--type", "opinion"], ["add", "x", "--metadata", "[1]"], ["add", ""],
    ["add", "x", "--event-at", "someday"], ["add", "x", "--key", "k"], ["list", "--limit", "0"], ["update", "x"],
    ["list", "--filter", "{"], ["list", "--filter", '{"colour": "red"}'], ["search"], ["get", "a", "b", "c"],
    ["list", "--space", "No Name"], ["list", "--url", "ftp://example.org"], ["--config", "missing.toml", "list"],
    ["serve", "--port", "many"], ["serve", "--host", "0.0.0.0"], ["serve", "--url", "http://127.0.0.1:1"],
    ["reembed", "--url", "http://127.0.0.1:1"], ["eval"], ["eval", "nowhere"],
    ["search", "x", "--recency-weight", "2"],
], ids=" ".join)  # fmt: skip
def test_wrong_usage_ends_with_64(words: list[str], run: Run):
    run("add", "something", "--space", "notes-000000")
    result = run(*words)
    assert result.exit_code == 64, result.output
    assert result.stdout == ""
    assert "Error: " in result.stderr


def test_a_misspelt_command_option_or_setting_names_the_nearest(run: Run, monkeypatch: pytest.MonkeyPatch):
    assert "Did you mean 'search'?" in run("serch", "x").stderr
    assert "--tag" in run("list", "--tags", "x").stderr
    monkeypatch.setenv("MUISTI_EMBEDINGS", "off")
    assert "MUISTI_EMBEDDINGS" in run("list").stderr


@pytest.mark.parametrize("option", ["content", "reason", "metadata"])
def test_a_secret_is_refused_by_the_name_of_its_rule(option: str, run: Run):
    words = {
        "content": [f"the token is {TOKEN}"],
        "reason": ["x", "--reason", TOKEN],
        "metadata": ["x", "--metadata", json.dumps({"ci": {"tokens": ["none", TOKEN]}})],
    }[option]
    result = run("add", *words)
    assert result.exit_code == 1
    assert "github-token" in result.stderr
    assert TOKEN not in result.output
    assert run("list").stdout == ""
    assert run("add", *words, "--allow-secrets").exit_code == 0
    memory = added(run, "harmless")
    assert run("update", memory["id"], *words[1:] or words).exit_code == 1


def test_lists_are_sorted_by_creation_or_change_and_read_whole(run: Run):
    ids = [added(run, f"memory {number}")["id"] for number in range(4)]
    run("update", ids[0], "--author", "ann")

    def listed(*words: str) -> list[str]:
        return [line.split("\t")[0] for line in run("list", *words).stdout.splitlines()]

    assert listed() == ids[::-1]
    assert listed("--reverse") == ids
    assert listed("--sort", "updated") == listed("--sort", "updated", "--all") == [ids[0], *ids[:0:-1]]
    assert listed("--sort", "updated", "--reverse") == [*ids[1:], ids[0]]
    first = json.loads(run("list", "--sort", "updated", "--limit", "3", "--json").stdout)
    assert listed("--cursor", first["next_cursor"]) == [ids[1]]
    assert run("list", "--sort", "created", "--cursor", first["next_cursor"]).exit_code == 64
    changed = json.loads(run("get", ids[0], "--json").stdout)["updated_at"]
    assert run("list", "--sort", "updated").stdout.splitlines()[0].split("\t")[1] == changed
    assert listed("--changed-after", changed) == [ids[0]]
    assert listed("--changed-before", changed) == ids[:0:-1]


def test_a_list_is_as_long_as_it_is_asked_to_be(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.service.cli.commands.get_list_stats.PAGE_MAX", 2)
    ids = [added(run, f"memory {number}")["id"] for number in range(5)]
    for order in ("created", "updated"):
        everything = run("list", "--all", "--sort", order, "--json")
        found = json.loads(everything.stdout)
        assert ([one["id"] for one in found["items"]], found["next_cursor"]) == (ids[::-1], None)
        assert "Read 2 memories" in everything.stderr
    three = json.loads(run("list", "--limit", "3", "--json").stdout)
    assert [one["id"] for one in three["items"]] == ids[:1:-1]
    rest = json.loads(run("list", "--limit", "500", "--cursor", three["next_cursor"], "--json").stdout)
    assert [one["id"] for one in rest["items"]] == ids[1::-1]
    assert run("list", "--all", "--limit", "3").exit_code == 64


def test_memories_cannot_steer_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch):
    added(run, "red \x1b[31m alert", "--tag", "a\x1b[0m")
    for_a_person(monkeypatch)
    for words in (["list"], ["search", "alert"]):
        assert "\x1b[31m" not in run(*words, "--no-color").stdout


def test_tables_for_people_have_short_ids_and_relative_times(run: Run, monkeypatch: pytest.MonkeyPatch):
    memory = added(run, "We deploy on Tuesdays", "--tag", "infra", "--category", "rules")
    for_a_person(monkeypatch)
    for words in (["list"], ["search", "deploy", "--explain"], ["get", memory["id"]]):
        shown = run(*words).stdout
        assert memory["id"][-8:] in shown
        assert "We deploy on Tuesdays" in shown
        assert "ago" in shown or "now" in shown
    for words in (["categories"], ["tags"], ["stats"], ["spaces"], ["doctor"]):
        assert run(*words).exit_code == 0
    assert "**" not in run("search", "deploy", "--highlight").stdout
    assert memory["id"] in run("add", "another").stdout or run("delete", memory["id"]).exit_code == 0


@pytest.mark.file_only
def test_doctor_passes_an_empty_folder_and_changes_nothing(run: Run):
    result = run("doctor", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    names = {check["name"] for check in found["checks"]}
    assert names >= {"version", "sqlite", "kernels", "model", "database", "disk", "space"}
    assert list(Path.cwd().iterdir()) == []
    run("add", "x")
    names = {check["name"]: check["status"] for check in json.loads(run("doctor", "--json").stdout)["checks"]}
    assert (names["schema"], names["permissions"]) == ("ok", "ok")


@pytest.mark.file_only
def test_doctor_finds_what_is_wrong(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch):
    file.parent.mkdir()
    file.write_bytes(b"this is no database" * 100)
    damaged = run("doctor")
    assert damaged.exit_code == 1
    assert "integrity\tfailed" in damaged.stdout
    assert run("doctor", "--repair").exit_code == 1 and [each.name for each in file.parent.iterdir()] == ["muisti.db"]
    assert run("list").exit_code == 1
    file.unlink()
    run("add", "x")
    file.chmod(0o644)
    assert "permissions\twarning" in run("doctor").stdout
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    monkeypatch.setenv("MUISTI_MODEL", str(Path.cwd()))
    assert "model\tfailed" in run("doctor").stdout
    monkeypatch.setenv("MUISTI_ENTITIES", "spacy:no-such-pipeline")
    assert "entities\tfailed" in run("doctor").stdout
    monkeypatch.setenv("MUISTI_PORT", "many")
    assert "settings\tfailed" in run("doctor").stdout


@pytest.mark.file_only
def test_doctor_repairs_what_is_derived_in_place(run: Run, file: Path):
    added(run, "We deploy on Tuesdays", "--tag", "infra", "--metadata", '{"n": 1}')
    with closing(apsw.Connection(str(file))) as database:
        database.execute("UPDATE tags SET tag = 'other'; UPDATE spaces SET memories = 7")
    wrong = run("doctor", "--plain")
    assert (
        wrong.exit_code == 1 and "index\tfailed\tderived data that do not match the memories: 1 of tags" in wrong.stdout
    )
    repaired = run("doctor", "--repair", "--json")
    report = json.loads(repaired.stdout)["repair"]
    assert (repaired.exit_code, report["path"], report["lost"]) == (0, None, []) and report["mended"] >= 2
    assert run("doctor").exit_code == 0
    assert "Tuesdays" in run("list", "--tag", "infra", "--plain").stdout


@pytest.mark.file_only
def test_doctor_saves_what_a_damaged_file_holds_and_says_what_it_does_not(run: Run, file: Path):
    lost = added(run, "We deploy on Tuesdays")
    kept = added(run, "Backups are made at night")
    damaged = file.read_bytes().replace(b"Tuesdays", b"tuesdays")  # which no page tells, but the checksum
    file.write_bytes(damaged)
    found = run("doctor")
    assert found.exit_code == 1 and "memories\tfailed\t1 version does not say what was stored" in found.stdout
    repaired = run("doctor", "--repair", "--plain")
    assert repaired.exit_code == 1 and f"lost\t{lost['id']}\t1\t" in repaired.stdout
    assert file.read_bytes() == damaged
    new = next(line.split("\t")[1] for line in repaired.stdout.splitlines() if line.startswith("file\t"))
    file.with_name("muisti.db-wal").write_bytes(b"left behind")
    assert run("restore-backup", new, "--force").exit_code == 0
    assert run("list", "--plain").stdout.count(kept["id"]) == 1 and "uesdays" not in run("list").stdout
    assert run("doctor").exit_code == 0
    assert run("doctor", "--repair", "--url", "http://127.0.0.1:1").exit_code == 64


@pytest.mark.file_only
def test_doctor_knows_spaces_of_one_project(run: Run):
    run("add", "before there was a remote")
    Path(".git").mkdir()
    Path(".git/HEAD").write_text("ref: refs/heads/main")
    Path(".git/config").write_text('[remote "origin"]\n\turl = git@github.com:acme/web.git\n')
    report = run("doctor", "--quick")
    assert report.exit_code == 0 and "project\twarning" in report.stdout and "acme.web --drop" in report.stdout


def commands() -> dict[str, click.Command]:
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command is not None}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_its_summary(name: str, run: Run):
    shown = run(name, "--help").stdout
    assert f"  muisti {name}" in shown
    assert GLOBAL in shown
    assert (commands()[name].help or "").startswith(COMMANDS[name][1])
    assert commands()[name].name == name


def test_every_help_below_has_an_example(run: Run):
    shown = run("--help").stdout
    assert "Examples:" in shown and all(f"{title}:" in shown for title in SECTIONS)
    for name, command in commands().items():
        for below in getattr(command, "commands", ()):
            examples = run(name, below, "--help").stdout.partition("Examples:")[2]
            assert f"muisti {name} {below}" in examples


def test_every_exit_code_is_documented():
    codes = DOCS.read_text().partition("## Exit codes")[2].partition("\n## ")[0]
    assert [code for code in (0, 1, 2, 3, 64) if f"| {code} |" not in codes] == []
