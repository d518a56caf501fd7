"""The cost model and the simulation, against arithmetic and against queueing theory."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.scale import constants, model
from loadtests.scale.constants import Constants, Shared, Size
from loadtests.scale.simulate import Costs, Replica, Tenants, miss_share, simulated


def size(memories: int, search: float, load: float) -> Size:
    return Size(memories=memories, search=search, load=load, index=1_000 * memories, file=3_000 * memories)


@pytest.fixture
def known() -> Constants:
    return Constants(
        machine={},
        measured=[
            size(1_000, 0.001, 0.02), size(8_000, 0.0015, 0.16),
            size(30_000, 0.002, 0.3), size(1_000_000, 0.012, 5.0),
        ],
        checks=[],
        shared=Shared(tenants=10, memories=1_000, held=3, skew=1.0, searches=1, misses=0.5, search=0.01),
        http_search=0.001,
        http_write=0.001,
        writes_per_second=800,
        remote_load=0.1,
        remote_writes_per_second=300,
        base_bytes=100_000_000,
    )  # fmt: skip


def test_a_line_goes_through_its_ends_and_no_further_than_its_regime(known: Constants):
    for one in known.measured:
        assert known.predicted(one.memories) == one
    assert known.search(4_500) == pytest.approx(0.00125)
    assert known.search(515_000) == pytest.approx(0.007)
    assert known.index(10_000_000) == pytest.approx(1e10)


def lru(asked: Sequence[int], room: int) -> list[bool]:
    """Whether each was missing: the plainest list that forgets the one longest unused."""
    held: list[int] = []
    missed: list[bool] = []
    for one in asked:
        missed.append(one not in held)
        held = [*(other for other in held if other != one), one][-room:]
    return missed


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 6))
def test_what_is_forgotten_is_what_was_longest_unused(asked: list[int], room: int):
    assert miss_share(np.array(asked), room * 7.0, 7.0, counted_from=0) == np.mean(lru(asked, room))


@pytest.mark.parametrize("busy", [0.3, 0.7])
def test_requests_wait_as_queueing_theory_says(busy: float):
    """M/D/1: requests that come at random to one core and take as long as each other (Pollaczek and Khinchine)."""
    takes, each = 0.01, Tenants(searches=1, writes=0, pause=1e-9)
    costs = Costs(search=takes, write=0.0, load=0.0, index=1.0)
    found = simulated(costs, each, Replica(1, 1), busy / takes, seconds=4_000.0)
    waits = busy * takes / (2 * (1 - busy))
    assert found.busy == pytest.approx(busy, rel=0.02)
    assert found.latencies.mean() == pytest.approx(takes + waits, rel=0.05)


def test_every_session_loads_once_while_memory_lasts_and_more_often_when_it_does_not():
    each, costs = Tenants(searches=10, writes=2, pause=1.0), Costs(0.001, 0.001, 0.02, 1e6)
    roomy, tight = (simulated(costs, each, Replica(2, memory), 5.0, seconds=500.0) for memory in (1 << 34, 10_000_000))
    assert roomy.misses == pytest.approx(1 / each.requests, rel=0.1)
    assert tight.misses > 3 * roomy.misses


def test_ten_times_the_tenants_need_ten_times_of_everything(known: Constants):
    small, large = (
        model.fleet(known, tenants, Tenants(), model.Traffic(), Replica()) for tenants in (1_000_000, 10_000_000)
    )
    for name in ("stored", "sessions", "requests", "writes", "cores", "awake"):
        assert getattr(large, name) == pytest.approx(10 * getattr(small, name))
    assert 9 * small.replicas < large.replicas <= 10 * small.replicas


def test_the_committed_constants_predict_what_was_held_out_within_a_fifth():
    found = constants.load()
    for one in found.checks:
        assert all(abs(off) <= 0.2 for off in constants.apart(found.predicted(one.memories), one).values())
    misses, search = model.shared(found)
    assert misses == pytest.approx(found.shared.misses, rel=0.2)
    assert search == pytest.approx(found.shared.search, rel=0.2)
