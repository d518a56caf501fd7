"""mcp-memory-service: SQLite with sqlite-vec, ranked by vectors only.

It runs Muisti's model in process (`mcp_shim.py`), which is much faster than its own transformer, and compares every
new memory with all others.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from deploy.cluster.ports import free_ports
from loadtests.bed import Bed
from loadtests.http_load import Request
from loadtests.services.process import running
from loadtests.services.service import Running, Service
from muisti.core.embedding.encoder import SHIPPED

PYTHON = Path("build/mcp-memory-service/bin/python")
SHIM = Path(__file__).with_name("mcp_shim.py")
NAME = "memory.db"


def service(bed: Bed) -> Service | None:
    if not PYTHON.exists():
        return None
    data, seconds = bed.embedded.kept("mcp-memory-service", lambda path: _load(path, bed))
    many = bed.size > 10_000
    return Service(
        "mcp-memory-service",
        partial(serving, model=bed.model),
        data,
        seconds,
        searches=16 if many else 100,
        writes=4 if many else 30,
    )


@contextmanager
def serving(data: Path, model: str | None) -> Iterator[Running]:
    (port,) = free_ports(1)
    command = [str(PYTHON), str(SHIM), "serve", str(model or SHIPPED), str(port)]
    with running(command, _settings(data), f"http://127.0.0.1:{port}/api/health") as process:
        yield Running(
            port,
            process.pid,
            lambda question, _: Request("/api/search", json.dumps({"query": question, "n_results": 10}).encode(), 200),
            None,
            {"add": lambda _number, text, _: Request("/api/memories", json.dumps({"content": text}).encode(), 200)},
        )


def _load(data: Path, bed: Bed) -> None:
    data.mkdir(parents=True)
    texts = data / "texts.txt"
    texts.write_text("\n".join(bed.texts), "utf-8")
    subprocess.run(
        [PYTHON, SHIM, "load", bed.model or SHIPPED, texts], env=_settings(data), check=True, capture_output=True
    )
    texts.unlink()


def _settings(data: Path) -> dict[str, str]:
    return {
        "MCP_MEMORY_SQLITE_PATH": str(data / NAME),
        "MCP_MEMORY_BASE_DIR": str(data),
        "MCP_ALLOW_ANONYMOUS_ACCESS": "true",
        "MCP_MDNS_ENABLED": "false",
        "MCP_MEMORY_OFFLINE": "true",
        "OMP_NUM_THREADS": "1",
    }
