"""A value that is made once, however many threads ask for it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from muisti.core.support.memo import Once
from muisti.core.support.waiting import WouldWait, without_waiting


def test_threads_that_ask_together_get_one_value():
    together, made = Barrier(4), list[object]()

    def make() -> object:
        made.append(object())
        return made[-1]

    held = Once(make)

    def ask(_: int) -> object:
        together.wait()
        return held()

    with ThreadPoolExecutor(4) as threads:
        found = {*threads.map(ask, range(4))}
    assert found == {*made} and len(made) == 1


def test_an_error_is_not_kept():
    answers = iter([OSError("no file"), "model"])

    def make() -> str:
        found = next(answers)
        if isinstance(found, OSError):
            raise found
        return found

    held = Once(make)
    with pytest.raises(OSError, match="no file"):
        held()
    assert not held.made
    assert held() == held() == "model"


def test_a_thread_that_may_not_wait_gets_the_value_only_when_it_is_there():
    held = Once(lambda: 1)
    with without_waiting(), pytest.raises(WouldWait):
        held()
    assert not held.made and held() == 1
    with without_waiting():
        assert held() == 1
