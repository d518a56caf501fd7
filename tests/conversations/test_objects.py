"""Sessions, conversations and topics: named, listed, changed, moved, closed, deleted with all below, erased."""

from pathlib import Path

import pytest

from muisti.core.conversations.adopting import Adopted
from muisti.core.conversations.model import Change, NewObject
from muisti.core.conversations.view import Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.choices import UNDO_MAX
from muisti.core.model.errors import Conflict, ConversationClosed, InvalidInput, NotFound, PlaceTaken, Stale
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import parse as point
from muisti.core.query.query import Query
from tests.conversations.talking import at, named, said, stream, talks, texts
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Stores

ALL = Wanted(level="conversation")


def test_objects_are_made_with_given_or_generated_names(engine: Engine):
    view = talks(engine)
    made = view.create(SPACE, "conversation", NewObject(name="c", title="Moving", users=("Ann",), session="s"))
    assert (made.found.name, made.found.memory.content, made.found.users) == ("c", "Moving", ("Ann",))
    assert view.get(SPACE, named("s", "session"))[0].counted.conversations == 1
    with pytest.raises(PlaceTaken):
        view.create(SPACE, "conversation", NewObject(name="c", session="t"))
    with pytest.raises(NotFound):
        view.get(SPACE, named("t", "session"))
    other = view.create(SPACE, "conversation", NewObject())
    assert other.found.name.startswith("conversation-") and other.found.memory.session == "default"
    assert view.create(SPACE, "session", NewObject(title="Work")).found.name.startswith("session-")
    topics = [view.create(SPACE, "topic", NewObject(spans=((n, n),)), conversation="c").found for n in (1, 2)]
    assert [topic.name for topic in topics] == ["t1", "t2"]
    with pytest.raises(NotFound):
        view.create(SPACE, "topic", NewObject(name="t"), conversation="nowhere")
    for bad in (NewObject(name=" "), NewObject(title="x" * 2_001), NewObject(users=tuple(map(str, range(51))))):
        with pytest.raises(InvalidInput):
            view.create(SPACE, "conversation", bad)
    for spans in (((3, 1),), ((1, 3), (3, 4))):
        with pytest.raises(InvalidInput):
            view.create(SPACE, "topic", NewObject(spans=spans), conversation="c")


