"""The filter `entity`: memories whose version mentions an entity, in lists and searches, with the caller's names."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, InvalidInput
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf, Wanted
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, add


def listed(engine: Engine, filter: object, caller: Caller | None = None, as_of: AsOf | None = None) -> set[str]:
    view = engine.owner if caller is None else engine.seen_by(caller)
    page = view.read.list(SPACE, filter=parse(filter), as_of=as_of)  # pyright: ignore[reportArgumentType]
    assert page.degraded == ()
    found = {one.content for one in page.items}
    query = Query(filter=parse(filter), mode="metadata", as_of=as_of, limit=50)  # pyright: ignore[reportArgumentType]
    answer = view.read.search(SPACE, query)
    assert ({hit.memory.content for hit in answer.hits}, answer.degraded) == (found, ())
    return found


def test_memories_are_selected_by_the_entities_that_they_mention(engine: Engine):
    met, called, lives, nobody = "Ann Lee met Bob in Turku", "Ann called", "Bob live in Oslo", "it rained"
    add(engine, met, called, lives, nobody)
    assert listed(engine, {"entity": "ann lee"}) == {met, called}  # "Ann" is one person here
    assert listed(engine, {"entity": "Ann's"}) == {met, called}
    (ann,) = (one for one in engine.owner.graph.entities(SPACE).items if one.name == "Ann Lee")
    assert listed(engine, {"entity": ann.id}) == {met, called}
    assert listed(engine, {"entity": ["Ann Lee", "Oslo"]}) == {met, called, lives}
    assert listed(engine, {"entity": {"all": ["Ann Lee", "Bob"]}}) == {met}
    assert listed(engine, {"entity": {"ne": "Bob"}}) == {called, nobody}
    assert listed(engine, {"or": [{"entity": "Oslo"}, {"not": {"entity": "Bob"}}]}) == {called, lives, nobody}
    assert listed(engine, {"entity": "Eve"}) == set()
    assert listed(engine, {"not": {"entity": "Eve"}}) == {met, called, lives, nobody}


def test_a_second_ann_parts_the_names_and_the_past_has_the_names_of_then(engine: Engine):
    add(engine, "Ann Lee met Bob", "Ann called")
    then = engine.spaces.get(SPACE).seq
    assert listed(engine, {"entity": "Ann Lee"}) == {"Ann Lee met Bob", "Ann called"}
    add(engine, "Ann Berg wrote")
    assert listed(engine, {"entity": "Ann Lee"}) == {"Ann Lee met Bob"}
    assert listed(engine, {"entity": "Ann Lee"}, as_of=AsOf(number=then)) == {"Ann Lee met Bob", "Ann called"}
    engine.owner.graph.merge(SPACE, "Ann Berg", ["Ann"])
    assert listed(engine, {"entity": "Ann Berg"}) == {"Ann Berg wrote", "Ann called"}


def test_a_version_that_is_superseded_or_deleted_is_not_selected(engine: Engine):
    (one,) = add(engine, "Ann met Bob")
    before = engine.spaces.get(SPACE).seq
    engine.owner.write.update(SPACE, one, {"content": "Ann met Kim"})
    assert listed(engine, {"entity": "Bob"}) == set()
    assert listed(engine, {"entity": "Kim"}) == {"Ann met Kim"}
    assert listed(engine, {"entity": "Bob"}, as_of=AsOf(number=before)) == {"Ann met Bob"}
    engine.owner.write.delete(SPACE, one)
    assert listed(engine, {"entity": "Kim"}) == set()


def test_a_caller_of_a_category_selects_by_the_names_of_that_category(engine: Engine):
    drafts = [Draft(content="Ann Lee slept", category="a"), Draft(content="Ann woke", category="b")]
    engine.owner.write.add(SPACE, drafts, on_conflict="keep")
    assert listed(engine, {"entity": "Ann Lee"}) == {"Ann Lee slept", "Ann woke"}
    b = Caller("b", category="b")
    assert listed(engine, {"entity": "Ann Lee"}, b) == set()
    assert listed(engine, {"entity": "Ann"}, b) == {"Ann woke"}


def test_what_is_not_read_yet_makes_the_answer_degraded(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.graph.indexing.CATCH_UP", 1)
    add(engine, *(f"Ann met Bob {number}" for number in range(3)))
    page = engine.owner.read.list(SPACE, filter=parse({"entity": "Ann"}))
    assert "not in the graph yet" in page.degraded[0]
    answer = engine.owner.read.search(SPACE, Query(text="Bob", filter=parse({"entity": "Ann"})))
    assert any("not in the graph yet" in one for one in answer.degraded)


def test_without_a_graph_and_where_it_is_not_read_the_filter_is_refused(engine: Engine):
    add(engine, "Ann met Bob")
    with pytest.raises(InvalidInput, match="lists and searches"):
        engine.owner.read.changes(SPACE, Wanted(filter=parse({"entity": "Ann"})))
    engine.spaces.set_policy(SPACE, {"graph": "off"})
    with pytest.raises(Conflict, match="is off"):
        engine.owner.read.list(SPACE, filter=parse({"entity": "Ann"}))
    with pytest.raises(InvalidInput, match="name or the id"):
        parse({"entity": " "})
