"""Code that may not wait takes only what is free."""

import time
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from threading import Event

import pytest

from muisti.core.support.waiting import Lock, Turns, WouldWait, may_wait, refuse_long, without_waiting, working_for

pytestmark = pytest.mark.one_store


def test_code_that_may_not_wait_takes_only_what_is_free():
    lock = Lock()

    def taken() -> bool:
        with without_waiting(), without_waiting():
            assert not may_wait()
            try:
                with lock:
                    return True
            except WouldWait:
                return False

    with ThreadPoolExecutor(1) as threads:
        with lock:
            waiting = threads.submit(taken)
            time.sleep(0.1)
            came_back = waiting.done()
        assert came_back and not waiting.result()
        assert threads.submit(taken).result() and may_wait()


def test_long_work_is_refused_there_alone_and_an_error_inside_leaves_the_thread_as_it_was():
    refuse_long()
    with without_waiting(), pytest.raises(WouldWait):
        refuse_long()
    refuse_long()
    with pytest.raises(ZeroDivisionError), without_waiting():
        raise ZeroDivisionError
    assert may_wait()


def test_those_who_work_for_one_space_leave_a_place_to_the_others():
    turns, entered, leave = Turns(3), Queue[str](), Event()

    def work(space: str) -> None:
        with working_for(space), turns.turn():
            entered.put(space)
            leave.wait()

    with ThreadPoolExecutor(8) as threads:
        for _ in range(4):
            threads.submit(work, "greedy")
        first = [entered.get(), entered.get()]
        threads.submit(work, "other")
        assert [*first, entered.get()] == ["greedy", "greedy", "other"]
        leave.set()
    assert sorted(entered.get_nowait() for _ in range(2)) == ["greedy", "greedy"]


def test_a_single_place_goes_to_whoever_comes():
    turns = Turns(1)
    for space in ("one", "one", None):
        with working_for(space), turns.turn():
            pass
