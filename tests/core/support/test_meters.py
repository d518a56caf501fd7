"""Counters and histograms lose nothing, whichever threads add to them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.support.meters import Counter, Histogram

pytestmark = pytest.mark.one_store


def test_threads_lose_no_count():
    counter = Counter(("known",))
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(lambda: [counter.add("a") for _ in range(1_000)]) for _ in range(4)]:
            done.result()
    assert counter.read() == {("known",): 0, ("a",): 4_000}


@given(st.lists(st.floats(0, 20)))
def test_a_histogram_counts_the_values_up_to_each_bound(values: list[float]):
    bounds = (1, 2, 4, 8)
    histogram = Histogram(bounds, ())
    for value in values:
        histogram.add(value)
    spread = histogram.read()[()]
    assert spread.up_to == (*(sum(value <= bound for value in values) for bound in bounds), len(values))
    assert spread.total == pytest.approx(sum(values))
