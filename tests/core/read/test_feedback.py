"""Callers' feedback changes the rank of a memory within bounds; memories without feedback keep their rank."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import Verdict
from muisti.core.model.errors import NotFound
from muisti.core.model.hits import Explanation
from muisti.core.query.query import Query
from muisti.core.read.reading import AsOf
from muisti.core.store.database import Statement
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Stores

_ALL = Statement("SELECT count(*) FROM feedback")
TEA = Query(text="tea", mode="keyword", explain=True, no_touch=True)


def say(engine: Engine, memory_id: str, verdict: Verdict | None, *actors: str) -> None:
    for actor in actors:
        engine.seen_by(Caller(actor)).review.give_feedback(SPACE, memory_id, verdict)


def explained(engine: Engine, query: Query = TEA) -> dict[str, Explanation]:
    return {
        hit.memory.id: hit.explain for hit in engine.owner.read.search(SPACE, query).hits if hit.explain is not None
    }


def test_one_verdict_of_each_caller_counts_the_last(engine: Engine):
    (tea,) = add(engine, "tea is green")
    before = engine.owner.read.get(SPACE, tea, no_touch=True)
    say(engine, tea, "useful", "ann", "ann", "bob")
    say(engine, tea, "not_useful", "bob")
    told = engine.seen_by(Caller("bob")).review.telemetry(SPACE, tea)
    assert (told.useful, told.not_useful, told.feedback) == (1, 1, "not_useful")
    say(engine, tea, None, "bob", "eve")
    told = engine.owner.review.telemetry(SPACE, tea)
    assert (told.useful, told.not_useful, told.feedback) == (1, 0, None)
    after = engine.owner.read.get(SPACE, tea, no_touch=True)
    assert (after.memory, after.seq) == (before.memory, before.seq)


def test_it_orders_what_answers_alike_and_is_neutral_for_the_rest(engine: Engine):
    ids = add(engine, "tea one", "tea two", "tea three")
    before = {id_: one.fused for id_, one in explained(engine).items()}
    scores = {hit.memory.id: hit.score for hit in engine.owner.read.search(SPACE, TEA).hits}
    say(engine, ids[2], "useful", "ann")
    say(engine, ids[0], "not_useful", "ann")
    found = explained(engine)
    assert [*found] == [ids[2], ids[1], ids[0]]
    assert [found[id_].feedback for id_ in ids] == pytest.approx([0.95, 1.0, 1.05])
    for hit in engine.owner.read.search(SPACE, TEA).hits:
        assert hit.explain is not None and hit.explain.fused == before[hit.memory.id]
        assert hit.score == pytest.approx(min(1.0, scores[hit.memory.id] * hit.explain.feedback))
    say(engine, ids[2], None, "ann")
    say(engine, ids[0], None, "ann")
    assert {hit.memory.id: hit.score for hit in engine.owner.read.search(SPACE, TEA).hits} == scores


def test_no_number_of_callers_moves_it_by_more_than_a_tenth(engine: Engine):
    right, wrong = add(engine, "where is the tea kettle", "lamps are warm, tea is not")
    say(engine, wrong, "useful", *(f"key {number}" for number in range(40)))
    say(engine, right, "not_useful", *(f"key {number}" for number in range(40)))
    found = explained(engine, Query(text="where is the tea kettle", explain=True))
    assert [*found] == [right, wrong] and 0.9 < found[right].feedback < 0.91 and 1.09 < found[wrong].feedback < 1.1


def test_a_score_stays_at_most_one(engine: Engine):
    (tea,) = add(engine, "tea", importance="critical")
    say(engine, tea, "useful", *(f"key {number}" for number in range(9)))
    (hit,) = engine.owner.read.search(SPACE, TEA).hits
    assert hit.score <= 1 and hit.explain is not None and hit.explain.feedback == pytest.approx(1.09)


def test_neither_the_past_nor_a_list_by_date_knows_of_it(engine: Engine):
    (old,), (new,) = add(engine, "tea one"), add(engine, "tea two")
    say(engine, old, "useful", "ann")
    point = AsOf(number=engine.spaces.get(SPACE).seq)
    assert explained(engine, Query(text="tea", explain=True, as_of=point))[old].feedback == 1
    assert [hit.memory.id for hit in engine.owner.read.search(SPACE, Query(mode="recent")).hits] == [new, old]
    assert [hit.memory.id for hit in engine.owner.read.search(SPACE, Query(mode="metadata")).hits] == [old, new]


def test_it_counts_at_once_in_other_processes_and_after_a_restart(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as two:
        tea, other = add(one, "tea one", "tea two")
        assert explained(two)[tea].feedback == 1
        say(one, tea, "useful", "ann")
        assert explained(two)[tea].feedback == pytest.approx(1.05)
        say(two, tea, "useful", "bob")
        say(two, other, "not_useful", "bob")
        found = explained(one)
        assert (found[tea].feedback, found[other].feedback) == (pytest.approx(1 + 0.1 * 2 / 3), pytest.approx(0.95))
    with open_engine(store) as engine:
        assert {id_: one.feedback for id_, one in explained(engine).items()} == {
            id_: one.feedback for id_, one in found.items()
        }


def test_it_is_of_the_memory_in_all_its_versions_and_goes_with_it(engine: Engine):
    (tea,) = add(engine, "tea one")
    say(engine, tea, "useful", "ann")
    engine.owner.write.update(SPACE, tea, {"content": "tea two"})
    assert explained(engine)[tea].feedback == pytest.approx(1.05)
    engine.owner.write.delete(SPACE, tea)
    for gone in (tea, "0" * 32, "no id"):
        with pytest.raises(NotFound):
            say(engine, gone, "useful", "bob")
    engine.eraser.memory(SPACE, tea, Caller())
    (rows,) = engine._database.primary.read([_ALL])  # pyright: ignore[reportPrivateUsage]
    assert rows == [(0,)]


def test_a_search_ends_when_the_memory_of_the_only_verdict_is_erased(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as two:
        tea, other = add(one, "tea one", "tea two")
        say(one, tea, "useful", "ann")
        one.eraser.memory(SPACE, tea, Caller())
        for engine in (one, two):
            assert list(explained(engine)) == [other]
