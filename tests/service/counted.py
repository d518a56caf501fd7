"""`python -m tests.service.counted`: the server, which on SIGUSR1 counts its live objects, as JSON on stderr."""

import asyncio
import contextlib
import gc
import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

from muisti.service.app import server
from muisti.service.settings import load

# Modules of what a request makes.
OF_REQUESTS = (
    "mcp.", "anyio.", "starlette.", "litestar.", "uvicorn.", "muisti.service.",
)  # fmt: skip

POOLED = re.compile(r"muisti-(?:search|store|slow|vital)-\d+")  # the threads of the pools, which start as calls meet
OF_DATABASE = (".db", ".db-wal", ".db-shm")  # its readers open them as they are needed


def open_files() -> list[str]:
    names: list[str] = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the listing itself had one open
            names.append(os.readlink(f"/proc/self/fd/{number}"))
    return names


def threads() -> int:
    """Count the threads, without one of each name of the pools: these are bounded, and a second pool is a leak."""
    names = [thread.name for thread in threading.enumerate()]
    return len(names) - len({name for name in names if POOLED.fullmatch(name)})


def counted() -> dict[str, int]:
    gc.collect()
    live = gc.get_objects()
    kinds = Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in live)
    status = Path("/proc/self/status").read_text()
    resident = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert resident is not None
    return {
        "tasks": sum(isinstance(one, asyncio.Task) and not one.done() for one in live),
        "files": sum(not name.endswith(OF_DATABASE) for name in open_files()),
        "threads": threads(),
        "resident": int(resident[1]) * 1024,
    } | {kind: count for kind, count in kinds.items() if kind.startswith(OF_REQUESTS)}


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, lambda *_: sys.stderr.write(json.dumps(counted()) + "\n"))
    server.run(load(os.environ, None, {}))
