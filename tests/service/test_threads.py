"""What worker threads read for the first time, they may read at once."""

import subprocess
import sys

import pytest

FIRST_USE = """
import sys, threading
import service.batch
import msgspec
sys.setswitchinterval(1e-6)
start = threading.Barrier(16)
def one():
    start.wait()
    assert service.batch.read_items([msgspec.Raw(b'{"content": "a"}')])[0].content == "a"
threads = [threading.Thread(target=one) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize("attempt", range(2))
def test_many_threads_may_be_the_first_to_read_the_items_of_a_batch(attempt: int):
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
