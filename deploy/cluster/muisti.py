"""Muisti in a process of its own, on a remote database."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from deploy.cluster.ports import free_ports, is_free

ROOT = Path(__file__).parents[2]
START_SECONDS = 240.0


class NotStarted(Exception):
    """It cannot run here."""


class Muisti:
    """`python -m muisti.service`. Leaving the context ends it; `kill` and `start` may be called in between."""

    def __init__(self, folder: Path, *, port: int = 0, **settings: str) -> None:
        """`settings` by field name; `folder` gets the log. Port 0 means any.

        `path` is where Python finds the packages at the next start: that of another version, for an upgrade.

        Raises:
            NotStarted: the port is taken.
        """
        self.path = ROOT
        self._folder = folder
        self._settings = settings
        if port and not is_free(port):
            raise NotStarted(f"port {port} cannot be had: something listens there")
        self.port = port or free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Muisti":
        try:
            self.start()
        except BaseException:  # Ctrl-C too: nothing is left running
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def log(self) -> Path:
        return self._folder / "muisti.log"

    def start(self) -> None:
        """Start the server, and return when it reports that it is ready.

        Raises:
            NotStarted: the server ended or was not ready in time.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        ours = {name: value for name, value in os.environ.items() if not name.startswith("MUISTI_")}
        given = {f"MUISTI_{name.upper()}": value for name, value in self._settings.items()}
        environment = ours | {"PYTHONPATH": str(self.path), "MUISTI_PORT": str(self.port)} | given
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "muisti.service"],
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ends = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends:
                raise NotStarted(f"Muisti does not start; {self.log} ends with {self.log.read_bytes()[-500:]!r}")
            time.sleep(0.05)

    def stop(self) -> None:
        """SIGTERM: requests in flight finish."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, as the kernel does without asking."""
        self._end(signal.SIGKILL)

    def _answers(self) -> bool:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback goes through no proxy
        try:
            with opener.open(f"{self.url}/readyz", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            if how is signal.SIGKILL:
                with suppress(ProcessLookupError):  # it has ended by itself
                    os.killpg(self._process.pid, how)  # its workers with it: nobody else would end them
            else:
                self._process.send_signal(how)
            self._process.wait()
            self._process = None
