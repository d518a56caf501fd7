"""Sessions on the command line, each on a new database file: what every command prints.

A session has a title, then commands behind `$`, with their standard input behind `<`. What it prints follows, with
standard error behind `!`, an exit status other than 0 behind `=`. `<1>` is the first id of a session, `<1:8>`
its last eight characters.
Other commands than `muisti` are those of a shell.
`pytest tests/service/cli/test_sessions.py --renew` writes what the commands print now.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.service.conftest import Run

pytestmark = pytest.mark.file_only

ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:mk|whsec)_[\w+/=-]+|(?<=…)[0-9a-f]{8}\b"
    r"|\b(?=\d*[a-f])[0-9a-f]{8}(?:[0-9a-f]{4,56})?\b|\b(?!0{8})(?:\d{8}|\d{12})\b"
)
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")
FRACTION = re.compile(r"\d\.\d{4,}|(?<=\":)\d\.\d{3,}")


def sessions() -> Iterator[Any]:
    for path in sorted(Path(__file__).with_name("sessions").glob("*.txt")):
        for session in re.split(r"^(?=# .*\n\n\$ )", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            yield pytest.param(path, session, id=f"{path.stem}: {session.partition(chr(10))[0][2:]}")


@click.command()
@click.argument("line")
def shell(line: str) -> None:
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    click.echo(done.stdout, nl=False)
    click.echo(done.stderr, nl=False, err=True)
    raise SystemExit(done.returncode)


class Session:
    """Commands of one session, and numbers in place of its ids."""

    def __init__(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        self._run, self._monkeypatch, self._ids = run, monkeypatch, list[str]()
        self._folder = str(Path.cwd())

    def step(self, typed: str) -> str:
        command, *rest = typed.splitlines()
        given = "".join(f"{line[2:]}\n" for line in rest if line.startswith("< "))
        words = shlex.split(numbered := re.sub(r"<(\d+)(?::(\d+))?>", self._id, command))
        with self._monkeypatch.context() as patch:
            while "=" in words[0]:
                patch.setenv(*words.pop(0).split("=", 1))
            if words[0] == "cd":
                self._monkeypatch.chdir(words[1])
                return f"$ {command}\n"
            if words[0] == "muisti":
                done = self._run(*words[1:], input=given or None)
            else:
                done = CliRunner().invoke(shell, [numbered])
        errors = "".join(f"! {line}\n" for line in done.stderr.splitlines())
        status = f"= {done.exit_code}\n" if done.exit_code else ""
        typed = "".join(f"{line}\n" for line in (command, *(line for line in rest if line.startswith("< "))))
        return f"$ {typed}{self._named(done.stdout + errors + status)}".rstrip("\n") + "\n"

    def _id(self, found: re.Match[str]) -> str:
        id_ = self._ids[int(found[1]) - 1]
        return id_[-int(found[2]) :] if found[2] else id_

    def _named(self, printed: str) -> str:
        named = FRACTION.sub(
            "<fraction>", MOMENT.sub(_moment, ID.sub(self._number, printed.replace(self._folder, "<folder>")))
        )
        named = re.sub(rf"(?<!\d){datetime.now(UTC).date()}(?!\d)", "<today>", named)
        return re.sub(" +$", "", re.sub(r"\b\d+ seconds? ago\b", "now", named), flags=re.MULTILINE)

    def _number(self, found: re.Match[str]) -> str:
        for number, id_ in enumerate(self._ids, 1):
            if id_ == found[0] or (id_.endswith(found[0]) and len(found[0]) == 8):
                return f"<{number}>" if id_ == found[0] else f"<{number}:8>"
        self._ids.append(found[0])
        return f"<{len(self._ids)}>"


def _moment(found: re.Match[str]) -> str:
    """Times that the commands have made, as `<now>`."""
    made = abs(datetime.fromisoformat(found[0]) - datetime.now(UTC)) < timedelta(hours=1)
    return "<now>" if made else found[0]


@pytest.mark.parametrize(("path", "session"), [*sessions()])
def test_commands_print_what_the_session_shows(
    run: Run, monkeypatch: pytest.MonkeyPatch, path: Path, session: str, request: pytest.FixtureRequest
):
    title, *steps = re.split(r"^\$ ", session, flags=re.MULTILINE)
    typing = Session(run, monkeypatch)
    found = title.rstrip("\n") + "\n\n" + "".join(map(typing.step, steps)) + "\n"
    if request.config.getoption("renew"):
        path.write_text(path.read_text("utf-8").replace(session, found), "utf-8")
    else:
        assert found.rstrip().splitlines() == session.rstrip().splitlines()
