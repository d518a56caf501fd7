"""Simulation of a replica that many tenants share: arrivals, indexes in memory, and waiting times."""

import heapq
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from loadtests.scale.constants import Constants

READY = 0.2  # of a run, before anything is counted: the memory fills first


@dataclass(frozen=True, slots=True)
class Tenants:
    """Workload of a tenant. In a session one agent searches and writes in one space, with pauses."""

    memories: int = 1_000
    searches: int = 20  # of a session
    writes: int = 5
    pause: float = 20.0  # seconds between two requests of a session, on average

    @property
    def requests(self) -> int:
        return self.searches + self.writes


@dataclass(frozen=True, slots=True)
class Replica:
    """A machine: cores that work, and bytes for indexes."""

    cores: int = 2
    memory: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds of each request that was counted, the share that had to load an index, and how busy the cores were."""

    latencies: np.ndarray
    misses: float
    busy: float

    def percentile(self, percent: float) -> float:
        return float(np.percentile(self.latencies, percent))


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of processor time, and bytes, of the space of one tenant."""

    search: float
    write: float
    load: float
    index: float

    @classmethod
    def of(cls, constants: Constants, memories: int) -> "Costs":
        search = constants.search(memories) + constants.http_search
        return cls(search, constants.http_write, constants.load(memories), constants.index(memories))


class Cache:
    """Which spaces are in memory: the least recently used goes first, as in `core.index.cache`."""

    def __init__(self, capacity: float, size: float) -> None:
        self._most = max(int(capacity // size), 1)
        self._open: OrderedDict[int, None] = OrderedDict()

    def misses(self, tenant: int) -> bool:
        """Whether the space has to be loaded for this request."""
        if tenant in self._open:
            self._open.move_to_end(tenant)
            return False
        self._open[tenant] = None
        if len(self._open) > self._most:
            self._open.popitem(last=False)
        return True


def sessions(tenants: Tenants, per_second: float, seconds: float, seed: int) -> Iterator[tuple[float, int, bool]]:
    """Yield for each request its time, its session, and whether it writes, in the order of time.

    Sessions begin at random (Poisson), each of a tenant of its own: of many millions two seldom meet on one replica.
    """
    rng = np.random.default_rng(seed)
    count = rng.poisson(per_second * seconds)
    pauses = rng.exponential(tenants.pause, (count, tenants.requests))
    times = rng.uniform(0, seconds, (count, 1)) + np.cumsum(pauses, axis=1)
    writes = rng.random((count, tenants.requests)) < tenants.writes / tenants.requests
    for place in np.argsort(times, axis=None):
        session, number = divmod(int(place), tenants.requests)
        yield float(times[session, number]), session, bool(writes[session, number])


def simulated(
    costs: Costs, tenants: Tenants, replica: Replica, per_second: float, *, seconds: float, seed: int = 1
) -> Outcome:
    """Simulate a replica under `per_second` new sessions a second. It answers requests in the order of arrival."""
    cache = Cache(replica.memory, costs.index)
    free = [0.0] * replica.cores
    latencies: list[float] = []
    missed, worked, first = 0, 0.0, READY * seconds
    for at, tenant, writes in sessions(tenants, per_second, seconds, seed):
        takes = costs.write if writes else costs.search
        loads = not writes and cache.misses(tenant)  # a write with on_conflict=keep needs no index
        takes += costs.load if loads else 0.0
        begins = max(at, heapq.heappop(free))
        heapq.heappush(free, begins + takes)
        if first <= at <= seconds:
            latencies.append(begins + takes - at)
            missed += loads
            worked += takes
    return Outcome(np.array(latencies), missed / len(latencies), worked / (seconds - first) / replica.cores)


def who_asks(tenants: int, skew: float, requests: int, seed: int = 7) -> np.ndarray:
    """The tenant of each request, by Zipf's law: the n-th asks 1 / n ** skew as often as the first."""
    weights = 1 / np.arange(1, tenants + 1) ** skew
    return np.random.default_rng(seed).choice(tenants, requests, p=weights / weights.sum())


def miss_share(tenants: np.ndarray, capacity: float, size: float, *, counted_from: int) -> float:
    """Return the share of requests whose space is not in memory, given the tenant of each request."""
    cache = Cache(capacity, size)
    missed = [cache.misses(int(tenant)) for tenant in tenants]
    return float(np.mean(missed[counted_from:]))
