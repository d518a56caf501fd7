"""`muisti purge` of many memories: as a task with a signed report, on a database file."""

import json
from pathlib import Path

import pytest

from muisti.service.erasure import commands as erasure
from tests.service.conftest import Run

pytestmark = pytest.mark.one_store


@pytest.fixture
def kept(run: Run) -> str:
    """The id of a memory that stays, beside three of another author."""
    for number in range(3):
        assert run("add", f"Ann writes note {number}", "--author", "Ann").exit_code == 0
    return json.loads(run("add", "Bob likes coffee", "--author", "Bob", "--json").stdout)["id"]


def tasks(run: Run) -> list[tuple[str, str]]:
    found = json.loads(run("tasks", "list", "--json").stdout)["items"]
    return [(one["kind"], one["state"]) for one in found]


def test_a_purge_as_a_task_writes_its_signed_report(run: Run, kept: str, tmp_path: Path):
    report = tmp_path / "ann.json"
    done = run("purge", "--author", "Ann", "--task", "--yes", "--report", str(report), "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["report"]["complete"] and tasks(run) == [("purge", "succeeded")]
    assert run("verify-report", str(report)).exit_code == 0
    assert [line.split("\t")[0] for line in run("list").stdout.splitlines()] == [kept]


def test_many_memories_are_erased_as_a_task_without_asking_for_it(run: Run, kept: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(erasure, "LARGE", 3)
    assert run("purge", "--author", "Bob", "--yes", "--no-report").exit_code == 0
    assert tasks(run) == []  # one memory needs no task
    assert run("purge", "--author", "Ann", "--yes", "--no-report").exit_code == 0
    assert tasks(run) == [("purge", "succeeded")] and run("list").stdout == ""


def test_a_task_goes_with_a_choice_alone(run: Run, kept: str):
    assert run("purge", kept, "--task", "--yes").exit_code == 64
    assert run("purge", "--everything", "--confirm", "default", "--task").exit_code == 64
