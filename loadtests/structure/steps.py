"""Calls of functions, modules entered and changes of module of one plain request, counted in a real server."""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deploy.cluster.ports import free_ports
from loadtests.http_load import Request, run
from loadtests.mcp import searches, texts
from loadtests.services.process import running
from loadtests.structure.counted import COUNTS

STORED, REQUESTS = 500, 100
SERVER = [sys.executable, "-m", "loadtests.structure.counted"]


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of one request: means of calls and switches; modules that at least half of the requests entered."""

    request: str
    calls: float
    modules: int
    switches: float


def count() -> list[Steps]:
    """Start a server, store some memories, and count an add and a search."""
    with tempfile.TemporaryDirectory() as folder:
        path, (port,) = Path(folder) / "counts", free_ports(1)
        settings = {"MUISTI_PORT": str(port), "MUISTI_EMBEDDINGS": "off", COUNTS: str(path)}
        settings["MUISTI_DATABASE_URL"] = f"file:{folder}/muisti.db"
        with running(SERVER, settings, f"http://127.0.0.1:{port}/readyz") as server:
            run(port, adds(texts(STORED, 30, 0)), 1)
            run(port, searches(texts(50, 8, 1)), 1)
            return [
                _counted("plain add", port, server.pid, path, adds(texts(REQUESTS, 30, 2))),
                _counted("plain search", port, server.pid, path, searches(texts(REQUESTS, 8, 3))),
            ]


def adds(contents: Sequence[str]) -> list[Request]:
    return [Request("/v1/spaces/default/memories", json.dumps({"content": each}).encode(), 201) for each in contents]


def _counted(name: str, port: int, process: int, path: Path, requests: Sequence[Request]) -> Steps:
    path.unlink(missing_ok=True)
    os.kill(process, signal.SIGUSR1)
    load = run(port, requests, 1)
    if load.failures:
        raise SystemExit(f"{load.failures} of {len(requests)} requests failed: {load.heads[0]!r}")
    os.kill(process, signal.SIGUSR2)
    while not path.exists() or not path.read_text():
        time.sleep(0.05)
    found = json.loads(path.read_text())
    entered = [module for module, calls in found["calls"].items() if calls >= len(requests) / 2]
    return Steps(name, sum(found["calls"].values()) / len(requests), len(entered), found["switches"] / len(requests))
