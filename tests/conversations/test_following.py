from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from muisti.core.conversations.model import Change, NewObject, Streamed, Turn
from muisti.core.conversations.summaries import TOPICS
from muisti.core.conversations.topics import spans_of
from muisti.core.conversations.view import Stream, Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.outcomes import Undo
from muisti.core.model.places import ObjectName
from muisti.core.model.values import Memory
from muisti.core.query.query import Query
from tests.core.fakes import SPACE

NAME = "c-1"
FLAT = "flat rent turku balcony river rooms landlord keys"
CAT = "cat vet medicine appetite whiskers fur purring basket"
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def said(words: str, n: int, start: int = 0, at: datetime = NOON) -> list[Turn]:
    """Return turns about the same few words, each a minute later."""
    every = words.split()
    turns: list[Turn] = []
    for place in range(n):
        chosen = " ".join(every[(place + shift) % len(every)] for shift in range(5))
        content = f"I said number {start + place} of the {chosen} matters to the {every[place % len(every)]} today"
        turns.append(Turn(content=content, author="ann" if place % 2 else "bob", at=at + timedelta(minutes=place)))
    return turns


def stream(engine: Engine, turns: Sequence[Turn], *, at_once: int = 1_000) -> list[Streamed]:
    return [
        engine.owner.conversations.add_exchanges(
            SPACE, Stream(conversation=NAME, turns=tuple(turns[start : start + at_once]))
        )
        for start in range(0, len(turns), at_once)
    ]


def topics(engine: Engine) -> list[Memory]:
    page = engine.owner.conversations.page(SPACE, Wanted(level="topic", conversation=NAME))
    return sorted((one.memory for one in page.items), key=spans_of)


def spans(engine: Engine) -> list[list[tuple[int, int]]]:
    return [spans_of(topic) for topic in topics(engine)]


def close(engine: Engine) -> None:
    engine.owner.conversations.change(SPACE, ObjectName(level="conversation", name=NAME), Change(state="closed"))


@pytest.fixture
def chat(engine: Engine) -> Engine:
    """Two subjects with a break between them, all turns with a topic."""
    stream(engine, [*said(FLAT, 6), *said(CAT, 6, 6, NOON + timedelta(hours=5))])
    close(engine)
    return engine


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
def test_topics_are_the_same_however_turns_are_grouped(engine: Engine, at_once: int) -> None:
    stream(engine, [*said(FLAT, 20), *said(CAT, 20, 20), *said(FLAT, 5, 40, NOON + timedelta(days=1))], at_once=at_once)
    assert spans(engine) == [[(1, 20)], [(21, 40)]]


@pytest.mark.parametrize("counted", [False, True])
def test_an_undo_takes_back_the_topics_that_followed(engine: Engine, counted: bool) -> None:
    ann = engine.seen_by(Caller("ann", request="r1"))
    turns = tuple([*said(FLAT, 4), *said(CAT, 4, 4, NOON + timedelta(hours=5))])
    ann.conversations.add_exchanges(SPACE, Stream(conversation=NAME, turns=turns))
    made, own = engine.spaces.get(SPACE).seq, len(turns) + 2  # with the session and the conversation
    assert made > own and topics(engine)
    undone = ann.write.undo(SPACE, Undo(last=own if counted else None))
    assert undone.undone == f"{made} changes ({made} created)" and len(undone.ended) == made


def test_new_topics_are_told_at_their_turns(engine: Engine) -> None:
    (streamed,) = stream(engine, [*said(FLAT, 4), *said(CAT, 4, 4, NOON + timedelta(hours=5))])
    assert [one.topic for one in streamed.items] == ["t1"] * 4 + [None] * 4


def test_a_closed_conversation_has_topics_for_all_turns_whose_titles_name_what_they_are_about(chat: Engine) -> None:
    assert spans(chat) == [[(1, 6)], [(7, 12)]]
    for topic, words in zip(topics(chat), (FLAT, CAT), strict=True):
        assert set(topic.content.lower().split(", ")) <= {*words.split()}


def test_topics_follow_in_another_process(engine: Engine) -> None:
    turns = [*said(FLAT, 20), *said(CAT, 20, 20)]
    stream(engine, turns[:25])
    parts = engine.owner.conversations.following
    parts._topics._followed.clear()  # as a process that has just started
    stream(engine, turns[25:])
    assert spans(engine) == [[(1, 20)]]


def test_given_topics_are_not_changed_by_later_turns(chat: Engine) -> None:
    chat.owner.discourse.split_topic(SPACE, NAME, "t1", 4, title="The keys")
    chat.owner.conversations.change(SPACE, ObjectName(level="conversation", name=NAME), Change(state="open"))
    before = topics(chat)
    stream(chat, [*said(CAT, 8, 12, NOON + timedelta(days=1)), *said(FLAT, 3, 20, NOON + timedelta(days=2))])
    assert topics(chat)[:3] == before
    assert spans(chat)[3:] == [[(13, 20)]]


