"""A real Muisti server in a process of its own, for as long as it is needed."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STARTING = 60.0  # seconds


@contextmanager
def serving(database: Path) -> Iterator[tuple[str, int]]:
    """A server on a free port of loopback; gives host and port once it is ready."""
    host, port = "127.0.0.1", _free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
    environment |= {"MUISTI_PORT": str(port), "MUISTI_DATABASE_URL": f"file:{database}", "MUISTI_LOG_LEVEL": "warning"}
    process = subprocess.Popen([sys.executable, "-m", "service"], env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(f"http://{host}:{port}/readyz", process)
        yield host, port
    finally:
        process.terminate()
        process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + STARTING
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with exit code {process.returncode} before it was ready")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise TimeoutError(f"{url} did not answer within {STARTING:.0f} s")
