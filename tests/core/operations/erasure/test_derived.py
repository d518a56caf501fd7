"""Erasure of what is derived from erased memories: it goes with them or is written again, and others keep theirs."""

import gc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from muisti.core.conversations.model import Change, Entry, NewObject, Turn
from muisti.core.conversations.view import Stream, Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import NotFound
from muisti.core.model.operations import Erasure
from muisti.core.model.places import ObjectName
from muisti.core.model.values import Draft, Memory
from muisti.core.query.filters import Subject, parse
from muisti.core.query.points import parse as parse_point
from muisti.core.store.database import Database
from tests.core.fakes import SPACE, Clock, open_engine
from tests.core.operations.erasure.test_eraser import assert_clean, everything, files
from tests.stores import FileStore, Store

WORD = "quuxolosis"
BEGIN = datetime(2026, 11, 1, 12, tzinfo=UTC)
NAME = ObjectName(level="conversation", name="c")


@pytest.fixture
def engine(store: Store, clock: Clock) -> Iterator[Engine]:
    with open_engine(store, clock=clock) as engine:
        yield engine


def say(engine: Engine, *said: tuple[str, str], conversation: str = "c", session: str = "s1") -> list[Memory]:
    turns = [
        Turn(content=text, author=author, at=BEGIN + timedelta(minutes=place))
        for place, (author, text) in enumerate(said)
    ]
    stream = Stream(conversation=conversation, session=session, turns=tuple(turns))
    found = engine.owner.conversations.add_exchanges(SPACE, stream).items
    return [engine.owner.read.get(SPACE, one.memory.id).memory for one in found]


def conversation(engine: Engine) -> Memory:
    return engine.owner.conversations.get(SPACE, NAME)[0].memory


def topics(engine: Engine) -> list[Memory]:
    page = engine.owner.conversations.page(SPACE, Wanted(level="topic", conversation="c"))
    return sorted((one.memory for one in page.items), key=lambda one: one.topic or "")


def by_author(engine: Engine, author: str) -> Erasure:
    return engine.eraser.subject(SPACE, Subject(author=author), {}, OWNER)


def assert_gone(engine: Engine, store: Store, database: Database, word: str = WORD) -> None:
    """Assert that no value of a table has a word, nor has a byte of the files of the database."""
    assert word.encode() not in everything(database).lower()
    if isinstance(store, FileStore):
        del engine
        gc.collect()
        assert word.encode() not in files(store).lower()


TALK = (
    ("Ann", f"My {WORD} diagnosis must stay between us."), ("Bob", "The boat is in the harbour."),
    ("Ann", "Thank you."), ("Bob", "We sail on Monday."),
)  # fmt: skip


def test_a_title_made_from_an_erased_turn_is_made_from_the_next_one(engine: Engine, store: Store):
    first, *_ = say(engine, *TALK)
    before = conversation(engine)
    point = parse_point(str(engine.owner.conversations.get(SPACE, NAME)[1]))
    report = engine.eraser.memory(SPACE, first.id, OWNER)
    assert_clean(report)
    assert report.erased["titles of conversations written again"] == 1
    after = conversation(engine)
    assert (after.content, after.id) == ("The boat is in the harbour.", before.id)
    assert after.version > before.version
    with open_engine(store) as other:
        past, _ = other.owner.conversations.get(SPACE, NAME, as_of=point)
        assert past.memory.content == after.content
    assert_gone(engine, store, store.open())


def test_a_title_stays_when_it_was_given_or_comes_of_another_turn_until_the_last_speaker_goes(engine: Engine):
    *_, last = say(engine, *TALK)
    before = conversation(engine)
    engine.eraser.memory(SPACE, last.id, OWNER)
    assert conversation(engine) == before
    for author in ("Bob", "Ann"):
        by_author(engine, author)
    with pytest.raises(NotFound):
        engine.owner.conversations.get(SPACE, NAME)
    engine.owner.conversations.create(SPACE, "conversation", NewObject(name="c", title="Our boat"))
    first, *_ = say(engine, *TALK, session="default")
    version = conversation(engine).version
    report = engine.eraser.memory(SPACE, first.id, OWNER)
    assert (conversation(engine).content, conversation(engine).version) == ("Our boat", version)
    assert "titles of conversations written again" not in report.erased


