"""Undo: the memories are as if the changes had not been made, or nothing happens."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import CLEAR_PHRASE
from muisti.core.model.collisions import AddressTaken
from muisti.core.model.errors import ChangedSince, InvalidInput, NotFound, NotUndone, TooLarge
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.query import Query
from muisti.core.views.memories import Memories
from tests.conversations.talking import said, stream, texts
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.examples import few
from tests.stores import Stores


def shown(engine: Engine) -> dict[str, Any]:
    """Return the fields of each memory that default reads show, by id."""
    listed = {memory.id: structs.asdict(memory) for memory in engine.owner.read.list(SPACE).items}
    found = engine.owner.read.search(SPACE, Query(text="", mode="recent", limit=50)).hits
    assert {hit.memory.id for hit in found} == listed.keys() and engine.owner.read.stats(SPACE).memories == len(listed)
    return {
        id_: {name: value for name, value in memory.items() if name not in ("version", "updated_at")}
        for id_, memory in listed.items()
    }


def test_several_at_once_are_one_change_of_each_memory(engine: Engine):
    one, two = add(engine, "one", "two", category="c")
    before = shown(engine)
    for number in range(3):
        engine.owner.write.update(SPACE, one, {"content": f"one {number}"})
    engine.owner.write.update(SPACE, two, {"key": "k"})
    (three,) = add(engine, "three")
    engine.owner.write.delete(SPACE, two)
    engine.owner.write.update(SPACE, one, {"key": "k"})  # the address that the other had
    seq = engine.spaces.get(SPACE).seq
    key = RequestKey("test", "k", b"body")
    undone = engine.owner.write.undo(SPACE, Undo(last=7), request=key)
    assert shown(engine) == before and undone.seq.number == seq + 3
    assert ({memory.id for memory in undone.memories}, undone.ended) == ({one, two}, (three,))
    again = engine.owner.write.undo(SPACE, Undo(last=7), request=key)
    assert again.replayed and (again.memories, again.ended) == (undone.memories, undone.ended)
    assert shown(engine) == before


def test_of_an_author_of_a_request_and_of_who_asks(engine: Engine):
    ann, bob = engine.seen_by(Caller("ann", request="r1")), engine.seen_by(Caller("bob", request="r2"))
    mine = ann.write.add(SPACE, [Draft(content="from ann", author="Zoe")]).memories[0].id
    others = bob.write.add(
        SPACE, [Draft(content=f"from bob {n}", author="zoe") for n in range(2)], on_conflict="keep"
    ).memories
    last = ann.write.add(SPACE, [Draft(content="more from ann", author="Yan")]).memories[0].id
    assert ann.write.undo(SPACE, Undo(last=1)).ended == (last,)
    assert set(engine.owner.write.undo(SPACE, Undo(request="r2", last=100)).ended) == {memory.id for memory in others}
    assert engine.owner.write.undo(SPACE, Undo(author="ZOE")).ended == (mine,)
    for which in (Undo(), Undo(request="r1"), Undo(request="r9"), Undo(author="zoe")):
        with pytest.raises(NotFound):
            bob.write.undo(SPACE, which)
    with pytest.raises(InvalidInput):
        ann.write.undo(SPACE, Undo(last=0))


def test_without_a_number_the_last_request_of_the_caller_is_undone_whole(engine: Engine):
    def of(actor: str, request: str, category: str | None = None) -> Memories:
        return engine.seen_by(Caller(actor, category, request=request))

    states = [shown(engine)]
    of("ann", "r1").write.add(SPACE, [Draft(content=f"first {n}") for n in range(3)], on_conflict="keep")
    states.append(shown(engine))
    of("bob", "r2").write.add(SPACE, [Draft(content="from bob", category="c")])
    bobs = {memory["content"] for memory in shown(engine).values()} - {f"first {n}" for n in range(3)}
    of("ann", "r2").write.add(SPACE, [Draft(content=f"second {n}") for n in range(2)], on_conflict="keep")
    tried = engine.seen_by(Caller("ann", request="dry"), dry_run=True).write.undo(SPACE, Undo())
    assert tried.plan is not None and tried.plan.changes == 2
    for number in (1, 0):  # a second undo takes back the request before, and bob's request of the same id stays
        of("ann", f"u{number}").write.undo(SPACE, Undo())
        left = {memory["content"] for memory in shown(engine).values()}
        assert left == {memory["content"] for memory in states[number].values()} | bobs
    with pytest.raises(NotFound):
        of("ann", "r9").write.undo(SPACE, Undo())
    with pytest.raises(NotFound):
        of("bob", "r9", "another").write.undo(SPACE, Undo())
    of("bob", "r9", "C").write.undo(SPACE, Undo())
    assert shown(engine) == {}


def test_a_rollback_and_a_clear_are_undone_whole(engine: Engine):
    def who(request: str) -> Memories:
        return engine.seen_by(Caller("ann", request=request))

    who("r1").write.add(SPACE, [Draft(content="kept")])
    point = str(engine.spaces.get(SPACE).at)
    who("r2").write.add(SPACE, [Draft(content=f"more {n}") for n in range(3)], on_conflict="keep")
    before = shown(engine)
    for number in range(2):  # a roll-back that was undone can be made again
        who(f"b{number}").timeline.roll_back(SPACE, point)
        assert len(shown(engine)) == 1
        who(f"u{number}").write.undo(SPACE, Undo())
        assert shown(engine) == before
    who("c").timeline.clear(SPACE, CLEAR_PHRASE)
    assert shown(engine) == {}
    who("u").write.undo(SPACE, Undo())
    assert shown(engine) == before


def test_what_others_changed_since_is_in_the_way_and_told(engine: Engine):
    ann, bob = engine.seen_by(Caller("ann")), engine.seen_by(Caller("bob"))
    one, two = (memory.id for memory in ann.write.add(SPACE, [Draft(content="a"), Draft(content="b c")]).memories)
    ann.write.update(SPACE, one, {"author": "x"})
    bob.write.update(SPACE, one, {"importance": "high"})
    before, seq = shown(engine), engine.spaces.get(SPACE).seq
    with pytest.raises(ChangedSince) as refused:
        ann.write.undo(SPACE, Undo(last=3))
    assert [(one.memory_id, one.seq, one.actor) for one in refused.value.found] == [(one, 4, "bob")]
    assert one in str(refused.value) and (shown(engine), engine.spaces.get(SPACE).seq) == (before, seq)
    bob.write.undo(SPACE, Undo())
    assert set(ann.write.undo(SPACE, Undo(last=3)).ended) == {one, two}
    assert shown(engine) == {}
    (mine,) = ann.write.add(SPACE, [Draft(content="mine", category="c", key="k")]).memories
    ann.write.delete(SPACE, mine.id)
    bob.write.add(SPACE, [Draft(content="taken", category="c", key="k")])
    with pytest.raises(AddressTaken):
        ann.write.undo(SPACE, Undo())
    assert [memory["content"] for memory in shown(engine).values()] == ["taken"]


def test_a_task_that_runs_is_waited_for_and_counts_from_its_beginning(engine: Engine):
    def ann(request: str) -> Memories:
        return engine.seen_by(Caller("ann", request=request))

    (first,) = ann("r1").write.add(SPACE, [Draft(content="first")]).memories
    task = engine.tasks.submit(SPACE, "ingest", {}, Caller("ann", request="t"), total=3)
    with pytest.raises(NotUndone, match="task that still runs: ingest") as refused:
        ann("u1").write.undo(SPACE, Undo())
    assert refused.value.instead.task == task.id
    (later,) = ann("r2").write.add(SPACE, [Draft(content="later than the task")]).memories
    ann("t").write.add(SPACE, [Draft(content="stored by the task")])  # as the work on it does
    assert ann("u2").write.undo(SPACE, Undo()).ended == (later.id,)
    with pytest.raises(NotUndone):
        ann("u3").write.undo(SPACE, Undo())
    with pytest.raises(NotFound):  # the tasks of others are no calls of bob
        engine.seen_by(Caller("bob")).write.undo(SPACE, Undo())
    engine.tasks.cancel(SPACE, task.id, Caller("ann"))
    assert len(ann("u4").write.undo(SPACE, Undo()).ended) == 1 and [*shown(engine)] == [first.id]


def test_a_call_is_undone_by_another_process_and_only_its_own_caller(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as other:
        (mine,) = one.seen_by(Caller("ann", request="r1")).write.add(SPACE, [Draft(content="from ann")]).memories
        other.seen_by(Caller("bob", request="r1")).write.add(SPACE, [Draft(content="from bob")])
        assert other.seen_by(Caller("ann", request="u1")).write.undo(SPACE, Undo()).ended == (mine.id,)
        assert [memory["content"] for memory in shown(one).values()] == ["from bob"]
        with pytest.raises(NotFound):
            one.seen_by(Caller("ann", request="u2")).write.undo(SPACE, Undo())


def test_after_a_purge_of_a_part_the_rest_is_undone_by_name(engine: Engine):
    ann = engine.seen_by(Caller("ann", request="r1"))
    one, two = (memory.id for memory in ann.write.add(SPACE, [Draft(content="one"), Draft(content="two")]).memories)
    engine.eraser.memory(SPACE, one, Caller("ann"))
    with pytest.raises(NotUndone, match="erased memories for good") as refused:
        ann.write.undo(SPACE, Undo())
    assert (refused.value.instead.request, refused.value.instead.last) == ("r1", 1)
    assert ann.write.undo(SPACE, Undo(request="r1")).ended == (two,)


def test_what_is_older_than_the_history_that_is_kept_is_not_undone(engine: Engine, clock: Clock):
    ann = engine.seen_by(Caller("ann", request="r1"))
    (old,) = ann.write.add(SPACE, [Draft(content="old")]).memories
    ann.write.update(SPACE, old.id, {"content": "newer"})
    clock.pass_days(10)
    engine.spaces.set_policy(SPACE, {"history_days": 5})
    while engine.upkeep.forget_history(SPACE, engine.now()):
        pass
    with pytest.raises(NotFound):
        ann.write.undo(SPACE, Undo())
    assert len(shown(engine)) == 1


def test_a_request_that_is_too_large_names_the_point_before_it(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.write.undo.UNDO_MAX", 3)
    add(engine, "before")
    point, ann = engine.spaces.get(SPACE).at, engine.seen_by(Caller("ann", request="r1"))
    ann.write.add(SPACE, [Draft(content=f"note {n}") for n in range(5)], on_conflict="keep")
    with pytest.raises(TooLarge, match=f"a roll-back to {point} "):
        ann.write.undo(SPACE, Undo())
    ann.timeline.roll_back(SPACE, str(point))
    assert len(shown(engine)) == 1


def test_a_conversation_in_which_others_have_spoken_stays(engine: Engine):
    stream(engine, "c", said("from ann"), caller=Caller("ann", request="r1"))
    stream(engine, "c", said("from bob", first=None), caller=Caller("bob", request="r2"))
    told = engine.seen_by(Caller("ann")).write.undo(SPACE, Undo()).undone
    assert told.startswith("3 changes (3 created); ") and "conversation c" in told and "session default" in told
    assert texts(engine, "c") == [(2, "from bob")]
    with pytest.raises(NotFound):
        engine.seen_by(Caller("ann")).write.undo(SPACE, Undo())
    engine.seen_by(Caller("bob")).write.undo(SPACE, Undo())
    assert texts(engine, "c") == []


steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=8)


@few
@given(before=steps, undone=steps)
def test_undoing_all_that_came_leaves_what_was(stores: Stores, before: list[Any], undone: list[Any]):
    with open_engine(stores()) as engine:
        play(engine.owner, before)
        state, seq = shown(engine), engine.spaces.get(SPACE).seq
        play(engine.seen_by(Caller("other")), undone)
        made = engine.spaces.get(SPACE).seq - seq
        if made:
            with suppress(NotFound):  # they may have taken each other back
                engine.seen_by(Caller("other")).write.undo(SPACE, Undo(last=made))
        assert shown(engine) == state
        for mode in ("keyword", "semantic"):
            hits = engine.owner.read.search(SPACE, Query(text="note 1", mode=mode, limit=50)).hits
            assert {hit.memory.id for hit in hits} <= state.keys()


def play(memories: Memories, script: list[tuple[int, int]]) -> None:
    for verb, choice in script:
        ids = sorted(memory.id for memory in memories.read.list(SPACE).items)
        if verb == 0 or not ids:
            memories.write.add(SPACE, [Draft(content=f"note {choice}", tags=("t",))], on_conflict="keep")
            continue
        chosen = ids[choice % len(ids)]
        if verb == 1:
            memories.write.update(SPACE, chosen, {"content": f"note {choice} more", "metadata": {"n": choice}})
        elif verb == 2:
            memories.write.delete(SPACE, chosen)
        elif verb == 3:
            memories.write.supersede(SPACE, chosen, Draft(content=f"instead {choice}"))
        elif len(memories.read.history(SPACE, chosen).versions) > 1:
            memories.write.restore(SPACE, chosen)
