"""A database whose writes never end: the probe of its container sees it, and few requests are left behind at it."""

import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import Statement
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from tests.remote.proxy import Proxy
from tests.stores import RemoteStore

DEPLOY = Path(__file__).parents[2] / "deploy"
PROBES = (DEPLOY / "kubernetes" / "sqld.yaml", DEPLOY / "helm" / "muisti" / "templates" / "sqld.yaml")
LATE = 124  # how `timeout` ends when time is over


def probe(file: Path, port: int, seconds: float) -> int:
    """Run the liveness probe of a file against a port, and return how it ended."""
    found = re.search(r"- >-\n((?: {18}.*\n)+)", file.read_text())
    assert found is not None
    script = " ".join(line.strip() for line in found[1].splitlines()).replace("/8080", f"/{port}")
    command = ["timeout", str(seconds), "bash", "-c", script]
    return subprocess.run(command, check=False, capture_output=True).returncode


@pytest.mark.parametrize("file", PROBES, ids=lambda file: file.parts[-2])
def test_the_probe_tells_a_server_that_writes_from_one_that_hangs(sqld: Sqld, file: Path):
    assert probe(file, sqld.port, 60) == 0
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert probe(file, silent.getsockname()[1], 0.5) == LATE


def test_a_write_without_time_left_is_not_sent(sqld: Sqld):
    namespace, sent = RemoteStore(sqld).namespace, list[None]()
    with Proxy(sqld.port, lambda: sent.append(None)) as proxy:
        database = RemoteDatabase(Server(proxy.url, Token(), namespace), seconds=1.0)
        before = len(sent)
        with database._turn_to_write(1.0), ThreadPoolExecutor(4) as threads:
            waiting = [threads.submit(database.write, [Statement("SELECT 1")]) for _ in range(4)]
            for one in waiting:
                with pytest.raises(StoreUnavailable, match="too many writes waiting"):
                    one.result()
        assert len(sent) == before
        assert database.write([Statement("SELECT 1")]) == [[(1,)]]
        database.close()
