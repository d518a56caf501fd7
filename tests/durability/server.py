"""A real server process, which a test may kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

from deploy.cluster.ports import free_ports

ROOT = Path(__file__).parents[2]


class Server:
    """`python -m muisti.service` on one file, without embeddings. Leaving the context ends it in good order."""

    def __init__(self, database: Path) -> None:
        self._database = database
        (self.port,) = free_ports(1)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, and return when the server says that it is ready."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
        environment = ours | {
            "PYTHONPATH": str(ROOT), "MUISTI_DATABASE_URL": f"file:{self._database}", "MUISTI_PORT": str(self.port),
            "MUISTI_EMBEDDINGS": "off", "MUISTI_LOG_LEVEL": "error",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", "muisti.service"], env=environment, cwd=self._database.parent, start_new_session=True
        )
        with httpx.Client(trust_env=False) as client:
            while not self._is_ready(client):
                assert self._process.poll() is None, f"the server ended with {self._process.returncode}"
                time.sleep(0.02)

    def kill(self) -> None:
        """Send SIGKILL to the server and all its children, as the kernel's OOM killer does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, how)
            self._process.wait()
            self._process = None

    def _is_ready(self, client: httpx.Client) -> bool:
        try:
            return client.get(f"{self.url}/readyz").status_code == 200
        except httpx.TransportError:
            return False


def rare_word(number: int) -> str:
    """A word that stands for a number, and that no stemmer changes.

    >>> rare_word(190)
    'bbbcmb'
    """
    return f"{number:06}".translate(str.maketrans("0123456789", "bcdfghjklm"))
