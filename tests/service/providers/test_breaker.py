"""The circuit breaker: refuses after failures in a row, longer each time, and lets one try after that."""

from muisti.service.providers.posting import FAILURES, FIRST_SECONDS, LONGEST_SECONDS, Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_refuses_after_failures_in_a_row_and_longer_each_time():
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(FAILURES - 1):
        breaker.failed("500")
        assert breaker.refusing is None
    waits: list[float] = []
    for _ in range(8):
        breaker.failed("500")
        assert breaker.refusing == "500"
        began = clock.now
        while breaker.refusing is not None:
            clock.now += 0.5
        waits.append(clock.now - began)
    assert waits[:3] == [FIRST_SECONDS, 2 * FIRST_SECONDS, 4 * FIRST_SECONDS]
    assert waits[-1] == LONGEST_SECONDS


def test_a_success_forgets_the_failures():
    breaker = Breaker(Clock())
    for _ in range(FAILURES):
        breaker.failed("500")
    breaker.succeeded()
    assert breaker.refusing is None
    breaker.failed("500")
    assert breaker.refusing is None


def test_the_other_side_may_ask_to_be_left_alone():
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("429", wait=10.0)
    assert breaker.refusing == "429"
    clock.now += 10.0
    assert breaker.refusing is None
    breaker.failed("429", wait=10_000.0)
    clock.now += LONGEST_SECONDS
    assert breaker.refusing is None
