"""Listeners hear of every change until they stop to listen."""

import pytest

from muisti.core.model.values import Seq
from muisti.core.support.waiting import ChangeNotifier

pytestmark = pytest.mark.one_store


def test_listeners_hear_of_changes_until_they_stop():
    heard: list[tuple[str, int]] = []
    notifier = ChangeNotifier()

    def ring(space: str, at: Seq) -> None:
        heard.append((space, at.number))

    notifier.ring("a", Seq("e", 1))
    notifier.listen(ring)
    notifier.ring("a", Seq("e", 2))
    notifier.ignore(ring)
    notifier.ring("a", Seq("e", 3))
    assert heard == [("a", 2)]
