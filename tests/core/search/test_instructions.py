"""Standing instructions beside the hits: exact after writes, ends, at past points, by filter, caller and expiry."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Instruction
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Options, Part, Query
from muisti.core.support.waiting import WouldWait
from tests.core.fakes import SPACE, Clock, WordEncoder, open_engine
from tests.examples import examples
from tests.stores import Stores

PHYSICS = "Always use metric units when I ask about physics"
COOKING = "Always name allergens when I ask about cooking"
GERMAN = "From now on, answer in German."


def store(engine: Engine, *contents: str, space: str = SPACE, **fields: Any) -> list[str]:
    drafts = [Draft(content=content, **fields) for content in contents]
    return [one.id for one in engine.owner.write.add(space, drafts, on_conflict="keep").memories]


def lane(engine: Engine, text: str, **query: Any) -> tuple[Instruction, ...]:
    return engine.owner.read.search(SPACE, Query(text=text, **query)).instructions


def contents(engine: Engine, text: str, **query: Any) -> list[str]:
    return [one.memory.content for one in lane(engine, text, **query)]


def test_the_instruction_whose_scope_is_asked_about_comes_first_and_says_why(engine: Engine):
    store(engine, "light has a speed", COOKING, PHYSICS, "notes on units")
    first = lane(engine, "how fast is light in physics")[0]
    assert (first.memory.content, first.reason) == (PHYSICS, "rule")
    assert first.scope is not None and PHYSICS[first.scope.start : first.scope.stop] == "physics"
    assert 0.1 <= first.score <= 1


def test_a_guard_is_one_by_its_type_and_one_without_a_scope_applies_to_every_question(engine: Engine):
    store(engine, "no pushes to main on fridays", type="guard")
    store(engine, "no pushes to main on mondays")
    (only,) = lane(engine, "may I do pushes to main")
    assert (only.memory.content, only.reason, only.scope) == ("no pushes to main on fridays", "type", None)
    store(engine, GERMAN, COOKING)
    assert GERMAN in contents(engine, "zebra")


def test_hits_are_the_same_with_and_without(engine: Engine):
    store(engine, "light has a speed", COOKING, PHYSICS, "physics is fun")
    with_lane, without = (engine.owner.read.search(SPACE, Query(text="physics", instructions=n)) for n in (5, 0))
    assert with_lane.instructions and not without.instructions
    assert [(hit.memory.id, hit.score) for hit in with_lane.hits] == [
        (hit.memory.id, hit.score) for hit in without.hits
    ]


def test_there_are_at_most_five_and_as_many_as_asked(engine: Engine):
    store(engine, *(f"Always add note {n} when I ask about physics" for n in range(9)))
    assert len(lane(engine, "physics")) == 5 and len(lane(engine, "physics", instructions=2)) == 2
    with pytest.raises(InvalidInput):
        lane(engine, "physics", instructions=6)


@pytest.mark.parametrize("fields", [{"source_class": "web"}, {"author": "assistant"}, {"metadata": {"speaker": "AI"}}])
def test_neither_a_web_page_nor_an_assistant_gives_instructions(engine: Engine, fields: dict[str, Any]):
    store(engine, PHYSICS, **fields)
    assert not lane(engine, "physics")


def test_no_question_has_no_instructions(engine: Engine):
    (memory,) = store(engine, PHYSICS)
    store(engine, "physics is fun")
    assert not lane(engine, "physics", mode="recent") and not lane(engine, "physics", mode="metadata")
    assert not lane(engine, "", options=Options(similar_to=memory))
    for mode in ("keyword", "semantic", "hybrid"):
        assert contents(engine, "physics", mode=mode) == [PHYSICS]


def test_words_and_evidence_that_hits_need_do_not_hide_instructions(engine: Engine):
    store(engine, PHYSICS, "light has a speed")
    for match in ("all", "phrase"):
        answer = engine.owner.read.search(SPACE, Query(text="physics of stars", match=match))
        assert not answer.hits and [one.memory.content for one in answer.instructions] == [PHYSICS]
    assert contents(engine, 'physics "of stars"') == [PHYSICS]
    store(engine, GERMAN)
    answer = engine.owner.read.search(SPACE, Query(text="light zebra quark", mode="keyword", min_evidence="strong"))
    assert not answer.hits and [one.memory.content for one in answer.instructions] == [GERMAN]


def test_a_filter_and_the_category_of_a_caller_hold_for_instructions_too(engine: Engine):
    store(engine, PHYSICS, metadata={"user": "ann"}, category="secret")
    assert contents(engine, "physics", filter=parse({"metadata.user": "ann"})) == [PHYSICS]
    assert not contents(engine, "physics", filter=parse({"metadata.user": "bob"}))
    assert not contents(engine, 'physics "is fun"', filter=parse({"metadata.user": "bob"}))
    store(engine, "physics is fun", category="open")
    seen = {name: engine.seen_by(Caller(name, category=name)) for name in ("secret", "open")}
    found = {name: view.read.search(SPACE, Query(text="physics")).instructions for name, view in seen.items()}
    assert len(found["secret"]) == 1 and not found["open"]


def test_an_instruction_ends_and_comes_back_with_its_memory_and_a_past_point_has_those_of_then(
    engine: Engine, clock: Clock
):
    (memory,) = store(engine, PHYSICS)
    then = engine.owner.read.search(SPACE, Query(text="physics")).seq
    engine.owner.write.update(SPACE, memory, {"content": "physics is fun"})
    assert not lane(engine, "physics")
    engine.owner.write.restore(SPACE, memory, version=1)
    assert contents(engine, "physics") == [PHYSICS]
    engine.owner.write.delete(SPACE, memory)
    assert not lane(engine, "physics")
    assert contents(engine, "physics", as_of=AsOf(number=then.number)) == [PHYSICS]
    store(engine, PHYSICS, expires_at=timedelta(hours=1))
    assert contents(engine, "physics") == [PHYSICS]
    clock.pass_days(1)
    assert not lane(engine, "physics")


def test_several_spaces_share_one_lane_in_the_order_of_weighted_scores(engine: Engine):
    engine.spaces.create("other")
    store(engine, PHYSICS)
    store(engine, PHYSICS, space="other")
    parts = [Part(SPACE, 0.5), Part("other", 1.0)]
    found = engine.owner.read.search_spaces(parts, Query(text="physics")).instructions
    assert [one.memory.space for one in found] == ["other", SPACE] and found[0].score == 2 * found[1].score
    assert not engine.owner.read.search_spaces(parts, Query(text="physics", instructions=0)).instructions


def test_without_embeddings_there_is_no_lane(stores: Stores):
    with open_engine(stores(), embeddings=False) as engine:
        store(engine, PHYSICS)
        assert not lane(engine, "physics")


TEXTS = st.sampled_from([PHYSICS, COOKING, GERMAN, "physics is fun", "cooking is fun", "never", "I ask about physics"])
STEPS = st.lists(
    st.one_of(st.tuples(st.just("add"), TEXTS), st.tuples(st.just("end"), st.integers(0, 30)), st.just(("ask", ""))),
    max_size=25,
)


@settings(examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_lane_of_an_index_that_followed_is_that_of_one_loaded_afresh(stores: Stores, steps: list[tuple[str, Any]]):
    place = stores()
    with open_engine(place, encoder=WordEncoder()) as engine:
        alive: list[str] = []
        for step, what in steps:
            if step == "add":
                alive += store(engine, what)
            elif step == "end" and alive:
                engine.owner.write.delete(SPACE, alive.pop(what % len(alive)))
            else:
                lane(engine, "physics")
        asked: list[Callable[[Engine], Any]] = [lambda e, q=q: lane(e, q) for q in ("physics", "cooking", "zebra")]
        followed = [ask(engine) for ask in asked]
    with open_engine(place, encoder=WordEncoder()) as engine:
        assert [ask(engine) for ask in asked] == followed


def test_a_search_on_the_event_loop_has_the_same_lane(engine: Engine):
    store(engine, PHYSICS, COOKING, GERMAN)
    query = Query(text="physics of cooking")
    found = engine.owner.read.search(SPACE, query).instructions
    try:
        at_once = engine.owner.read.search_at_once(SPACE, query)
    except WouldWait:  # the database is remote
        return
    assert at_once.instructions == found and len(found) == 3


def test_a_write_has_only_the_new_versions_read(engine: Engine):
    store(engine, "light has a speed")
    assert not lane(engine, "physics")
    encoder = engine.models.default
    assert isinstance(encoder, WordEncoder)
    for content in ("physics is fun", PHYSICS, "tea"):
        store(engine, content)
        calls = encoder.calls
        lane(engine, "physics")
        embedded = encoder.calls - calls
        assert embedded <= (4 if content == PHYSICS else 2)
