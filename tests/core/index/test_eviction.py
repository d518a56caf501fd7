"""Eviction by cost: the cheapest to load again by byte goes first, and nobody stays who is not used."""

from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests import simulation
from muisti.core.index.eviction import SPARE, Credits

KEYS = st.integers(0, 7)


@given(st.lists(st.one_of(KEYS, st.none(), st.tuples(KEYS))))
def test_of_equal_costs_the_least_recently_used_goes_first(steps: list[int | tuple[int] | None]):
    """A number uses a key, a number in brackets drops one, None asks for the cheapest."""
    credits, used = Credits[int](), OrderedDict[int, None]()
    for step in steps:
        if isinstance(step, int):
            used[step] = None
            used.move_to_end(step)
            credits.put(step, 3.0, 8)
        elif step is not None:
            used.pop(step[0], None)
            credits.drop(step[0])
        elif used:
            assert credits.pop_cheapest() == used.popitem(last=False)[0]
        else:
            with pytest.raises(IndexError):
                credits.pop_cheapest()


def test_the_costly_stays_while_it_is_used_now_and_then_and_goes_when_it_is_not():
    credits = Credits[str]()
    credits.put("costly", 9.0, 1)
    for number in range(8):
        credits.put(f"cheap {number}", 1.0, 1)
    assert [credits.pop_cheapest() for _ in range(8)] == [f"cheap {number}" for number in range(8)]
    gone = list[str]()
    for number in range(8, 40):
        credits.put(f"cheap {number}", 1.0, 1)
        gone.append(credits.pop_cheapest())
    assert "costly" in gone


def test_keys_that_come_and_go_leave_nothing():
    credits = Credits[int]()
    for number in range(10_000):
        credits.put(number, 1.0, 1)
        credits.drop(number)
    assert len(credits._heap) <= SPARE + 1 and not credits._rates


@pytest.mark.parametrize("workload", simulation.WORKLOADS)
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_loading_takes_no_longer_than_with_the_least_recently_used(workload: str, share: float):
    asked = simulation.WORKLOADS[workload](20_000)
    costly, recent = (simulation.loads(asked, share, policy) for policy in (Credits, simulation.Recent))
    assert costly.seconds <= recent.seconds and costly.misses <= recent.misses