@pytest.mark.parametrize("subject", [Subject(author="Ann"), Subject(filter=parse({"author": "Ann"}, "$"))])
def test_a_speaker_is_erased_and_the_conversation_stays_with_the_others(engine: Engine, store: Store, subject: Subject):
    say(engine, *TALK)
    engine.owner.discourse.keep(SPACE, "c", Entry(key="note", content="of all"), len, 100)
    plan = engine.eraser.plan(SPACE, subject)
    report = engine.eraser.subject(SPACE, subject, {}, OWNER)
    assert plan.changes == report.erased["memories"] == 2
    assert_clean(report)
    left = engine.owner.conversations.exchanges(SPACE, NAME).items
    assert [(one.turn, one.content) for one in left] == [(2, TALK[1][1]), (4, TALK[3][1])]
    after = conversation(engine)
    assert (after.content, after.session, after.author) == (TALK[1][1], "s1", "Bob")
    assert after.structure["users"] == ["Bob"]
    assert "of all" in engine.owner.discourse.working(SPACE, "c", "bytes", len, 100).text
    assert_gone(engine, store, store.open())


def test_a_conversation_is_as_old_as_its_last_turn(engine: Engine, clock: Clock):
    say(engine, *TALK)
    clock.pass_days(100)
    say(engine, ("Bob", "We are back."))
    old = Subject(older_than_us=clock() - 50 * 86_400_000_000)
    engine.eraser.subject(SPACE, old, {}, OWNER)
    assert [one.content for one in engine.owner.conversations.exchanges(SPACE, NAME).items] == ["We are back."]
    assert conversation(engine).content == "We are back."


def test_titles_of_topics_come_from_the_turns_that_are_left(engine: Engine, store: Store):
    clinic = [("Ann", f"The zorbulax clinic called about a zorbulax appointment {n}.") for n in range(4)]
    garden = [("Bob", f"We talked of roses, tulips and {WORD if n == 5 else 'lilies'} number {n}.") for n in range(6)]
    turns = say(engine, *clinic, *garden)
    engine.owner.conversations.create(
        SPACE, "topic", NewObject(name="given", title="Kept", spans=((0, 0),)), conversation="c"
    )
    engine.owner.conversations.change(SPACE, NAME, Change(state="closed"))
    engine.eraser.memory(SPACE, turns[-1].id, OWNER)
    for one in turns[:4]:
        report = engine.eraser.memory(SPACE, one.id, OWNER)
        assert_clean(report)
    titles = [one.content.lower() for one in topics(engine)]
    assert "kept" in titles
    assert any("roses" in title for title in titles)
    assert not any("zorbulax" in title for title in titles)
    assert_gone(engine, store, store.open())
    assert_gone(engine, store, store.open(), "zorbulax")


@pytest.mark.parametrize("status", ["candidate", "active"])
def test_what_is_derived_from_an_erased_turn_goes_with_it_step_by_step(engine: Engine, store: Store, status: str):
    turn, *_ = say(engine, ("Ann", f"I love {WORD}."), ("Bob", "So do I."))
    add = engine.owner.write.add
    draft = Draft(content=f"Ann loves {WORD}.", status=status, derived_from=(turn.id,))  # pyright: ignore[reportArgumentType]
    (kept,) = add(SPACE, [draft], on_conflict="keep").memories
    for n in range(6):
        draft = Draft(content=f"{n}: she loves {WORD}.", derived_from=(kept.id,))
        (kept,) = add(SPACE, [draft], on_conflict="keep").memories
    add(SPACE, [Draft(content="The boat is blue.")], on_conflict="keep")
    plan = engine.eraser.plan(SPACE, Subject(memory=bytes.fromhex(turn.id.replace("-", ""))))
    report = engine.eraser.memory(SPACE, turn.id, OWNER)
    assert plan.changes == report.erased["memories"] == 8
    assert_clean(report)
    assert {one.content for one in engine.owner.read.list(SPACE).items} == {"So do I.", "The boat is blue."}
    assert_gone(engine, store, store.open())


def test_a_fork_that_is_merged_brings_no_erased_title_back(engine: Engine):
    first, *_ = say(engine, *TALK)
    engine.owner.timeline.fork(SPACE, "f")
    engine.eraser.memory(SPACE, first.id, OWNER)
    engine.owner.timeline.merge("f", SPACE, drop=True)
    assert conversation(engine).content == "The boat is in the harbour."
    assert [one.turn for one in engine.owner.conversations.exchanges(SPACE, NAME).items] == [2, 3, 4]