def test_lists_have_totals_orders_pages_and_filters(engine: Engine):
    for number, (session, user) in enumerate([("s", "Ann"), ("s", "Bob"), ("t", "Ann"), ("t", "Carl"), ("u", "Ann")]):
        turns = said(*("x" for _ in range(number + 1)), author=user)
        stream(engine, f"c{number}", turns, session=session)
    view = talks(engine)

    def names(**wanted: object) -> tuple[list[str], int]:
        page = view.page(SPACE, Wanted(level="conversation", **wanted))  # pyright: ignore[reportArgumentType]
        return [one.name for one in page.items], page.total

    assert names() == (["c4", "c3", "c2", "c1", "c0"], 5)
    assert names(sort="last_at") == (["c0", "c1", "c2", "c3", "c4"], 5)
    assert names(sort="-name", limit=2) == (["c4", "c3"], 5)
    assert names(session="t", sort="name") == (["c2", "c3"], 2)
    assert names(user="ann", sort="name") == (["c0", "c2", "c4"], 3)
    assert names(state="closed") == ([], 0)
    for sort in ("-last_at", "last_at", "name", "-created_at", "created_at"):
        whole, _ = names(sort=sort)
        read: list[str] = []
        cursor = None
        while True:
            page = view.page(SPACE, Wanted(level="conversation", sort=sort, limit=2, cursor=cursor))
            read += [one.name for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert read == whole
    sessions = view.page(SPACE, Wanted(level="session", sort="name"))
    assert [(one.name, one.counted.conversations, one.counted.turns) for one in sessions.items] == [
        ("s", 2, 3), ("t", 2, 7), ("u", 1, 5),
    ]  # fmt: skip
    for bad in (
        Wanted(level="session", limit=0),
        Wanted(level="session", sort="x"),
        Wanted(level="session", cursor="x"),
    ):
        with pytest.raises(InvalidInput):
            view.page(SPACE, bad)
    with pytest.raises(NotFound):
        view.page(SPACE, Wanted(level="topic", conversation="nowhere"))


def test_objects_change_in_versions(engine: Engine):
    stream(engine, "c", said("one"), session="s")
    view, name = talks(engine), named("c")
    before = engine.spaces.get(SPACE).at
    renamed = view.change(SPACE, name, Change(title="Moving", metadata={"k": 1}, users=("Bob",)))
    memory = renamed.found.memory
    assert (memory.content, memory.version, memory.structure["title"]) == ("Moving", 2, "given")
    assert (dict(memory.metadata), renamed.found.users) == ({"k": 1}, ("Bob",))
    with pytest.raises(Stale):
        view.change(SPACE, name, Change(title="Again"), if_match=1)
    moved = view.change(SPACE, name, Change(session="new"))
    assert moved.found.memory.session == "new"
    assert view.get(SPACE, named("new", "session"))[0].counted.conversations == 1
    closed = view.change(SPACE, name, Change(state="closed")).found
    assert closed.state == "closed" and closed.memory.structure["closed_at"]
    assert view.change(SPACE, name, Change(state="closed")).found.memory.version == closed.memory.version
    opened = view.change(SPACE, name, Change(state="open")).found
    assert opened.state == "open" and "closed_at" not in opened.memory.structure
    old, seq = view.get(SPACE, name, as_of=point(str(before)))
    assert (old.memory.content, old.memory.session, seq) == ("one", "s", before)
    history = engine.owner.read.history(SPACE, memory.id)
    assert [one.memory.version for one in history.versions] == [5, 4, 3, 2, 1]
    for wrong in (Change(spans=((1, 2),)),):
        with pytest.raises(InvalidInput):
            view.change(SPACE, name, wrong)
    for wrong in (Change(session="t"), Change(spans=((1, 2),))):
        with pytest.raises(InvalidInput):
            view.change(SPACE, named("s", "session"), wrong)
    view.change(SPACE, named("new", "session"), Change(state="closed"))
    stream(engine, "d", said("two"), session="s")
    with pytest.raises(ConversationClosed):
        view.change(SPACE, named("d"), Change(session="new"))


def test_a_deletion_takes_all_below_and_an_undo_brings_it_back(engine: Engine):
    stream(engine, "c", said("one", "two"), session="s")
    stream(engine, "d", said("three"), session="s")
    stream(engine, "e", said("four"), session="other")
    talks(engine).create(SPACE, "topic", NewObject(spans=((1, 2),)), conversation="c")
    add(engine, "apart")
    counts = {"session": 1, "conversation": 2, "topic": 1, "exchange": 3}
    tried = talks(engine, dry_run=True).delete(SPACE, named("s", "session"))
    assert (tried.counts, tried.total) == (counts, 7) and tried.plan is not None and tried.plan.changes == 7
    assert texts(engine, "c") == [(1, "one"), (2, "two")]
    caller = Caller(actor="a", request="the-request")
    assert talks(engine, caller).delete(SPACE, named("s", "session")).counts == counts
    for gone in (named("s", "session"), named("c"), named("d")):
        with pytest.raises(NotFound):
            talks(engine).get(SPACE, gone)
    left = engine.owner.read.list(SPACE).items
    assert sorted(one.content for one in left) == ["apart", "four"]
    assert not engine.owner.read.search(SPACE, Query(text="two", mode="keyword")).hits
    engine.owner.write.undo(SPACE, Undo(last=1_000, request="the-request"))
    assert texts(engine, "c") == [(1, "one"), (2, "two")]
    assert talks(engine).get(SPACE, named("c"))[0].counted.topics == 1
    talks(engine).delete(SPACE, named("t1", "topic", "c"))
    assert texts(engine, "c") == [(1, "one"), (2, "two")]
    with pytest.raises(NotFound):
        talks(engine).delete(SPACE, named("t1", "topic", "c"))


@pytest.mark.file_only  # a server ends a transaction after five seconds
def test_one_undo_brings_a_long_conversation_back(tmp_path: Path):
    with open_engine(tmp_path / "a.db") as engine:
        for first in range(1, 2_401, 800):
            stream(engine, "c", said(*(f"turn {number}" for number in range(first, first + 800)), first=first))
        caller = Caller(actor="a", request="r")
        assert talks(engine, caller).delete(SPACE, named("c")).total == 2_401
        engine.owner.write.undo(SPACE, Undo(last=UNDO_MAX, request="r"))
        talk, _ = talks(engine).get(SPACE, named("c"))
        assert (talk.counted.turns, talk.counted.last_turn) == (2_400, 2_400)


def test_a_topic_counts_the_turns_of_its_stretches(engine: Engine):
    stream(engine, "c", said("a", "b", "c", "d", "e"))
    view = talks(engine)
    view.create(SPACE, "topic", NewObject(title="Begin", spans=((1, 2), (5, 5))), conversation="c")
    view.create(SPACE, "topic", NewObject(title="Middle", spans=((3, 4),)), conversation="c")
    topics = view.page(SPACE, Wanted(level="topic", conversation="c", sort="created_at"))
    assert [(one.name, one.counted.turns, one.counted.last_turn) for one in topics.items] == [
        ("t1", 3, 5),
        ("t2", 2, 4),
    ]
    view.change(SPACE, named("t2", "topic", "c"), Change(spans=((3, 3),), title="One"))
    (only,) = [one for one in view.page(SPACE, Wanted(level="topic", conversation="c")).items if one.name == "t2"]
    assert (only.counted.turns, only.memory.content) == (1, "One")


def test_filters_by_session_and_topic_choose_turns(engine: Engine):
    ann = Caller(actor="ann", category="ann")
    stream(engine, "c", said("red stone", "blue stone"), session="s")
    stream(engine, "d", said("red tree"), session="t")
    stream(engine, "c", said("red cloud"), session="t", caller=ann)
    add(engine, "red alone")
    talks(engine).create(SPACE, "topic", NewObject(name="colours", spans=((2, 9),)), conversation="c")

    def found(filter: object, caller: Caller = OWNER) -> list[str]:
        read, parsed = engine.seen_by(caller).read, parse(filter)  # pyright: ignore[reportArgumentType]
        listed = sorted(one.content for one in read.list(SPACE, filter=parsed).items)
        hits = read.search(SPACE, Query(text="red blue stone tree cloud alone", mode="keyword", filter=parsed)).hits
        assert sorted(hit.memory.content for hit in hits) == listed
        return listed

    assert found({"session": "s"}) == ["blue stone", "red stone"]
    assert found({"session": ["s", "t"]}) == ["blue stone", "red cloud", "red stone", "red tree"]
    assert found({"not": {"session": "s"}}) == ["red cloud", "red tree"]
    assert found({"not": {"session": "nowhere"}}) == ["blue stone", "red cloud", "red stone", "red tree"]
    assert found({"session": {"exists": False}}) == ["red alone"]
    assert found({"session": {"exists": True}}) == ["blue stone", "red cloud", "red stone", "red tree"]
    assert found({"topic": "colours"}) == ["blue stone"]
    assert found({"not": {"topic": "colours"}}) == ["red cloud", "red stone", "red tree"]
    assert found({"topic": {"exists": True}}) == ["blue stone"]
    assert found({"topic": {"exists": False}}) == ["red alone", "red cloud", "red stone", "red tree"]
    assert found({"session": "t"}, ann) == ["red cloud"]
    assert found({"session": "s"}, ann) == []
    before = engine.spaces.get(SPACE).at
    talks(engine).change(SPACE, named("d"), Change(session="s"))
    assert found({"session": "s"}) == ["blue stone", "red stone", "red tree"]
    past = engine.owner.read.list(SPACE, filter=parse({"session": "s"}), as_of=point(str(before)))
    assert sorted(one.content for one in past.items) == ["blue stone", "red stone"]


def test_a_purge_leaves_nothing_of_it(tmp_path: Path):
    path = tmp_path / "a.db"
    word = "canary" + "bird"
    with open_engine(path) as engine:
        turns = said(f"the {word} sings", f"a {word} again", author=f"{word}-author")
        stream(engine, f"c-{word}", turns, session=f"s-{word}")
        stream(engine, "other", said("left alone"), session="t")
        view = talks(engine)
        view.create(SPACE, "topic", NewObject(title=f"about {word}", spans=((1, 1),)), conversation=f"c-{word}")
        view.change(SPACE, named(f"c-{word}"), Change(title=f"The {word}", metadata={"bird": word}))
        engine.owner.write.delete(SPACE, stream(engine, f"c-{word}", said(f"{word} gone", first=5)).items[0].memory.id)
        view.delete(SPACE, named(f"c-{word}"))
        engine.owner.write.undo(SPACE, Undo(last=4))
        plan = engine.eraser.plan_conversation(SPACE, named(f"s-{word}", "session"), OWNER)
        assert plan.changes == 6
        report = engine.eraser.conversation(SPACE, named(f"s-{word}", "session"), OWNER)
        assert report.complete and report.erased["memories"] == 6
        with pytest.raises(NotFound):
            engine.eraser.conversation(SPACE, named(f"s-{word}", "session"), OWNER)
        assert texts(engine, "other") == [(1, "left alone")]
        for file in tmp_path.iterdir():
            assert word.encode() not in file.read_bytes(), file


def adopted(engine: Engine, *, dry_run: bool = False) -> Adopted:
    return talks(engine, dry_run=dry_run).adopt(SPACE)


def test_memories_with_a_session_are_adopted_once(engine: Engine):
    def told(text: str, session: object, turn: object, **more: object) -> str:
        metadata = {"session": session} | ({} if turn is None else {"turn": turn})
        return add(engine, text, metadata=metadata, **more)[0]

    second = told("second", "s1", 2, author="Bob")
    first = told("first", "s1", 1, author="Ann")
    note = told("a note about it", "s1", None)
    again = told("twice", "s1", 2)
    told("seven", 7, 1)
    bad = told("bad", "a\nb", 1)
    told("of ann", "s1", 1, category="ann")
    add(engine, "apart")
    tried = adopted(engine, dry_run=True)
    assert (tried.exchanges, tried.conversations, tried.sessions, tried.left) == (4, 3, 2, 2)
    assert talks(engine).page(SPACE, ALL).total == 0
    done = adopted(engine)
    assert (done.exchanges, done.conversations, done.sessions, done.left) == (4, 3, 2, 2)
    assert engine.owner.read.get(SPACE, note).memory.kind == "memory"
    assert {one.id for one in done.items} == {again, bad}
    page = talks(engine).exchanges(SPACE, named("s1"))
    assert [(one.turn, one.id) for one in page.items] == [(1, first), (2, second)]
    assert {one.kind for one in page.items} == {"exchange"} and page.items[0].version == 2
    talk, _ = talks(engine).get(SPACE, named("s1"))
    assert (talk.memory.content, talk.users) == ("first", ("Ann", "Bob"))
    assert texts(engine, "s1", Caller(category="ann")) == [(1, "of ann")]
    assert adopted(engine).exchanges == 0
    assert [hit.memory.id for hit in engine.owner.read.search(SPACE, Query(text="first", mode="keyword")).hits] == [
        first
    ]
    told("late", "s1", 9)
    assert (adopted(engine).exchanges, talks(engine).get(SPACE, named("s1"))[0].counted.turns) == (1, 3)


def test_a_conversation_in_the_metadata_is_adopted_into_its_session(engine: Engine):
    for session, talk, turn in (("s", "c1", 1), ("s", "c1", 2), ("s", "c2", 1), ("t", "c3", 1)):
        named_so = {"session": session, "conversation": talk, "turn": turn, "conversation_title": f"About {talk}"}
        add(engine, f"{talk} turn {turn}", metadata=named_so)
    done = adopted(engine)
    assert (done.exchanges, done.conversations, done.sessions, done.left) == (4, 3, 2, 0)
    session, _ = talks(engine).get(SPACE, named("s", "session"))
    assert (session.counted.conversations, session.counted.turns) == (2, 3)
    talk, _ = talks(engine).get(SPACE, named("c2"))
    assert (talk.memory.content, talk.memory.session) == ("About c2", "s")


def test_a_space_streamed_in_ranks_as_one_by_the_convention(stores: Stores):
    """Neighbours, speakers and times count alike, whether turns are exchanges, metadata, or adopted."""
    lines = [
        ("Ann", "I bought a red bicycle"), ("Bob", "Where did you find it?"), ("Ann", "In the shop by the river"),
        ("Bob", "Do they sell helmets?"), ("Ann", "Yes, blue ones"), ("Bob", "I will go there on Monday"),
    ]  # fmt: skip
    with open_engine(stores()) as engine:
        engine.spaces.create("convention", engine.spaces.get(SPACE).settings)
        for talk in range(3):
            turns = [
                turn for n, (who, text) in enumerate(lines) for turn in said(f"{text} {talk}", first=n + 1, author=who)
            ]
            stream(engine, f"c{talk}", turns)
            engine.owner.write.add("convention", [
                Draft(content=turn.content, author=turn.author, event_at=turn.at,
                      metadata={"session": f"c{talk}", "turn": turn.turn}) for turn in turns
            ], on_conflict="keep")  # fmt: skip

        def ranked(space: str, text: str) -> list[tuple[str, float]]:
            answer = engine.owner.read.search(space, Query(text=text, limit=20, reference_time=0))
            return [(hit.memory.content, round(hit.score, 9)) for hit in answer.hits]

        queries = ("where did Ann buy the bicycle?", "helmets", "what did Bob say about Monday?", "the river")
        streamed = [ranked(SPACE, text) for text in queries]
        assert all(streamed) and streamed == [ranked("convention", text) for text in queries]
        talks(engine).adopt("convention")
        assert streamed == [ranked("convention", text) for text in queries]


def test_forks_merges_and_rollbacks_keep_the_hierarchy(engine: Engine):
    stream(engine, "c", said("one", "two"), session="s")
    talks(engine).create(SPACE, "topic", NewObject(title="T", spans=((1, 2),)), conversation="c")
    before = engine.spaces.get(SPACE).at
    engine.owner.timeline.fork(SPACE, "fork")
    assert talks(engine).get("fork", named("c"))[0].counted.turns == 2
    stream(engine, "c", said("three", first=3), space="fork")
    stream(engine, "d", said("new"), session="s", space="fork")
    engine.owner.timeline.merge("fork", SPACE)
    assert texts(engine, "c") == [(1, "one"), (2, "two"), (3, "three")]
    assert talks(engine).get(SPACE, named("s", "session"))[0].counted.conversations == 2
    stream(engine, "c", said("mine", first=4))
    stream(engine, "c", said("theirs", first=4), space="fork")
    with pytest.raises(Conflict):
        engine.owner.timeline.merge("fork", SPACE)
    engine.owner.timeline.merge("fork", SPACE, "ours")
    assert texts(engine, "c")[3] == (4, "mine")
    engine.owner.timeline.roll_back(SPACE, str(before))
    assert texts(engine, "c") == [(1, "one"), (2, "two")]
    with pytest.raises(NotFound):
        talks(engine).get(SPACE, named("d"))
    assert at(0)
