from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muisti.core.conversations.model import Entry, Turn, Working
from muisti.core.conversations.view import Stream
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.places import ObjectName
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.text.terms import count_tokens
from tests.core.fakes import NOON, SPACE, Clock
from tests.examples import examples

NAME = "c-1"
ENOUGH = 4_096


def begin(engine: Engine, n: int = 12) -> None:
    at = from_us(NOON) - timedelta(hours=n)
    turns = tuple(
        Turn(content=f"Message {place} about the flat", author="ann", at=at + timedelta(hours=place))
        for place in range(n)
    )
    engine.owner.conversations.add_exchanges(SPACE, Stream(conversation=NAME, turns=turns))


@pytest.fixture
def talk(engine: Engine) -> Engine:
    begin(engine)
    return engine


def keep(engine: Engine, budget: int = ENOUGH, **fields: object) -> Entry:
    return engine.owner.discourse.keep(SPACE, NAME, Entry(**fields), count_tokens, budget)


def show(engine: Engine, budget: int = ENOUGH) -> Working:
    return engine.owner.discourse.working(SPACE, NAME, "words", count_tokens, budget)


def test_all_turns_are_held_where_there_is_room(talk: Engine) -> None:
    shown = show(talk)
    assert [one.turn for one in shown.held] == list(range(1, 13))
    assert shown.text.splitlines()[0] == "ann: Message 0 about the flat"
    assert shown.tokens == count_tokens(shown.text)
    assert not shown.evicted
    assert {one.acts for one in shown.held} == {("statement",)}
    for one in shown.held:
        assert 0 < one.importance["base"] <= sum(one.importance.values()) <= 1


def test_turns_of_less_value_are_evicted(talk: Engine) -> None:
    shown = show(talk, 40)
    assert {one.reason for one in shown.evicted} == {"budget"}
    assert max(one.turn or 0 for one in shown.held) == 12
    assert min(one.value or 0 for one in shown.held) >= max(one.value or 0 for one in shown.evicted)
    assert all(one.value == pytest.approx(sum(one.parts.values()), abs=1e-3) for one in shown.held)


def test_a_pinned_memory_is_never_evicted_and_is_told_as_gone_and_erased(talk: Engine) -> None:
    made = talk.owner.write.add(SPACE, [Draft(content="Ann is allergic to nuts")]).memories[0]
    keep(talk, key="allergy", memory_id=made.id)
    with pytest.raises(NotFound):
        keep(talk, key="a", memory_id="0197a3c0-5f4e-7000-8000-0123456789ab")
    shown = show(talk, 8)
    assert [one.key for one in shown.held] == ["allergy"] and shown.text == "Ann is allergic to nuts\n"
    talk.owner.write.delete(SPACE, made.id)
    assert [(one.key, one.reason) for one in show(talk).evicted] == [("allergy", "gone")]
    report = talk.eraser.memory(SPACE, made.id, OWNER)
    assert not any(report.found.values())
    assert not [one.key for one in (*show(talk).held, *show(talk).evicted) if one.key]


def test_a_pin_that_would_not_fit_is_refused(talk: Engine) -> None:
    keep(talk, key="one", content="six words of text are here")
    with pytest.raises(InvalidInput, match="pinned"):
        keep(talk, 10, key="two", content="and six more words of text")
    assert [one.key for one in show(talk, 10).held if one.key] == ["one"]
    keep(talk, 10, key="one", content="shorter")


def test_entries_go_by_priority(talk: Engine) -> None:
    for priority in (3, 9, 1):
        keep(talk, key=f"p{priority}", content="five words are in here", pinned=False, priority=priority)
    shown = show(talk, 11)
    assert {one.key for one in shown.held} == {"p9", "p3"}
    assert "p1" in {one.key for one in shown.evicted}


def test_reserved_tokens_are_left_free(talk: Engine) -> None:
    free = show(talk, 60)
    keep(talk, key="instructions", tokens=40)
    shown = show(talk, 60)
    assert (shown.reserved, free.reserved) == (40, 0)
    assert shown.tokens <= 20 < free.tokens


def test_entries_end_with_their_time(engine: Engine, clock: Clock) -> None:
    begin(engine)
    keep(engine, key="now", content="for a day", expires_at=from_us(clock.at) + timedelta(days=1))
    assert [one.key for one in show(engine).held if one.key] == ["now"]
    clock.pass_days(2)
    assert not [one.key for one in show(engine).held if one.key]


def test_working_memory_dies_with_its_conversation(talk: Engine) -> None:
    keep(talk, key="a", content="text")
    name = ObjectName(level="conversation", name=NAME)
    talk.owner.conversations.delete(SPACE, name)
    with pytest.raises(NotFound):
        show(talk)
    begin(talk)
    assert not [one.key for one in show(talk).held if one.key]


@pytest.mark.parametrize("fields", [
    {"key": " "}, {"key": "a"}, {"key": "a", "content": "x", "tokens": 3}, {"key": "a", "tokens": 0},
    {"key": "a", "content": "x", "priority": 11}, {"key": "a", "content": "x" * 20_001},
])  # fmt: skip
def test_bad_entries_are_refused(talk: Engine, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        keep(talk, **fields)


@given(budget=st.integers(1, 120), reserved=st.integers(1, 60))
@settings(examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_is_never_over_its_budget(talk: Engine, budget: int, reserved: int) -> None:
    keep(talk, 1_000, key="r", tokens=reserved, pinned=False)
    shown = show(talk, budget)
    assert shown.tokens + shown.reserved <= budget
