"""Waiting until processes rest, with processor times that a script gives."""

from collections.abc import Iterable
from itertools import count

import pytest

from loadtests.services import process
from loadtests.services.process import rested


class Scripted:
    """Processor time of processes, from one look to the next; the last value stays."""

    def __init__(self, **times: Iterable[float]) -> None:
        self._times = {int(pid[1:]): iter(found) for pid, found in times.items()}
        self.last: dict[int, float] = {}

    def worked(self, pid: int) -> float:
        self.last[pid] = next(self._times[pid], self.last.get(pid, 0.0))
        return self.last[pid]


def test_it_waits_until_all_of_them_have_done_their_work_and_gives_up_one_that_never_rests(
    monkeypatch: pytest.MonkeyPatch,
):
    script = Scripted(p1=[0.0, 0.4, 0.9, 2.0], p2=[7.0], p3=[1.0, 1.5])
    monkeypatch.setattr(process, "WINDOW", 0.0)
    monkeypatch.setattr(process, "worked", script.worked)
    rested(1, 2, 3)
    assert script.last == {1: 2.0, 2: 7.0, 3: 1.5}
    monkeypatch.setattr(process, "RESTING", 0.01)
    monkeypatch.setattr(process, "worked", Scripted(p5=count(0.0, 1.0), p6=[3.0]).worked)
    with pytest.raises(TimeoutError, match=r"still work: \[5\]"):
        rested(6, 5)
