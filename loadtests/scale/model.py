"""The cost model: resources of many tenants, and costs of one large tenant, from the measured constants."""

import math
from dataclasses import dataclass

from loadtests.scale.constants import Constants
from loadtests.scale.simulate import Costs, Replica, Tenants, miss_share, who_asks

DAY = 86_400
BUSY = 0.6  # of the cores, at most: above that waiting grows faster than work
DATABASE = 200e9  # bytes of one database: what is copied and restored within an hour or so


@dataclass(frozen=True, slots=True)
class Traffic:
    """Share of all tenants that is awake. `peak` is the busiest hour over the mean of the day."""

    active: float = 0.2  # of the tenants, on a day
    sessions: float = 3.0  # of an active tenant, on a day
    peak: float = 3.0

    def per_second(self, tenants: int) -> float:
        """New sessions a second at the peak."""
        return tenants * self.active * self.sessions * self.peak / DAY


@dataclass(frozen=True, slots=True)
class Fleet:
    """Resources that a number of tenants needs at the peak of the day."""

    tenants: int
    stored: float  # bytes
    sessions: float  # new ones a second
    requests: float  # a second
    writes: float  # a second
    cores: float  # busy
    awake: float  # bytes of the indexes of those who are in a session
    replicas: int
    limit: str  # what asks for the most replicas
    primaries: int
    primaries_limit: str


def fleet(constants: Constants, tenants: int, each: Tenants, traffic: Traffic, replica: Replica) -> Fleet:
    """Every session loads its index once, on the replica that all its requests are sent to."""
    costs = Costs.of(constants, each.memories)
    begun = traffic.per_second(tenants)
    cores = begun * (each.searches * costs.search + each.writes * costs.write + costs.load)
    awake = begun * each.requests * each.pause * costs.index
    by = {"processor": cores / (BUSY * replica.cores), "memory": awake / replica.memory}
    stored = tenants * constants.file(each.memories)
    writes = begun * each.writes
    primaries = {"size": stored / DATABASE, "writes": writes / (BUSY * constants.remote_writes_per_second)}
    return Fleet(
        tenants=tenants,
        stored=stored,
        sessions=begun,
        requests=begun * each.requests,
        writes=writes,
        cores=cores,
        awake=awake,
        replicas=max(math.ceil(max(by.values())), 1),
        limit=max(by, key=by.__getitem__),
        primaries=max(math.ceil(max(primaries.values())), 1),
        primaries_limit=max(primaries, key=primaries.__getitem__),
    )


@dataclass(frozen=True, slots=True)
class Alone:
    """One tenant of many memories: seconds and bytes."""

    memories: int
    search: float
    load: float
    index: float
    file: float
    searches_per_second: float  # of two cores


def alone(constants: Constants, memories: int, replica: Replica) -> Alone:
    search = constants.search(memories) + constants.http_search
    return Alone(
        memories=memories,
        search=search,
        load=constants.load(memories),
        index=constants.index(memories),
        file=constants.file(memories),
        searches_per_second=replica.cores * BUSY / search,
    )


def shared(constants: Constants) -> tuple[float, float]:
    """The share of searches that load, and the seconds of a search, predicted for `Constants.shared`."""
    told = constants.shared
    index = constants.index(told.memories)
    asking = who_asks(told.tenants, told.skew, told.searches * 2, seed=8)  # others than those who were measured
    misses = miss_share(asking, told.held * index, index, counted_from=told.searches)
    return misses, constants.search(told.memories) + misses * constants.load(told.memories)
