"""A cluster of processes: one primary, two replicas, and three Muistis, each reading from a different one."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from deploy.cluster.muisti import Muisti
from deploy.cluster.sqld import Sqld


@dataclass(frozen=True, slots=True)
class Cluster:
    """The running processes of a cluster."""

    databases: list[Sqld]
    servers: list[Muisti]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as running:
        primary = running.enter_context(Sqld(folder / "primary"))
        replicas = [running.enter_context(Sqld(folder / f"replica{n}", primary=primary)) for n in range(2)]
        shared = {"database_url": primary.url, "database_namespace": "default", "embeddings": "off"}
        servers = [running.enter_context(Muisti(folder / "muisti", **shared))]
        for n, replica in enumerate(replicas):
            near = shared | {"database_replica_url": replica.url}
            servers.append(running.enter_context(Muisti(folder / f"muisti{n}", **near)))
        yield Cluster([primary, *replicas], servers)
