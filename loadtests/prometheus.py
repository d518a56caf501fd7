"""A Prometheus process: started with a configuration, queried by its HTTP API, and ended."""

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from deploy.cluster.ports import free_ports

START_SECONDS = 60.0


class PrometheusMissing(Exception):
    """There is none on this machine."""


class Prometheus:
    """One process. Leaving the context ends it."""

    def __init__(self, folder: Path, config: Path) -> None:
        """`folder` gets data and log."""
        self._folder, self._config = folder, config
        (self._port,) = free_ports(1)

    def __enter__(self) -> "Prometheus":
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    program("prometheus"),
                    *("--config.file", str(self._config), "--storage.tsdb.path", str(self._folder / "data")),
                    *("--web.listen-address", f"127.0.0.1:{self._port}"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        ends = time.monotonic() + START_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > ends:
                self.__exit__()
                raise PrometheusMissing(f"it does not start: {(self._folder / 'prometheus.log').read_text()[-500:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def at(self, expression: str, when: float) -> list[dict[str, Any]]:
        """The series of an expression at a time, in seconds since 1970."""
        return self._ask("query", query=expression, time=when)["result"]

    def between(self, expression: str, begin: float, end: float, step: float) -> list[dict[str, Any]]:
        """The series of an expression from a time to another."""
        return self._ask("query_range", query=expression, start=begin, end=end, step=step)["result"]

    def rules(self) -> list[dict[str, Any]]:
        """The rules with what became of them."""
        return [rule for group in self._ask("rules")["groups"] for rule in group["rules"]]

    def _ask(self, what: str, **parameters: object) -> dict[str, Any]:
        query = urllib.parse.urlencode(parameters)
        return json.loads(get(f"http://127.0.0.1:{self._port}/api/v1/{what}?{query}"))["data"]

    def _ready(self) -> bool:
        try:
            return bool(get(f"http://127.0.0.1:{self._port}/-/ready"))
        except OSError:
            return False


def program(name: str) -> str:
    """Where it is.

    Raises:
        PrometheusMissing: nowhere.
    """
    found = shutil.which(name)
    if found is None:
        raise PrometheusMissing(f"there is no {name} here; Debian's package prometheus has it")
    return found


def promtool(*arguments: str, given: bytes = b"") -> None:
    """Check something with it. Raises CalledProcessError, and says why, when it finds a fault."""
    subprocess.run([program("promtool"), "check", *arguments], input=given, check=True)


def get(url: str, **headers: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback goes through no proxy
    with opener.open(urllib.request.Request(url, headers=headers), timeout=30) as answer:
        return answer.read()
