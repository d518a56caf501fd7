"""Three Muistis, one primary, two replicas: whatever is killed, what was acknowledged is seen by all, once."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from tests.cluster.clients import Clients
from tests.cluster.conftest import Cluster

pytestmark = pytest.mark.prove


USERS = 16
PAUSE_SECONDS = 0.7  # between two kills


@pytest.fixture
def seconds(request: pytest.FixtureRequest) -> float:
    return request.config.getoption("cluster_seconds")


def live(cluster: Cluster, space: str, seconds: float) -> Clients:
    made = httpx.post(f"{cluster.servers[0].url}/v1/spaces", json={"name": space}, trust_env=False)
    assert made.status_code == 201
    clients = Clients([server.url for server in cluster.servers], space)
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(USERS) as pool:
        for outcome in [pool.submit(clients.use, seed, until) for seed in range(USERS)]:
            outcome.result()
    return clients


def test_every_acknowledged_write_is_seen_by_every_later_read_that_asks_for_it(cluster: Cluster, seconds: float):
    with closing(live(cluster, "calm", seconds)) as clients:
        clients.judge()


@pytest.mark.timeout(600)
def test_kill_9_of_any_process_costs_clients_no_more_than_retries(cluster: Cluster, seconds: float):
    """Each process is killed in turn, more than once, while sixteen users go on."""
    over = threading.Event()
    killed: list[str] = []

    def kill() -> None:
        rng = random.Random(5)
        processes = [*cluster.databases, *cluster.servers]
        while not over.is_set() or len(killed) < len(processes):
            rng.shuffle(processes)
            for process in processes:
                process.kill()
                killed.append(type(process).__name__)
                process.start()
                if over.wait(PAUSE_SECONDS) and len(killed) >= len(processes):
                    return

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        clients = live(cluster, "killed", seconds)
    finally:
        over.set()
        killer.join()
    with closing(clients):
        clients.judge()
    assert set(killed) == {"Sqld", "Muisti"}
