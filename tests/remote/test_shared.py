"""A server that many tests share is started again when it has ended, and the report names the test that lost it."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTS = """
import os, signal, urllib.request
from tests.remote.conftest import replica
from tests.stores import RemoteStore, migrated

kept = []

def works(sqld):
    store = RemoteStore(sqld)
    migrated(store).close()
    return store

def killed(sqld):
    os.kill(sqld.pid, signal.SIGKILL)
    os.waitid(os.P_PID, sqld.pid, os.WEXITED | os.WNOWAIT)

def test_fails(sqld):
    kept.append(works(sqld))
    killed(sqld)
    urllib.request.urlopen(sqld.url)

def test_passes_although(sqld):
    migrated(kept[0]).close()
    works(sqld)
    killed(sqld)

def test_of_a_replica(sqld, replica):
    works(sqld)
    killed(replica)

def test_last(sqld, replica):
    store = RemoteStore(sqld, replica)
    database = store.open()
    assert database.read([]) == []
    database.close()
    assert sqld.ended is replica.ended is None
"""


def test_a_server_that_ends_fails_one_test_only_and_is_named(tmp_path: Path):
    file = tmp_path / "test_three.py"
    file.write_text(TESTS)
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)], cwd=ROOT, env=os.environ, capture_output=True, text=True
    )
    assert "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    summary = done.stdout[done.stdout.rindex("test_three.py::test_fails: During") :]
    named = re.findall(r"::(\w+): During this test: sqld ended with -9", summary)
    assert named == ["test_fails", "test_of_a_replica", "test_passes_although"]
