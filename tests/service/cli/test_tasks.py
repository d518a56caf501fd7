"""`muisti tasks` on a file without a server: a command that waits for a task works on it."""

import json
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.times import system_clock
from muisti.core.tasks.tasks import Submission
from tests.service.conftest import Run
from tests.stores import at

LINES = (
    b'{"type": "muisti", "format": 2}\n',
    *(b'{"type": "memory", "memory": {"id": "0190a0b0-0000-7000-8000-%012d", "content": "m %d"}}\n' % (n, n)
      for n in range(12)),
    b'{"type": "end", "lines": 13}\n',
)  # fmt: skip
BAD = (LINES[0], b'{"type": "memory", "memory": {"id": "x", "content": "bad"}}\n', b'{"type": "end", "lines": 2}\n')


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "notes" / "muisti.db"


def queued(database: Path, lines: tuple[bytes, ...] = LINES) -> str:
    """Leave an import in a file, as a process that ends early does; return the id of its task."""
    with Engine(at(database).open(), None, system_clock) as engine:
        begun = engine.tasks.begin("default", "import", {"atomic": True}, OWNER)
        assert isinstance(begun, Submission)
        begun.add_blob("lines", lines)
        return begun.end(len(lines)).id


def test_a_task_in_a_file_is_listed_and_done_by_who_watches_it(run: Run, database: Path):
    where = ("--database", str(database), "--space", "default")
    task = queued(database)
    listed = run("tasks", "list", *where)
    assert listed.stdout.startswith(f"{task}\timport\tqueued\t0\t14\t0\t")
    watched = run("tasks", "watch", task, *where)
    assert watched.exit_code == 0, watched.stderr
    assert watched.stdout.startswith(f"{task}\timport\tsucceeded\t14\t14\t0\t")
    shown = json.loads(run("tasks", "show", task, "--json", *where).stdout)
    assert (shown["state"], shown["result"]["created"]) == ("succeeded", 12)
    assert json.loads(run("stats", "--json", *where).stdout)["memories"] == 12
    assert run("tasks", "list", "--state", "queued", *where).stdout == ""


def test_a_task_that_fails_fails_the_command(run: Run, database: Path):
    where = ("--database", str(database), "--space", "default")
    watched = run("tasks", "watch", queued(database, BAD), *where)
    assert watched.exit_code == 1
    assert "\tfailed\t" in watched.stdout


def test_a_cancelled_task_is_not_done(run: Run, database: Path):
    where = ("--database", str(database), "--space", "default")
    task = queued(database)
    for words in (("tasks", "cancel", task, "--dry-run"), ("tasks", "cancel", task), ("tasks", "cancel", task)):
        assert run(*words, *where).exit_code == 0
    assert "\tcancelled\t" in run("tasks", "show", task, *where).stdout
    assert run("tasks", "watch", task, *where).exit_code == 1


def test_an_unknown_task_is_not_found(run: Run, database: Path):
    queued(database)
    result = run("tasks", "show", "unknown", "--database", str(database), "--space", "default")
    assert result.exit_code == 1 and "unknown" in result.stderr
