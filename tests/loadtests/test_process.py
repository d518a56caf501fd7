"""Waiting until a process rests."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loadtests.services import process
from loadtests.services.process import rested, worked

WORKS = """
import time
end = time.process_time() + {work}
while time.process_time() < end:
    pass
time.sleep(600)
"""


@contextmanager
def working(seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process that works so many seconds, and then rests."""
    with subprocess.Popen([sys.executable, "-c", WORKS.format(work=seconds)]) as running:
        try:
            yield running
        finally:
            running.kill()


def test_it_waits_until_all_of_them_have_done_their_work(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "WINDOW", 0.3)
    with working(1.0) as one, working(0.0) as other:
        rested(other.pid, one.pid)
        assert worked(one.pid) >= 1.0
        before = worked(one.pid) + worked(other.pid)
        time.sleep(0.2)
        assert worked(one.pid) + worked(other.pid) == before


def test_one_that_never_rests_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "WINDOW", 0.1)
    monkeypatch.setattr(process, "RESTING", 0.3)
    with working(60.0) as one, pytest.raises(TimeoutError, match=str(one.pid)):
        rested(one.pid)
