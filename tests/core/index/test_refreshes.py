"""A retrieval refreshes a memory, the later the more, within bounds; vipune's does the reverse of what it says."""

import pytest

from muisti.core.engine import Engine
from muisti.core.index import usage
from muisti.core.model.choices import Importance
from muisti.core.model.hits import Explanation, Recency
from muisti.core.query.query import Query
from muisti.core.read.reading import AsOf
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.stores import Stores

BY_AGE = Query(text="tea", mode="keyword", recency=Recency(weight=0.5), explain=True, no_touch=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "STALE_SECONDS", -1.0)


def explained(engine: Engine, query: Query = BY_AGE) -> dict[str, Explanation]:
    engine.flush_retrievals()
    return {
        hit.memory.id: hit.explain for hit in engine.owner.read.search(SPACE, query).hits if hit.explain is not None
    }


def test_what_was_read_later_is_fresher_never_the_reverse(engine: Engine, clock: Clock):
    never, early, late = add(engine, "tea one", "tea two", "tea three")
    clock.pass_days(5)
    engine.owner.read.get(SPACE, early)
    clock.pass_days(15)
    engine.owner.read.get(SPACE, late)
    clock.pass_days(20)
    found = explained(engine)
    assert found[never].recency < found[early].recency < found[late].recency
    assert [round(found[one].refreshed_days) for one in (never, early, late)] == [0, 5, 20]
    assert {round(one.age_days or 0) for one in found.values()} == {40}


def test_a_refresh_is_at_most_thirty_days_and_never_more_than_the_age(engine: Engine, clock: Clock):
    (tea,) = add(engine, "tea")
    assert explained(engine)[tea].refreshed_days == 0
    clock.pass_days(300)
    engine.owner.read.get(SPACE, tea)
    assert explained(engine)[tea].refreshed_days == 30
    assert explained(engine)[tea].recency == pytest.approx(1 - 0.5 * (1 - 0.5**9), rel=1e-4)  # 270 days count


def test_the_factor_stays_within_its_bounds_and_gives_the_score(engine: Engine, clock: Clock):
    for text in ("tea one", "tea two"):
        add(engine, text)
    clock.pass_days(100)
    engine.owner.read.search(SPACE, Query(text="one", mode="keyword"))
    engine.flush_retrievals()
    for hit in engine.owner.read.search(SPACE, BY_AGE).hits:
        assert hit.explain is not None and 0.5 <= hit.explain.recency <= 1
        assert hit.score == pytest.approx(hit.explain.fused * hit.explain.recency * hit.explain.importance)


@pytest.mark.parametrize(("level", "counted"), [("low", 60.0), ("medium", 30.0), ("high", 15.0), ("critical", 0.0)])
def test_importance_slows_decay(engine: Engine, clock: Clock, level: Importance, counted: float):
    (tea,) = add(engine, "tea", importance=level)
    clock.pass_days(30)
    assert explained(engine)[tea].recency == pytest.approx(1 - 0.5 * (1 - 0.5 ** (counted / 30)), rel=1e-4)


def test_without_recency_and_for_the_past_nothing_is_refreshed(engine: Engine, clock: Clock):
    (tea,) = add(engine, "tea")
    clock.pass_days(10)
    engine.owner.read.get(SPACE, tea)
    assert explained(engine, Query(text="tea", explain=True, no_touch=True))[tea].refreshed_days == 0
    point = AsOf(number=engine.spaces.get(SPACE).seq)
    past = Query(text="tea", mode="keyword", recency=Recency(), explain=True, as_of=point)
    assert explained(engine, past)[tea].refreshed_days == 0


def test_what_other_processes_gave_counts_too(stores: Stores, clock: Clock):
    store = stores()
    with open_engine(store, clock=clock) as one, open_engine(store, clock=clock) as two:
        tea, lamp = add(one, "tea", "tea lamp")
        clock.pass_days(10)
        one.owner.read.get(SPACE, tea)
        assert explained(one)[tea].refreshed_days == pytest.approx(10, abs=0.01)
        two.owner.read.get(SPACE, lamp)
        two.flush_retrievals()
        found = explained(one)
        assert {round(found[id_].refreshed_days) for id_ in (tea, lamp)} == {10}


def test_times_are_read_now_and_then_not_at_each_search(engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch):
    (tea,) = add(engine, "tea")
    assert explained(engine)[tea].refreshed_days == 0
    monkeypatch.setattr(usage, "STALE_SECONDS", 600.0)
    clock.pass_days(10)
    engine.owner.read.get(SPACE, tea)
    assert explained(engine)[tea].refreshed_days == 0
    monkeypatch.setattr(usage, "STALE_SECONDS", -1.0)
    assert explained(engine)[tea].refreshed_days == pytest.approx(10, abs=0.01)
