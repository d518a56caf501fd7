"""Code that may not wait takes only what is free."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from muisti.core.support.waiting import Lock, WouldWait, may_wait, refuse_long, without_waiting

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


def test_long_work_is_refused_there_alone():
    refuse_long()
    with without_waiting(), pytest.raises(WouldWait):
        refuse_long()
    refuse_long()


def test_an_error_inside_leaves_the_thread_as_it_was():
    with pytest.raises(ZeroDivisionError), without_waiting():
        raise ZeroDivisionError
    assert may_wait()
