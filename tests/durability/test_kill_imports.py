"""kill -9 of `muisti import` on a file. Started again, it brings every memory once."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muisti.core.engine import Engine
from tests.core.fakes import Clock, WordEncoder
from tests.durability.server import ROOT
from tests.service.formats.importers.bringing import listed
from tests.stores import at

pytestmark = pytest.mark.prove


MEMORIES = 700  # of each workspace; more than one batch of an import
STAGED = "SELECT count(*) FROM versions v, spaces s WHERE s.id = v.space_id AND s.name LIKE '~%'"
MOVED = "SELECT count(*) FROM versions v, spaces s WHERE s.id = v.space_id AND s.name NOT LIKE '~%'"

# When the process is killed: as soon as more rows than these are staged, and are in a space.
MOMENTS = {"the first batch is staged": (0, -1), "much is staged": (400, -1), "one space is done": (0, 0)}


def started(folder: Path) -> "subprocess.Popen[str]":
    ours = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    environment = ours | {"PYTHONPATH": str(ROOT), "MUISTI_EMBEDDINGS": "off", "HOME": str(folder)}
    main = "from muisti.service.cli import main; main()"
    command = [sys.executable, "-c", main, "--database", str(folder / "muisti.db"), "import", "--json"]
    return subprocess.Popen(
        [*command, str(folder / "graph.json")], env=environment, cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def count(folder: Path, query: str) -> int:
    path = folder / "muisti.db"
    if not path.exists():
        return -1
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            return connection.execute(query).fetchone()[0]
    except sqlite3.OperationalError:  # the tables are being made
        return -1


def killed(folder: Path, staged: int, moved: int) -> None:
    """Import the file, and kill the process at a moment."""
    process = started(folder)
    while not (count(folder, STAGED) > staged and count(folder, MOVED) > moved):
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def imported(folder: Path) -> list[dict[str, Any]]:
    process = started(folder)
    out, error = process.communicate()
    assert process.returncode == 0, error
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_import_of_a_killed_process_is_done_once(moment: str, tmp_path: Path):
    nodes = [
        {"id": f"{home}-{number}", "labels": ["Memory"], "properties": {
            "id": f"{home}-{number}", "text": f"{home} note {number}", "workspace_id": home}}
        for home in ("one", "two") for number in range(MEMORIES)
    ]  # fmt: skip
    (tmp_path / "graph.json").write_text(json.dumps({"nodes": nodes, "edges": []}), "utf-8")
    killed(tmp_path, *MOMENTS[moment])
    reports = imported(tmp_path)
    done = MEMORIES if moment == "one space is done" else 0
    assert [(one["space"], one["created"], one["skipped"]) for one in reports] == [
        ("one", MEMORIES - done, {"exists": done} if done else {}),
        ("two", MEMORIES, {}),
    ]
    assert [(one["created"], one["skipped"]) for one in imported(tmp_path)] == [(0, {"exists": MEMORIES})] * 2
    with Engine(at(tmp_path / "muisti.db").open(), WordEncoder(), Clock()) as engine:
        assert [engine.owner.read.stats(space).memories for space in ("one", "two")] == [MEMORIES] * 2
        texts = {text for space in ("one", "two") for text in listed(engine, space)}
    assert texts == {f"{home} note {number}" for home in ("one", "two") for number in range(MEMORIES)}
