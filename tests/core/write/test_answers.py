"""Stored answers, from which repeated requests are answered."""

import subprocess
import sys

import pytest

FIRST_USE = """
import sys, threading
from muisti.core.write.calls import read_answer
sys.setswitchinterval(1e-6)
start = threading.Barrier(16)
def one():
    start.wait()
    assert read_answer(b'{"memories": [["0a", 1]], "created": true}').created
threads = [threading.Thread(target=one) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize("attempt", range(8))
def test_many_threads_may_be_the_first_to_read_an_answer(attempt: int):
    """After a restart, clients repeat their unanswered requests, all at the same time."""
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
