"""promote and prune, as vipune has them: candidates that are asked for become active, neglected ones are deprecated."""

import pytest

from muisti.core.engine import Engine
from muisti.core.model.choices import Importance, Type
from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Reviewed
from muisti.core.query.query import Query
from muisti.core.views import review as reviewing
from tests.core.fakes import SPACE, Clock, add


def retrieve(engine: Engine, memory_id: str, times: int) -> None:
    for _ in range(times):
        engine.owner.read.get(SPACE, memory_id)


def status(engine: Engine, memory_id: str) -> str:
    return engine.owner.read.get(SPACE, memory_id, no_touch=True).memory.status


def ids(review: Reviewed) -> set[str]:
    return {memory.id for memory in review.written.memories}


def test_promote_takes_candidates_with_five_retrievals_and_no_others_and_they_are_found(engine: Engine):
    four, five = add(engine, "four times", "five times", status="candidate")
    (old,) = add(engine, "was there before")
    engine.owner.write.update(SPACE, old, {"status": "deprecated"})
    assert not engine.owner.read.search(SPACE, Query(text="times")).hits
    for memory_id, times in ((four, 4), (five, 5), (old, 9)):
        retrieve(engine, memory_id, times)
    review = engine.owner.review.promote(SPACE)
    assert ids(review) == {five} and not review.more
    assert (status(engine, four), status(engine, five), status(engine, old)) == ("candidate", "active", "deprecated")
    (hit,) = engine.owner.read.search(SPACE, Query(text="times")).hits
    assert (hit.memory.id, hit.memory.version) == (five, 2)
    (change,) = engine.owner.read.history(SPACE, five).versions[0].changes
    assert (change.field, change.before, change.after) == ("status", "candidate", "active")
    assert not ids(engine.owner.review.promote(SPACE))


@pytest.mark.parametrize(("kind", "importance", "days", "retrievals", "pruned"), [
    ("fact", "medium", 14.1, 2, True), ("observation", "low", 14.1, 0, True), ("fact", "medium", 13.9, 0, False),
    ("fact", "medium", 14.1, 3, False), ("guard", "low", 99.0, 0, False), ("fact", "high", 99.0, 0, False),
    ("fact", "critical", 99.0, 0, False),
])  # fmt: skip
def test_prune_takes_old_candidates_that_were_retrieved_less_than_three_times(
    engine: Engine, clock: Clock, kind: Type, importance: Importance, days: float, retrievals: int, pruned: bool
):
    (one,) = add(engine, "something", status="candidate", type=kind, importance=importance)
    retrieve(engine, one, retrievals)
    clock.pass_days(days)
    assert ids(engine.owner.review.prune(SPACE)) == ({one} if pruned else set())
    assert status(engine, one) == ("deprecated" if pruned else "candidate")


def test_prune_leaves_active_memories_and_deletes_nothing(engine: Engine, clock: Clock):
    add(engine, "active one", "active two")
    add(engine, "candidate", status="candidate")
    clock.pass_days(30)
    review = engine.owner.review.prune(SPACE)
    assert review.before == {"active": 2, "candidate": 1}
    assert review.after == {"active": 2, "deprecated": 1}
    assert sum(review.before.values()) == sum(review.after.values()) == engine.owner.read.stats(SPACE).memories


def test_thresholds_can_be_others(engine: Engine, clock: Clock):
    (one,) = add(engine, "something", status="candidate")
    retrieve(engine, one, 1)
    assert not ids(engine.owner.review.prune(SPACE, retrievals=1, days=0))
    clock.pass_days(1)
    assert not ids(engine.owner.review.prune(SPACE, retrievals=2, days=2))
    assert ids(engine.owner.review.promote(SPACE, retrievals=1)) == {one}
    for bad in (
        lambda: engine.owner.review.promote(SPACE, retrievals=-1),
        lambda: engine.owner.review.prune(SPACE, days=-1.0),
    ):
        with pytest.raises(InvalidInput):
            bad()


def test_much_is_done_in_parts(engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reviewing, "REVIEWED", 2)
    made = add(engine, "one", "two", "three", status="candidate")
    clock.pass_days(30)
    reviews = [engine.owner.review.prune(SPACE) for _ in range(2)]
    assert [review.more for review in reviews] == [True, False]
    assert ids(reviews[0]) | ids(reviews[1]) == set(made)
