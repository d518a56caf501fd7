"""Tests that the commands and options which the table gives users of other command lines exist."""

import re
from pathlib import Path

import click
import pytest

from muisti.service.cli import main
from tests.service.app.test_server import serving
from tests.service.conftest import Run

SERVICE = Path(__file__).parents[1]
TABLE = (SERVICE.parent / "from_others" / "cli.tsv").read_text("utf-8").splitlines()[1:]
ROWS = [tuple(line.split("\t")) for line in TABLE]


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that a line names, and the words after it."""
    command: click.Command = main
    while words and isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words
        command, words = found, words[1:]
    return command, words


def test_every_command_and_option_of_ours_exists():
    lines = [line for _, ours, _ in ROWS for line in re.findall(r"`muisti ([^`]*)`", ours)]
    assert len(lines) > 40
    for line in lines:
        if line.startswith("--version"):
            continue
        command, rest = command_of(line.split())
        known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        assert [word for word in rest if word.startswith("-") and word not in known] == [], line


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_every_row_names_a_test(row: tuple[str, str, str]):
    assert len(row) == 3, row
    module, _, name = row[2].partition(": ")
    text = (SERVICE / (module if module.endswith(".txt") else f"{module}.py")).read_text("utf-8")
    assert re.search(rf"^(def {name}\(|# {name}$)", text, re.MULTILINE), row[2]


def test_the_version_is_told(run: Run):
    assert re.fullmatch(r"muisti \d+\.\d+\.\d+\S*\n", run("--version").stdout)


def test_exit_codes_are_theirs(run: Run):
    assert run("add", "Ann likes tea").exit_code == 0
    assert run("get", "people", "ann").exit_code == 1
    assert run("add", "Ann likes tea").exit_code == 2
    assert run("validate", "x" * 102_401).exit_code == run("add", "x" * 102_401).exit_code == 3
    assert run("add", "Ann", "--type", "opinion").exit_code == 64
    assert run("add", "-", input=b"\xff").exit_code == 64


@pytest.mark.file_only
def test_commands_work_on_the_file_that_a_server_serves(tmp_path: Path, run: Run):
    with serving(tmp_path) as (_, url):
        (file,) = tmp_path.glob("*.db")
        assert run("add", "Ann likes tea", "--space", "default", "--database", str(file)).exit_code == 0
        assert "tea" in run("search", "tea", "--space", "default", "--url", url).stdout
        assert run("add", "Bob likes coffee", "--space", "default", "--url", url).exit_code == 0
        assert "coffee" in run("search", "coffee", "--space", "default", "--database", str(file)).stdout
