"""Several processes that make one database at the same moment."""

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE

import pytest

from muisti.core.engine import Engine
from muisti.core.store.database import Statement
from muisti.core.store.file.database import FileDatabase
from tests.durability.server import ROOT

pytestmark = pytest.mark.prove


# Opens the databases named on its input, one a line, adds to each a memory and says its id.
OPENER = """
import sys, time
from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.core.store.file.database import FileDatabase
for line in sys.stdin:
    path, name = line.split()
    with Engine(FileDatabase(path), None, lambda: time.time_ns() // 1000) as engine:
        print(engine.owner.write.add("default", [Draft(content=name)]).memories[0].id, flush=True)
"""
PROCESSES = 4
FILES = 40


def test_processes_that_make_a_database_together_all_write_to_it(folder: Path):
    with ExitStack() as stack:
        command = [sys.executable, "-c", OPENER]
        openers = [
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True))
            for _ in range(PROCESSES)
        ]
        for number in range(FILES):
            path = folder / f"{number}.db"
            written = {f"from-{each}" for each in range(PROCESSES)}
            for each, opener in enumerate(openers):
                assert opener.stdin is not None
                opener.stdin.write(f"{path} from-{each}\n")
                opener.stdin.flush()
            for opener in openers:
                assert opener.stdout is not None and opener.stdout.readline(), "a process has ended"
            database = FileDatabase(path)
            assert database.read([Statement("PRAGMA integrity_check")]) == [[("ok",)]]
            with Engine(database, None, lambda: time.time_ns() // 1000) as engine:
                assert {memory.content for memory in engine.owner.read.list("default").items} == written
        for opener in openers:
            opener.communicate()