def test_a_boundary_moves_both_ways(chat: Engine) -> None:
    chat.owner.discourse.move_topic(SPACE, NAME, "t2", 5)
    assert spans(chat) == [[(1, 4)], [(5, 12)]]
    chat.owner.discourse.move_topic(SPACE, NAME, "t2", 10)
    assert spans(chat) == [[(1, 9)], [(10, 12)]]


def give(engine: Engine, *given: tuple[int, int], name: str | None = None) -> Memory:
    new = NewObject(name=name, spans=given)
    return engine.owner.conversations.create(SPACE, "topic", new, conversation=NAME).found.memory


def test_a_given_topic_takes_its_turns_from_topics_that_were_found(chat: Engine) -> None:
    chat.owner.conversations.change(SPACE, ObjectName(level="conversation", name=NAME), Change(state="open"))
    give(chat, (3, 4), (6, 8), name="mine")
    held = {topic.topic: spans_of(topic) for topic in topics(chat)}
    assert held == {"t1": [(1, 2), (5, 5)], "mine": [(3, 4), (6, 8)], "t2": [(9, 12)]}
    assert {topic.structure["bounds"] for topic in topics(chat) if topic.topic != "mine"} == {"derived"}
    name = ObjectName(level="topic", name="mine", conversation=NAME)
    chat.owner.conversations.change(SPACE, name, Change(spans=((7, 12),)))
    assert {topic.topic: spans_of(topic) for topic in topics(chat)} == {"t1": [(1, 2), (5, 5)], "mine": [(7, 12)]}


def test_a_turn_is_given_to_one_topic_only(chat: Engine) -> None:
    chat.owner.conversations.change(SPACE, ObjectName(level="conversation", name=NAME), Change(state="open"))
    give(chat, (3, 4), name="mine")
    give(chat, (1, 1), name="yours")
    before = topics(chat)
    with pytest.raises(Conflict, match="'mine' was given some of these turns"):
        give(chat, (4, 9), name="other")
    with pytest.raises(Conflict, match="'mine'"):
        name = ObjectName(level="topic", name="yours", conversation=NAME)
        chat.owner.conversations.change(SPACE, name, Change(spans=((1, 3),)))
    assert topics(chat) == before
    give(chat, (5, 6), name="other")  # what lies between stays as it is


def test_an_undo_gives_back_the_turns_that_a_given_topic_took(chat: Engine) -> None:
    chat.owner.conversations.change(SPACE, ObjectName(level="conversation", name=NAME), Change(state="open"))
    before = spans(chat)
    asking = chat.seen_by(Caller(actor="ann", request="r-9"))
    asking.conversations.create(SPACE, "topic", NewObject(name="mine", spans=((2, 12),)), conversation=NAME)
    assert spans(chat) == [[(1, 1)], [(2, 12)]]
    asking.write.undo(SPACE, Undo(last=100, request="r-9"))
    assert spans(chat) == before


def test_changes_of_what_is_not_there_are_refused(chat: Engine) -> None:
    view = chat.owner.discourse
    for turn in (0, 1, 7, 99):
        with pytest.raises(InvalidInput):
            view.split_topic(SPACE, NAME, "t1", turn)
    with pytest.raises(NotFound):
        view.merge_topics(SPACE, NAME, ["t1", "t9"])
    with pytest.raises(InvalidInput):
        view.merge_topics(SPACE, NAME, ["t1", "t1"])
    for topic, turn in (("t1", 3), ("t2", 1)):
        with pytest.raises(InvalidInput):
            view.move_topic(SPACE, NAME, topic, turn)


def test_summaries_follow(chat: Engine) -> None:
    found = chat.owner.discourse.summaries(SPACE, NAME)
    assert [(one.memory.topic, one.stale) for one in found] == [("t1", False), ("t2", False), (None, False)]
    of_topics, whole = found[:2], found[2].memory
    assert set(whole.derived_from) <= {one.memory.id for one in of_topics}
    assert all(one.memory.tokens <= 110 for one in of_topics)
    assert "number 0 of the" in of_topics[0].memory.content
    assert not chat.owner.discourse.summarise(SPACE, NAME)


def test_summaries_that_others_make_meanwhile_are_not_made_twice(chat: Engine) -> None:
    others: list[Memory | None] = []
    view = chat.owner.discourse

    def overtaken(text: str, tokens: int) -> str:
        others.extend(view.summarise(SPACE, NAME))
        others.append(view.summarise_session(SPACE, "default"))
        return "Too late."

    view.move_topic(SPACE, NAME, "t2", 5)
    assert view.summarise(SPACE, NAME, write=overtaken) == []
    assert len(others) == 4
    assert not any(one.stale for one in view.summaries(SPACE, NAME))
    chat.owner.conversations.change(SPACE, ObjectName(level="conversation", name=NAME), Change(state="open"))
    stream(chat, said(FLAT, 3, 40, NOON + timedelta(days=1)))
    close(chat)
    assert view.summarise_session(SPACE, "default", write=overtaken) == others[-1]


