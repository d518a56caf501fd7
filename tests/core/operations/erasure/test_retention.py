"""Retention forgets what is older than a space's time limit, and leaves the rest unchanged."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.index import packing
from muisti.core.model.errors import NotFound, PastRetention
from muisti.core.model.outcomes import Undo
from muisti.core.model.spaces import Policy
from muisti.core.model.times import DAY_US
from muisti.core.operations import upkeep
from muisti.core.query.filters import Subject
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, add
from tests.stores import Store, Stores


def opened(store: Store, clock: Clock, days: float = 10) -> Engine:
    engine = Engine(store.open(), WordEncoder(), clock, policy=Policy(history_days=days))
    engine.spaces.ensure(SPACE)
    return engine


def forget_all(engine: Engine, now: int) -> None:
    while engine.upkeep.forget_history(SPACE, now + 1_000):
        pass


def rows(store: Store, sql: str) -> int:
    database = store.open()
    try:
        ((count,),) = database.read([Statement(sql)])[0]
        return int(str(count))
    finally:
        database.close()


def shown(engine: Engine, number: int) -> object:
    as_of = AsOf(number=number)
    listed = engine.owner.read.list(SPACE, as_of=as_of)
    found = engine.owner.read.search(SPACE, Query(text="fox", as_of=as_of, reference_time=NOON, explain=True))
    return listed.items, [(hit.memory, hit.score, hit.explain) for hit in found.hits]


def test_points_within_the_window_show_what_they_showed_and_others_are_refused(stores: Stores):
    clock, store = Clock(), stores()
    with opened(store, clock) as engine:
        kept, gone = add(engine, "fox 0", "fox x")
        for day in range(1, 21):
            clock.pass_days(1)
            engine.owner.write.update(SPACE, kept, {"content": f"fox {day}"})
            if day == 5:
                engine.owner.write.delete(SPACE, gone)
        before = {number: shown(engine, number) for number in range(14, 24)}
        assert engine.upkeep.with_old_history(clock.at) == [SPACE]
        forget_all(engine, clock.at)
        assert engine.upkeep.with_old_history(clock.at) == []
        edge = engine.owner.read.stats(SPACE).versions
        assert edge == 11
        for number, then in before.items():
            assert shown(engine, number) == then
        for number in (0, 5, 12):
            with pytest.raises(PastRetention):
                shown(engine, number)
        with pytest.raises(PastRetention):
            engine.owner.read.list(SPACE, as_of=AsOf(time=clock.at - 11 * DAY_US))
        assert (
            engine.owner.read.list(SPACE, as_of=AsOf(time=clock.at + 2_000 - 10 * DAY_US)).items[0].content == "fox 10"
        )
        assert [one.memory.version for one in engine.owner.read.history(SPACE, kept).versions] == list(
            range(21, 10, -1)
        )
        for read in (engine.owner.read.history, engine.owner.write.restore):
            with pytest.raises(NotFound):
                read(SPACE, gone)
    assert rows(store, "SELECT count(*) FROM embeddings") == 11
    with opened(store, clock) as engine:
        for number, then in before.items():
            assert shown(engine, number) == then


def test_a_checkpoint_keeps_what_it_stands_on(stores: Stores):
    clock = Clock()
    with opened(stores(), clock) as engine:
        (fox,) = add(engine, "fox 0")
        for number in range(1, 7):
            clock.pass_days(1)
            engine.owner.write.update(SPACE, fox, {"content": f"fox {number}"})
            if number == 3:
                engine.owner.timeline.create_checkpoint(SPACE, "three")
        before = {number: shown(engine, number) for number in range(4, 8)}
        clock.pass_days(60)
        forget_all(engine, clock.at)
        assert {number: shown(engine, number) for number in before} == before
        with pytest.raises(PastRetention):
            shown(engine, 3)
        engine.owner.timeline.roll_back(SPACE, "three")
        assert engine.owner.read.get(SPACE, fox).memory.content == "fox 3"
        engine.owner.timeline.delete_checkpoint(SPACE, "three")
        forget_all(engine, clock.at)
        with pytest.raises(PastRetention):
            shown(engine, 4)


def test_a_fork_keeps_what_it_came_from_until_it_is_merged(stores: Stores):
    """Without that version a merge could not compute the changes of each side."""
    clock = Clock()
    with opened(stores(), clock) as engine:
        fox, owl = add(engine, "fox", "owl")
        engine.owner.timeline.fork(SPACE, "fork")
        copy = next(one for one in engine.owner.read.list("fork").items if one.content == "fox")
        clock.pass_days(1)
        for content in ("grey fox", "old grey fox"):
            engine.owner.write.update("fork", copy.id, {"content": content})
        engine.owner.write.update(SPACE, owl, {"content": "white owl"})
        clock.pass_days(60)
        for space in (SPACE, "fork"):
            while engine.upkeep.forget_history(space, clock.at + 1_000):
                pass
        engine.owner.timeline.merge("fork", SPACE)
        assert {one.content for one in engine.owner.read.list(SPACE).items} == {"old grey fox", "white owl"}


def test_undo_stops_at_the_edge(stores: Stores):
    clock = Clock()
    with opened(stores(), clock) as engine:
        (id_,) = add(engine, "fox 0")
        engine.owner.write.update(SPACE, id_, {"content": "fox 1"})
        clock.pass_days(20)
        engine.owner.write.update(SPACE, id_, {"content": "fox 2"})
        forget_all(engine, clock.at)
        engine.owner.write.undo(SPACE, Undo(last=5))
        assert engine.owner.read.get(SPACE, id_).memory.content == "fox 1"
        with pytest.raises(NotFound):
            engine.owner.write.undo(SPACE, Undo(last=5))
        assert engine.owner.read.history(SPACE, id_).versions[-1].born_at is not None


def test_a_packed_index_misses_no_death_that_was_forgotten(stores: Stores, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(packing, "PACKED", 5)
    monkeypatch.setattr("muisti.core.index.cache.LOOSE", 5)
    clock, store = Clock(), stores()
    with opened(store, clock) as engine:
        ids = add(engine, *(f"fox {number}" for number in range(12)))
        engine.owner.read.search(SPACE, Query(text="fox"))
        engine.settle()
        engine.owner.write.delete(SPACE, ids[0])
        clock.pass_days(20)
        add(engine, "owl")
        forget_all(engine, clock.at)
    with opened(store, clock) as engine:
        found = engine.owner.read.search(SPACE, Query(text="fox", mode="keyword", limit=20))
        assert sorted(hit.memory.id for hit in found.hits) == sorted(ids[1:])


def test_a_space_says_how_long_it_keeps_its_history(stores: Stores):
    """A space's retention may be longer, shorter or unlimited; without its own, the server's default applies."""
    clock = Clock()
    days = {"short": 2, "usual": None, "long": 30, "for ever": 0}
    names = {said: said.replace(" ", "-") for said in days}
    with opened(stores(), clock) as engine:
        ids: dict[str, str] = {}
        for said, name in names.items():
            engine.spaces.create(name)
            engine.spaces.set_policy(name, {"history_days": days[said]})
            (ids[name],) = add(engine, "fox 0", space=name)
            engine.owner.write.update(name, ids[name], {"content": "fox 1"})
        days_kept = [engine.spaces.get(name).policy.history_days for name in names.values()]
        assert days_kept == [2, 10, 30, 0]

        def remembered() -> list[str]:
            now = clock.at + 1_000
            for name in engine.upkeep.with_old_history(now):
                while engine.upkeep.forget_history(name, now):
                    pass
            assert engine.upkeep.with_old_history(now) == []
            return [name for name, id_ in ids.items() if len(engine.owner.read.history(name, id_).versions) == 2]

        assert remembered() == ["short", "usual", "long", "for-ever"]
        for passed, kept in ((3, ["usual", "long", "for-ever"]), (8, ["long", "for-ever"]), (30, ["for-ever"])):
            clock.pass_days(passed)
            assert remembered() == kept
        engine.spaces.set_policy("for-ever", {"history_days": None})
        assert remembered() == []


def test_old_memories_are_purged_where_a_space_says_so(stores: Stores, monkeypatch: pytest.MonkeyPatch):
    """Deleted, pinned and important memories are purged with all versions, in steps, as the dry run reported."""
    monkeypatch.setattr(upkeep, "AT_A_TIME", 2)
    clock, store = Clock(), stores()
    with opened(store, clock, days=0) as engine:
        engine.spaces.create("other")
        add(engine, "fox", space="other")
        old = add(engine, "fox", "white fox", "grey fox", type="guard", importance="critical")
        (gone,) = add(engine, "a fox that went")
        engine.owner.timeline.create_checkpoint(SPACE, "then")
        clock.pass_days(6)
        (young,) = add(engine, "young fox")
        engine.owner.write.update(SPACE, old[0], {"content": "a fox changed just now"})
        engine.owner.write.delete(SPACE, gone)
        clock.pass_days(5)
        assert engine.upkeep.with_old_memories(clock.at) == []
        assert engine.upkeep.purge_old(SPACE, clock.at, OWNER) is None
        engine.spaces.set_policy(SPACE, {"purge_after_days": 10})
        plan = engine.eraser.plan(SPACE, Subject(older_than_us=clock.at - 10 * DAY_US))
        assert {one.memory_id for one in plan.items} == {*old, gone}
        assert engine.upkeep.with_old_memories(clock.at) == [SPACE]
        steps = [engine.upkeep.purge_old(SPACE, clock.at, OWNER) for _ in range(3)]
        assert [step.erased.get("memories", 0) for step in steps if step is not None] == [2, 2, 0]
        assert all(step is not None and step.complete for step in steps)
        assert engine.upkeep.with_old_memories(clock.at) == []
        assert [one.id for one in engine.owner.read.list(SPACE).items] == [young]
        found = engine.owner.read.search(SPACE, Query(text="fox", as_of=AsOf(number=4), reference_time=NOON))
        assert found.hits == ()
        assert len(engine.owner.read.list("other").items) == 1
        for id_ in (*old, gone):
            with pytest.raises(NotFound):
                engine.owner.read.history(SPACE, id_)
    assert rows(store, "SELECT count(DISTINCT memory_id) FROM versions") == 2
