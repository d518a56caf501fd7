"""A primary, a replica, and two Muistis that share them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from deploy.cluster.muisti import Muisti
from deploy.cluster.sqld import Sqld


class Four(NamedTuple):
    """The running processes: `one` uses only the primary, `two` reads from the replica."""

    primary: Sqld
    replica: Sqld
    one: Muisti
    two: Muisti


@contextmanager
def four(folder: Path, ports: tuple[int, int] = (0, 0), **settings: str) -> Iterator[Four]:
    """Start all four on loopback, with data and logs in the folder; leaving ends them.

    `settings` are of both Muistis.
    """
    with ExitStack() as running:
        primary = running.enter_context(Sqld(folder / "primary"))
        replica = running.enter_context(Sqld(folder / "replica", primary=primary))
        shared = {"database_url": primary.url, "database_namespace": "default", **settings}
        one = Muisti(folder / "one", port=ports[0], **shared)
        two = Muisti(folder / "two", port=ports[1], database_replica_url=replica.url, **shared)
        yield Four(primary, replica, running.enter_context(one), running.enter_context(two))
