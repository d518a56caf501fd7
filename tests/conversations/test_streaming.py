"""Turns come in once, in their places, and with all that they belong to."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import structs

from muisti.core.conversations.context.request import Request
from muisti.core.conversations.model import Change, Turn
from muisti.core.conversations.view import Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PlaceTaken,
    SensitiveContent,
)
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from tests.conversations.talking import at, named, said, stream, talks, texts
from tests.core.fakes import SPACE, open_engine
from tests.stores import Stores


def test_missing_parents_are_made_in_the_same_step(engine: Engine):
    done = stream(engine, "c-42", said("I moved to Turku", "in the spring"), session="s-1")
    assert [(one.memory.turn, one.replayed) for one in done.items] == [(1, False), (2, False)]
    assert (done.next_turn, done.session, done.made) == (3, "s-1", 2)
    talk, seq = talks(engine).get(SPACE, named("c-42"))
    assert (talk.memory.content, talk.memory.session, talk.users) == ("I moved to Turku", "s-1", ("Ann",))
    assert (talk.counted.turns, talk.counted.last_turn, talk.counted.first_at) == (2, 2, at(0))
    session, _ = talks(engine).get(SPACE, named("s-1", "session"))
    assert (session.counted.conversations, session.counted.turns) == (1, 2)
    engine.owner.write.undo(SPACE, Undo(last=4))
    with pytest.raises(NotFound):
        talks(engine).get(SPACE, named("c-42"))
    assert seq == done.seq


def test_the_same_again_is_replayed_and_other_content_refused(engine: Engine):
    first = stream(engine, "c", said("one", "two"))
    again = stream(engine, "c", said("two", "three", first=2))
    assert [(one.memory.turn, one.replayed) for one in again.items] == [(2, True), (3, False)]
    assert again.items[0].memory.id == first.items[1].memory.id
    seq = engine.spaces.get(SPACE).at
    for turns in (said("other", first=1), said("new", first=4) + said("other", first=2), said("one", author="Bob")):
        with pytest.raises(PlaceTaken):
            stream(engine, "c", turns)
    only = stream(engine, "c", said("one", "two", "three"))
    assert all(one.replayed for one in only.items) and only.seq == seq == engine.spaces.get(SPACE).at
    assert texts(engine, "c") == [(1, "one"), (2, "two"), (3, "three")]


def test_a_turn_that_occurs_twice_in_a_request_is_stored_once(engine: Engine):
    done = stream(engine, "c", said("one", first=7) + said("one", first=7))
    assert [one.replayed for one in done.items] == [False, True]
    with pytest.raises(PlaceTaken):
        stream(engine, "c", said("two", first=8) + said("three", first=8))
    assert texts(engine, "c") == [(7, "one")]


def test_both_messages_of_an_exchange_stand_in_one_text(engine: Engine):
    turn = Turn(content="I moved to Turku.", reply="Noted!", author="Ann", turn=17, at=at(0))
    (one,) = stream(engine, "c", [turn]).items
    memory = one.memory
    start = memory.structure["reply_at"]
    assert isinstance(start, int)
    assert (memory.content[:start], memory.content[start:]) == ("I moved to Turku.\n\n", "Noted!")
    assert (memory.author, memory.structure["replier"], memory.event_at) == ("Ann", "assistant", at(0))
    assert stream(engine, "c", [turn]).items[0].replayed
    with pytest.raises(PlaceTaken):
        stream(engine, "c", [structs.replace(turn, reply="Noted?")])
    with pytest.raises(PlaceTaken):  # the same text, but another speaker has said a part of it
        stream(engine, "c", [Turn(content="I moved to Turku.\n\nNoted!", author="Ann", turn=17)])


def test_turns_without_a_number_take_the_next(engine: Engine):
    first = stream(engine, "c", said("a", "b", first=None))
    assert [one.memory.turn for one in first.items] == [1, 2]
    mixed = [*said("d", first=9), *said("e", first=None)]
    assert [one.memory.turn for one in stream(engine, "c", mixed).items] == [9, 10]

    def one(number: int) -> int | None:
        return stream(engine, "c", said(f"thread {number}", first=None)).items[0].memory.turn

    with ThreadPoolExecutor(8) as pool:
        assert sorted(filter(None, pool.map(one, range(24)))) == list(range(11, 35))


def test_threads_that_make_the_same_conversation_make_it_once(engine: Engine):
    def one(number: int) -> int:
        return stream(engine, "c", said(f"turn {number}", first=number), session="s").made

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, [number % 12 for number in range(1, 37)])) == 12
    page = talks(engine).page(SPACE, Wanted(level="conversation"))
    assert (page.total, page.items[0].counted.turns) == (1, 12)


def test_a_new_speaker_joins_the_users(engine: Engine):
    stream(engine, "c", said("one"))
    stream(engine, "c", said("two", first=2, author="Bob") + said("three", first=3, author="assistant"))
    talk, _ = talks(engine).get(SPACE, named("c"))
    assert talk.users == ("Ann", "Bob") and talk.memory.version == 2


def test_each_category_has_names_of_its_own(engine: Engine):
    ann, bob = Caller(actor="ann", category="Ann"), Caller(actor="bob", category="bob")
    stream(engine, "c", said("of ann"), caller=ann)
    stream(engine, "c", said("of bob", "more of bob"), caller=bob)
    assert texts(engine, "c", ann) == [(1, "of ann")]
    assert texts(engine, "c", bob) == [(1, "of bob"), (2, "more of bob")]
    with pytest.raises(Conflict, match="2 categories"):
        talks(engine).get(SPACE, named("c"))
    assert talks(engine).get(SPACE, named("c", category="ANN"))[0].counted.turns == 1
    stream(engine, "c", said("of nobody"))
    assert texts(engine, "c") == [(1, "of nobody")]
    assert talks(engine).page(SPACE, Wanted(level="conversation")).total == 3
    assert talks(engine, ann).page(SPACE, Wanted(level="conversation")).total == 1
    with pytest.raises(Forbidden):
        stream(engine, "c", said("x", first=5), category="bob", caller=ann)
    with pytest.raises(NotFound):
        talks(engine, Caller(category="carl")).get(SPACE, named("c"))


def test_the_policy_holds_and_a_reply_begins_where_it_stands(stores: Stores):
    secret = f"my key is gh{'p_a8Kd02LmQ7xZp4Rt9VbN3cYw6HsJ1gFu5EoT'}"
    with open_engine(stores()) as engine:
        engine.spaces.set_policy(SPACE, {"secrets": "refuse"})
        with pytest.raises(SensitiveContent) as refused:
            stream(engine, "c", said("fine") + said(secret, first=2))
        assert [one.path for one in refused.value.problems] == ["$.items[1].content"]
        with pytest.raises(NotFound):
            talks(engine).get(SPACE, named("c"))
        engine.spaces.set_policy(SPACE, {"secrets": "redact"})
        turn = Turn(content=secret, reply="Keep it secret", turn=1, author="Ann")
        done = stream(engine, "c", [turn])
        memory = done.items[0].memory
        assert "p_a8Kd" not in memory.content and [flag.code for flag in done.flags] == ["redacted"]
        assert memory.content[int(str(memory.structure["reply_at"])) :] == "Keep it secret"
        assert stream(engine, "c", [turn]).items[0].replayed
        talk, _ = talks(engine).get(SPACE, named("c"))
        assert "p_a8Kd" not in talk.memory.content


@pytest.mark.parametrize("turns", [
    [], said(*("x" for _ in range(1_001))), [Turn(content=" ")], [Turn(content="x", turn=-1)],
    [Turn(content="x", reply=" ")], [Turn(content="x", turn=2**53)],
    [Turn(content="x" * 60_000, reply="y" * 60_000)],
])  # fmt: skip
def test_bad_turns_are_refused_and_nothing_is_stored(turns: list[Turn], engine: Engine):
    with pytest.raises(InvalidInput):
        stream(engine, "c", turns)
    assert not engine.spaces.get(SPACE).at.number


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201, "a\x1fb"])
def test_bad_names_are_refused(name: str, engine: Engine):
    with pytest.raises(InvalidInput):
        stream(engine, name, said("x"))


def test_a_superseded_turn_stays_in_the_transcript_and_is_no_hit(engine: Engine):
    first = stream(engine, "c", said("I live in Rome", "I bake bread", "It rains")).items[0].memory
    before = engine.spaces.get(SPACE).at
    engine.owner.write.supersede(SPACE, first.id, Draft(content="Ann lives in Oslo"))
    everything = [(1, "I live in Rome"), (2, "I bake bread"), (3, "It rains")]
    assert texts(engine, "c") == everything
    page = talks(engine).exchanges(SPACE, named("c"), limit=2)
    assert (page.total, page.next_cursor) == (3, "3")
    assert [(one.status, one.superseded_by is None) for one in page.items] == [("superseded", False), ("active", True)]
    talk, _ = talks(engine).get(SPACE, named("c"))
    assert (talk.counted.turns, talk.counted.first_at, talk.counted.last_turn) == (3, at(0), 3)
    then = talks(engine).exchanges(SPACE, named("c"), limit=9, as_of=AsOf(number=before.number))
    assert [one.status for one in then.items] == ["active"] * 3
    found = engine.owner.read.search(SPACE, Query(text="Where does Ann live? Rome", limit=9))
    assert first.id not in {hit.memory.id for hit in found.hits}

    again = stream(engine, "c", said("I live in Rome", "I bake bread"))
    assert [one.replayed for one in again.items] == [True, True]
    with pytest.raises(PlaceTaken):
        stream(engine, "c", said("I live in Oslo"))
    assert stream(engine, "c", said("Next", first=None)).next_turn == 5

    ending = talks(engine).delete(SPACE, named("c"))
    assert ending.counts["exchange"] == 4
    assert stream(engine, "c", said("Fresh", first=None)).next_turn == 2
    assert texts(engine, "c") == [(1, "Fresh")]
    engine.owner.write.undo(SPACE, Undo(last=2))
    engine.owner.write.undo(SPACE, Undo(last=ending.total))
    assert texts(engine, "c") == [*everything, (4, "Next")]
    engine.owner.write.restore(SPACE, first.id, 1)
    assert [one.status for one in talks(engine).exchanges(SPACE, named("c"), limit=9).items] == ["active"] * 4


def test_topics_summaries_and_contexts_have_superseded_turns(engine: Engine):
    first, second = (one.memory for one in stream(engine, "c", said("I live in Rome", "I bake bread")).items)
    for turn in (first, second):
        engine.owner.write.supersede(SPACE, turn.id, Draft(content=f"Not {turn.content}"))
    talks(engine).change(SPACE, named("c"), Change(state="closed"))
    (topic,) = talks(engine).page(SPACE, Wanted(level="topic", conversation="c")).items
    assert (topic.counted.turns, topic.memory.structure["spans"]) == (2, [[1, 2]])
    request = Request(query="Ann", token_budget=300, encoding="o200k_base", conversation="c")
    text = engine.owner.context.build(SPACE, request).text
    assert "(superseded) Ann: I live in Rome\n(superseded) Ann: I bake bread" in text


@pytest.mark.parametrize(("content", "reply", "place"), [(" ", "Hello", "user"), ("Hello", "\u200b", "system")])
def test_a_turn_of_two_messages_has_words_of_both(engine: Engine, content: str, reply: str, place: str):
    with pytest.raises(InvalidInput, match=rf"\$\.items\[0\]\.{place}: must not be empty or blank"):
        stream(engine, "c", [Turn(content=content, reply=reply)])
