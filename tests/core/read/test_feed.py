"""The change feed reports every change once, in order, to the callers that it concerns."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import EpochGone, InvalidInput, NotFound, PointAhead
from muisti.core.model.outcomes import Events, Undo
from muisti.core.model.values import Draft, Seq
from muisti.core.query.filters import parse
from muisti.core.query.points import Wanted
from tests.core.fakes import SPACE


def lived(engine: Engine) -> list[str]:
    """Write three memories through all kinds of change, and return their ids."""
    first = engine.owner.write.add(
        SPACE, [Draft(content="We deploy on Fridays", category="rules", key="deploy")]
    ).memories[0]
    second = engine.owner.write.add(SPACE, [Draft(content="Anna prefers tea", author="Ann")]).memories[0]
    engine.owner.write.update(SPACE, first.id, {"content": "We deploy on Mondays"})
    third = engine.owner.write.supersede(SPACE, first.id, Draft(content="We never deploy")).memories[0]
    engine.owner.write.delete(SPACE, second.id)
    engine.owner.write.restore(SPACE, second.id)
    engine.owner.write.undo(SPACE, Undo())
    return [first.id, second.id, third.id]


def entries(events: Events) -> list[tuple[int, str, str | None]]:
    return [(one.seq, one.kind, one.memory_id) for one in events.items]


def test_a_life_is_told_in_order_with_what_was_and_what_is(engine: Engine):
    first, second, third = lived(engine)
    events = engine.owner.read.changes(SPACE, Wanted(show="both"))
    assert entries(events) == [
        (1, "created", first), (2, "created", second), (3, "updated", first), (4, "superseded", first),
        (5, "created", third), (6, "deleted", second), (7, "restored", second), (8, "undone", second),
    ]  # fmt: skip
    assert events.reached == engine.spaces.get(SPACE).at and not events.more
    states = [
        (None if one.before is None else one.before.version, None if one.after is None else one.after.version)
        for one in events.items
    ]
    assert states == [(None, 1), (None, 1), (1, 2), (2, 3), (None, 1), (1, None), (None, 2), (2, None)]
    assert [one.version for one in events.items] == [1, 1, 2, 3, 1, 1, 2, 2]
    assert {one.actor for one in events.items} == {"local"}
    assert all(one.before is None for one in engine.owner.read.changes(SPACE, Wanted(show="after")).items)
    assert all(one.before is one.after is None for one in engine.owner.read.changes(SPACE, Wanted(show="ids")).items)


def test_pages_of_any_size_join_to_the_whole(engine: Engine):
    lived(engine)
    whole = entries(engine.owner.read.changes(SPACE, Wanted()))
    for limit in (1, 3, 8):
        found, since, more = [], Seq(engine.spaces.get(SPACE).epoch, 0), True
        while more:
            page = engine.owner.read.changes(SPACE, Wanted(since=since, limit=limit))
            found, since, more = [*found, *entries(page)], page.reached, page.more
            assert len(page.items) <= limit
        assert found == whole


def test_a_page_holds_so_many_bytes_and_one_change_at_least(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.read.feed.BYTES", 260)
    for n in range(3):
        engine.owner.write.add(SPACE, [Draft(content=f"{n} " + "x" * 120)], on_conflict="keep")
    page = engine.owner.read.changes(SPACE, Wanted())
    assert [one.seq for one in page.items] == [1, 2] and page.reached.number == 2 and page.more
    assert len(engine.owner.read.changes(SPACE, Wanted(show="ids")).items) == 3
    monkeypatch.setattr("muisti.core.read.feed.BYTES", 1)
    assert len(engine.owner.read.changes(SPACE, Wanted()).items) == 1


def test_a_filter_passes_what_enters_it_and_what_leaves_it(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    memory = engine.owner.write.add(SPACE, [Draft(content="tea", tags=("drink",))]).memories[0]
    engine.owner.write.add(SPACE, [Draft(content="bread")])
    engine.owner.write.update(SPACE, memory.id, {"tags": ()})
    engine.owner.write.update(SPACE, memory.id, {"reason": "why"})
    drinks = Wanted(filter=parse({"tags": ["drink"]}))
    assert [one.seq for one in engine.owner.read.changes(SPACE, drinks).items] == [1, 3]
    assert [one.seq for one in engine.owner.read.changes(SPACE, Wanted(kinds=("updated",))).items] == [3, 4]
    monkeypatch.setattr("muisti.core.read.feed.WINDOW", 2)
    page = engine.owner.read.changes(SPACE, Wanted(filter=parse({"category": "none"})))
    assert (page.items, page.reached.number, page.more) == ((), 2, True)


def test_who_has_one_category_is_told_of_that_alone(engine: Engine):
    memory = engine.owner.write.add(SPACE, [Draft(content="tea", category="own")]).memories[0]
    engine.owner.write.add(SPACE, [Draft(content="bread", category="other")])
    engine.owner.write.update(SPACE, memory.id, {"category": "other"})
    engine.owner.write.update(SPACE, memory.id, {"reason": "why"})
    own = engine.seen_by(Caller("k", "OWN"))
    found = own.read.changes(SPACE, Wanted(show="both")).items
    assert [(one.seq, one.before is None, one.after is None) for one in found] == [(1, True, False), (3, False, True)]
    assert [one.seq for one in own.read.changes(SPACE, Wanted(show="ids")).items] == [1, 3]


def test_a_point_that_is_none_is_refused(engine: Engine):
    lived(engine)
    at = engine.spaces.get(SPACE).at
    with pytest.raises(PointAhead):
        engine.owner.read.changes(SPACE, Wanted(since=Seq(at.epoch, at.number + 1)))
    for wrong in (Wanted(limit=0), Wanted(limit=1001), Wanted(kinds=("eaten",)), Wanted(show="all")):  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput):
            engine.owner.read.changes(SPACE, wrong)
    engine.spaces.delete(SPACE)
    with pytest.raises(NotFound):
        engine.owner.read.changes(SPACE, Wanted(since=at))
    engine.spaces.create(SPACE)
    with pytest.raises(EpochGone):
        engine.owner.read.changes(SPACE, Wanted(since=at))


def test_the_bell_rings_with_each_change(engine: Engine):
    rung: list[tuple[str, Seq]] = []
    engine.notifier.listen(ring := lambda space, at: rung.append((space, at)))
    lived(engine)
    assert [at.number for _, at in rung] == [1, 2, 3, 5, 6, 7, 8] and {space for space, _ in rung} == {SPACE}
    assert engine.spaces.standing([SPACE, "gone"]) == {SPACE: engine.spaces.get(SPACE).at}
    engine.notifier.ignore(ring)
    engine.owner.write.add(SPACE, [Draft(content="more")])
    assert len(rung) == 7
