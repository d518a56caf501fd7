"""A server process that ends with its context."""

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

STARTING = 180.0  # seconds
WINDOW = 5.0  # seconds in which a process at rest hardly works; longer than any pause between two steps of one task
IDLE = 0.05  # of a processor
RESTING = 3_600.0  # seconds until a process that goes on working is given up
PROCESS_CLOCK = (
    2  # what Linux counts: all threads; the rest of a clock's number is the process, see clock_getcpuclockid
)


@contextmanager
def running(
    command: Sequence[str], environment: Mapping[str, str], ready: str, log: Path = Path(os.devnull)
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process with this environment on top of ours (without settings of Muisti), once the URL `ready` answers."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env={**inherited, **environment}, stdout=subprocess.DEVNULL, stderr=output)
    try:
        _wait(ready, process)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def resident(pid: int) -> int:
    """Bytes in memory of a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    below = [int(child) for child in children.read_text().split()] if children.exists() else []
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(resident(child) for child in below)


def worked(pid: int) -> float:
    """Seconds of processor time of a process, in its own code and in the system's, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | PROCESS_CLOCK)


def rested(*pids: int) -> None:
    """Wait until none of the processes works any more, so that no background task is measured with the requests.

    A graph of 100,000 new memories takes minutes. Raises `TimeoutError` after an hour.
    """
    give_up = time.monotonic() + RESTING
    before = {pid: worked(pid) for pid in pids}
    while before:
        if time.monotonic() > give_up:
            raise TimeoutError(f"after {RESTING:,.0f} s these processes still work: {[*before]}")
        time.sleep(WINDOW)
        now = {pid: worked(pid) for pid in before}
        before = {pid: now[pid] for pid in now if now[pid] - before[pid] > IDLE * WINDOW}


@contextmanager
def apart(*pids: int) -> Iterator[None]:
    """Pin this process to one processor and the others to the rest, if there are several, while the context is open.

    So the measured effect is the server's, and not that of the clients on each other.
    """
    processors = os.sched_getaffinity(0)
    ours = {max(processors)}
    if len(processors) > 1:
        _keep_to(os.getpid(), ours)
        for pid in pids:
            _keep_to(pid, processors - ours)
    try:
        yield
    finally:
        _keep_to(os.getpid(), processors)


def _keep_to(pid: int, processors: set[int]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), processors)


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + STARTING
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with exit code {process.returncode} before it was ready")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.02)
    raise TimeoutError(f"{url} did not answer within {STARTING:.0f} s")
