"""Threads of slow work pause while urgent requests are under way, and never for ever."""

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread

import pytest

from muisti.core.support import waiting
from muisti.core.support.waiting import Urgent, give_way, work_slowly

pytestmark = pytest.mark.one_store


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that take no time: the clock moves on instead."""
    found: list[float] = []
    monkeypatch.setattr(waiting.time, "sleep", found.append)
    monkeypatch.setattr(waiting.time, "monotonic", lambda: 1_000.0 + sum(found))
    return found


def apart(work: Callable[[], None]) -> None:
    thread = Thread(target=work)
    thread.start()
    thread.join()


def slowly() -> None:
    work_slowly()
    give_way()


def with_request(work: Callable[[Urgent], None]) -> None:
    def run() -> None:
        request = Urgent()
        try:
            work(request)
        finally:
            request.end()

    copy_context().run(run)


def test_slow_work_pauses_beside_an_urgent_request_for_a_while(pauses: list[float]):
    with_request(lambda _: apart(slowly))
    assert sum(pauses) == pytest.approx(waiting.PATIENCE, rel=0.1)


def test_a_pause_is_not_much_longer_than_the_work_before_it(pauses: list[float], monkeypatch: pytest.MonkeyPatch):
    def twice() -> None:
        slowly()
        first = sum(pauses)
        give_way()  # nothing was done in between
        assert sum(pauses) == first

    with_request(lambda _: apart(twice))


def test_other_threads_and_times_are_not_held(pauses: list[float]):
    with_request(lambda _: apart(give_way))
    apart(slowly)

    def only_waits(_: Urgent) -> None:
        with Urgent.waiting():
            apart(slowly)

    def has_ended(request: Urgent) -> None:
        request.end()
        with Urgent.waiting():
            apart(slowly)

    with_request(only_waits)
    with_request(has_ended)
    assert pauses == [] and Urgent.running == 0