def test_the_summary_of_an_open_conversation_lags_and_says_so(engine: Engine) -> None:
    def states() -> list[bool]:
        return [one.stale for one in engine.owner.discourse.summaries(SPACE, NAME) if one.memory.topic is None]

    lags: list[list[bool]] = []
    for day in range(TOPICS + 2):
        stream(engine, said((FLAT, CAT)[day % 2], 3, 3 * day, NOON + timedelta(days=day)))
        lags.append(states())
    assert lags == [[], [False], *[[True]] * (TOPICS - 1), [False]]
    found = engine.owner.discourse.summaries(SPACE, NAME)
    assert not any(one.stale for one in found if one.memory.topic)
    assert len(found) == TOPICS + 2
    stream(engine, said(FLAT, 3, 90, NOON + timedelta(days=90)))
    assert states() == [True]
    assert [one.topic for one in engine.owner.discourse.summarise(SPACE, NAME)] == [None]
    assert states() == [False]


def test_an_abstractive_summary_is_erased_with_turns_that_it_does_not_name(engine: Engine) -> None:
    streamed = stream(engine, said(FLAT, 130))
    (whole, *_) = engine.owner.discourse.summarise(SPACE, NAME, write=lambda text, tokens: "They speak of number 77.")[
        -1:
    ]
    of_session = engine.owner.discourse.summarise_session(SPACE, "default", write=lambda text, tokens: "A flat.")
    assert of_session is not None
    exchanges = [one.memory.id for one in streamed[0].items]
    unnamed = next(one for one in exchanges if one not in whole.derived_from)
    planned = {one.memory_id for one in engine.eraser.plan_memory(SPACE, unnamed, OWNER).items}
    assert planned == {unnamed, whole.id, of_session.id}
    report = engine.eraser.memory(SPACE, unnamed, OWNER)
    assert report.erased["memories"] == 3
    assert not any(report.found.values())


def test_a_turn_that_is_erased_while_a_model_writes_is_in_no_summary(engine: Engine) -> None:
    (streamed,) = stream(engine, said(FLAT, 130))
    erased = streamed.items[7].memory
    given: list[str] = []

    def erasing(text: str, tokens: int) -> str:
        if not given:
            engine.eraser.memory(SPACE, erased.id, OWNER)
        given.append(text)
        return f"Summary {len(given)}."

    (whole,) = engine.owner.discourse.summarise(SPACE, NAME, write=erasing)[-1:]
    assert erased.content in given[0]
    assert erased.content not in given[1]
    assert whole.content == f"Summary {len(given)}."
    assert whole.structure["method"] == "abstractive"


def test_an_abstractive_summary_of_another_topic_stays(chat: Engine) -> None:
    chat.owner.discourse.move_topic(SPACE, NAME, "t2", 8)
    made = chat.owner.discourse.summarise(SPACE, NAME, write=lambda text, tokens: "They speak.")
    first, second, whole = sorted(made, key=lambda one: one.topic or "t9")
    page = chat.owner.conversations.exchanges(SPACE, ObjectName(level="conversation", name=NAME))
    turns = {one.turn: one.id for one in page.items}
    planned = {one.memory_id for one in chat.eraser.plan_memory(SPACE, turns[2], OWNER).items}
    assert planned >= {turns[2], first.id, whole.id}
    assert second.id not in planned
    moved = {one.memory_id for one in chat.eraser.plan_memory(SPACE, turns[7], OWNER).items}
    assert moved >= {turns[7], first.id, second.id, whole.id}  # the second topic had it before


def test_summaries_and_topics_are_in_no_search(chat: Engine) -> None:
    hits = chat.owner.read.search(SPACE, Query(text="flat turku cat vet", limit=100)).hits
    assert {hit.memory.kind for hit in hits} == {"exchange"}


def test_an_exchange_is_its_own_summary_or_has_one(engine: Engine) -> None:
    stream(engine, [Turn(content="I moved to Turku."), Turn(content=" ".join(one.content for one in said(CAT, 30)))])
    assert engine.owner.discourse.summarise_exchange(SPACE, NAME, 1).kind == "exchange"
    made = engine.owner.discourse.summarise_exchange(SPACE, NAME, 2)
    assert (made.kind, made.turn) == ("summary", 2)
    assert engine.owner.discourse.summarise_exchange(SPACE, NAME, 2) == made


def test_a_session_is_summarised_from_its_conversations(chat: Engine) -> None:
    whole = chat.owner.discourse.summaries(SPACE, NAME)[-1].memory
    made = chat.owner.discourse.summarise_session(SPACE, "default")
    assert made is not None
    assert made.derived_from == (whole.id,)
    assert chat.owner.discourse.summarise_session(SPACE, "default") == made
    with pytest.raises(NotFound):
        chat.owner.discourse.summarise_session(SPACE, "nowhere")
