"""Imported conversations: their turns and objects are in the hierarchy once, whatever came in before."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from muisti.core.conversations.model import Change, Turn
from muisti.core.conversations.streaming import Stream
from muisti.core.engine import Engine
from muisti.core.model.choices import CONTENT_MAX
from muisti.core.model.ids import imported_id
from muisti.core.model.places import ObjectName
from muisti.core.model.values import Memory
from muisti.core.query.filters import parse
from muisti.service.formats.importers.dialogues import Conversation, message, name_of
from muisti.service.formats.importers.items import lines_of
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring
from tests.service.formats.importers.fixtures import DAY, FIXTURES, MEMORG, chatgpt_node, database, json_of
from tests.stores import at

SPACE = "default"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(at(tmp_path / "muisti.db").open(), WordEncoder(), Clock()) as opened:
        yield opened


def of_kind(engine: Engine, kind: str) -> list[Memory]:
    """Return the current memories of a kind, by turn and name."""
    found = engine.owner.read.list(SPACE, filter=parse({"kind": kind}), limit=100).items
    return sorted(found, key=lambda one: (one.turn or 0, one.conversation or "", one.topic or "", one.content))


def lines_into(engine: Engine, source: str | None, *lines: Mapping[str, Any]) -> None:
    header = {"type": "muisti", "format": 2, **({"source": source} if source else {})}
    coming = engine.owner.write.begin_import(SPACE)
    end = {"type": "end", "lines": len(lines) + 1}
    coming.take([msgspec.json.encode(line) for line in (header, *lines, end)])
    coming.finish()


def fixture(name: str, folder: Path) -> Path:
    found = next(one for one in FIXTURES if one.id == name)
    found.make(folder / found.name)
    return folder / found.name


def test_memorgs_hierarchy_comes_in_whole(engine: Engine, tmp_path: Path):
    bring(engine, fixture("memorg nested.db", tmp_path))
    turns = [one for one in of_kind(engine, "exchange") if one.turn]
    assert [(one.conversation, one.turn, one.author) for one in turns] == [
        ("con-2", 1, "olli-3"), ("con-2", 2, "olli-3"), ("con-2", 3, "olli-3"), ("con-2", 4, "assistant")
    ]  # fmt: skip
    for one in turns[:3]:
        asked, answered = one.content.split("\n\n")
        assert one.structure == {"reply_at": len(asked) + 2, "replier": "assistant"} and answered
    ropes, sails = of_kind(engine, "topic")
    assert (ropes.topic, ropes.content, ropes.structure["spans"]) == ("top-2", "Ropes", [[1, 1], [3, 3]])
    assert (sails.topic, sails.structure["spans"]) == ("top-3", [[2, 2], [4, 4]])
    (talk,), (session,) = of_kind(engine, "conversation"), of_kind(engine, "session")
    assert (talk.content, talk.session, talk.structure["users"]) == ("Harbour", "ses-2", ["olli-3"])
    assert (session.session, session.author, session.structure["users"]) == ("ses-2", "olli-3", ["olli-3"])
    (summary,) = of_kind(engine, "summary")
    assert (summary.conversation, summary.topic, summary.structure["up_to"]) == ("con-2", "top-2", 3)
    assert set(summary.derived_from) == {turns[0].id, turns[2].id}


def test_a_pair_has_the_trust_of_a_model_and_the_importance_of_the_exchange(engine: Engine, tmp_path: Path):
    bring(engine, fixture("memorg full.db", tmp_path))
    (pair,) = of_kind(engine, "exchange")
    assert (pair.source_class, pair.importance, pair.tags) == ("model", "high", ("Paint", "Epoxy"))
    rest: Any = pair.metadata["memorg"]
    assert (rest["importance"], rest["user"]["parsed"]["intents"]) == (0.83, ["ask-advice"])
    (whole,) = [one for one in of_kind(engine, "summary") if one.structure["of"] == "conversation"]
    (part,) = [one for one in of_kind(engine, "summary") if one.structure["of"] == "topic"]
    assert (whole.derived_from, part.derived_from) == ((part.id,), (pair.id,))


def test_a_database_of_memorg_that_came_in_by_messages_is_not_doubled(engine: Engine, tmp_path: Path):
    """Before conversations were objects, each message was a memory. The pair has the id of the user's message."""
    path = tmp_path / "memorg.db"
    database(MEMORG, {"exchanges": [("x1", json.dumps({
        "id": "x1", "user_message": {"raw_content": "Which boat?"}, "system_message": {"raw_content": "A dinghy"},
    }), DAY, DAY)]})(path)  # fmt: skip
    old = [
        {"id": imported_id("memorg", SPACE, f"x1\n{role}"), "content": text, "category": "conversations",
         "author": role, "metadata": {"session": "x1", "turn": turn}}
        for turn, (role, text) in enumerate((("user", "Which boat?"), ("assistant", "A dinghy")), start=1)
    ]  # fmt: skip
    lines_into(engine, "memorg", *({"type": "memory", "memory": one} for one in old))
    report, _ = bring(engine, path)
    assert (report.created, report.skipped) == (0, {"exists": 1})
    assert engine.owner.read.stats(SPACE).memories == 2
    engine.owner.write.undo_import(SPACE, 1)
    report, _ = bring(engine, path)
    assert report.created == 1
    assert [one.content for one in of_kind(engine, "exchange")] == ["Which boat?\n\nA dinghy"]


def chat(*branch: tuple[str, str]) -> list[Mapping[str, Any]]:
    """Return an export of ChatGPT with one conversation, whose messages have ids and texts."""
    parents = [None, *(id_ for id_, _ in branch)]
    roles = ("user", "assistant") * len(branch)
    nodes = {
        id_: chatgpt_node(id_, parent, role, text)
        for (id_, text), parent, role in zip(branch, parents, roles, strict=False)
    }
    return [{"title": "Tea", "conversation_id": "g1", "current_node": branch[-1][0], "mapping": nodes}]


def test_another_branch_of_a_chat_comes_in_beside_the_first(engine: Engine, tmp_path: Path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    json_of(chat(("a", "Which tea?"), ("b", "Coffee")))(first)
    json_of(chat(("a", "Which tea?"), ("c", "Green tea"), ("d", "Thanks")))(second)
    bring(engine, first)
    report, _ = bring(engine, second)
    assert (report.created, report.failed) == (2, 0)
    told = {one.content: (one.turn, one.metadata.get("turn")) for one in of_kind(engine, "exchange")}
    assert told == {"Which tea?": (1, None), "Coffee": (2, None), "Green tea": (None, 2), "Thanks": (3, None)}
    assert len(of_kind(engine, "conversation")) == 1


def test_an_object_that_the_space_has_already_is_passed_over(engine: Engine, tmp_path: Path):
    own = {"id": "0197a3c0-5f4e-7000-8000-000000000001", "content": "Mine", "kind": "conversation",
           "conversation": "g1", "session": "mine"}  # fmt: skip
    lines_into(engine, None, {"type": "memory", "memory": own})
    json_of(chat(("a", "Which tea?")))(tmp_path / "chat.json")
    report, _ = bring(engine, tmp_path / "chat.json")
    assert (report.created, report.skipped) == (2, {"exists": 1})
    assert [one.content for one in of_kind(engine, "conversation")] == ["Mine"]


def test_a_line_that_does_not_give_way_is_refused(engine: Engine, tmp_path: Path):
    turn = {"content": "One", "kind": "exchange", "conversation": "c", "turn": 1}
    first, second = (f"0197a3c0-5f4e-7000-8000-00000000000{number}" for number in (1, 2))
    lines_into(engine, None, {"type": "memory", "memory": {**turn, "id": first}})
    with pytest.raises(Exception, match="turn 1"):
        lines_into(engine, None, {"type": "memory", "memory": {**turn, "id": second, "content": "Two"}})


def test_a_long_turn_is_one_exchange_and_chunks_of_it():
    said = "word " * (CONTENT_MAX // 2)
    item = message(Conversation("c", "s"), 7, "x", "file", "user", said, None, {}, reply="The end")
    lines = [msgspec.json.decode(line)["memory"] for line in lines_of(item, "memorg", SPACE)]
    assert [one["kind"] for one in lines] == ["exchange", "chunk", "chunk"]
    assert [(one.get("turn"), one.get("parent_id"), one["conversation"]) for one in lines] == [
        (7, None, "c"), (None, lines[0]["id"], "c"), (None, lines[0]["id"], "c")
    ]  # fmt: skip
    assert not any("structure" in one for one in lines)


def test_names_of_objects_fit():
    assert name_of("a\x00b\x85") == "ab"
    long = ["x" * 300, "x" * 301]
    assert len({name_of(one) for one in long}) == 2 and all(len(name_of(one)) <= 200 for one in long)
    assert name_of("\n \t") == name_of("\n \t") != ""


def test_an_imported_conversation_is_shown_continued_and_ended_like_any_other(engine: Engine, tmp_path: Path):
    bring(engine, fixture("memorg nested.db", tmp_path))
    talks = engine.owner.conversations
    name = ObjectName(level="conversation", name="con-2")
    shown, _ = talks.get(SPACE, name)
    assert (shown.users, shown.counted.turns, shown.counted.topics) == (("olli-3",), 4, 2)
    sails, _ = talks.get(SPACE, ObjectName(level="topic", name="top-3", conversation="con-2"))
    assert (sails.counted.turns, sails.memory.content) == (2, "Sails")
    added = talks.add_exchanges(SPACE, Stream(conversation="con-2", turns=(Turn(content="And oars?"),)))
    assert (added.items[0].memory.turn, added.session) == (5, "ses-2")
    ended = talks.delete(SPACE, name)
    assert ended.counts == {"conversation": 1, "topic": 2, "summary": 1, "exchange": 5}
    assert engine.owner.read.stats(SPACE).memories == 1  # the exchange that belongs nowhere


def test_an_imported_summary_stays_until_a_later_turn_belongs_to_it(engine: Engine, tmp_path: Path):
    bring(engine, fixture("memorg full.db", tmp_path))
    name = ObjectName(level="conversation", name="con-1")
    talks, discourse = engine.owner.conversations, engine.owner.discourse
    talks.change(SPACE, name, Change(state="closed"))
    kept = discourse.summaries(SPACE, "con-1")
    assert [(one.memory.content, one.stale) for one in kept] == [
        ("Which paint the hull needs", False), ("They planned the spring", False)
    ]  # fmt: skip
    talks.change(SPACE, name, Change(state="open"))
    talks.add_exchanges(SPACE, Stream(conversation="con-1", turns=(Turn(content="The oars are of ash wood"),)))
    talks.change(SPACE, name, Change(state="closed"))
    whole = discourse.summaries(SPACE, "con-1")[-1].memory
    assert "ash wood" in whole.content and whole.structure["method"] == "extractive"


def test_a_reply_to_nothing_is_said_by_the_assistant():
    memory = message(None, 1, "x", "x", "user", " ", None, {}, reply="Hello, how can I help?").memory
    assert (memory["author"], memory["content"], memory["structure"]) == ("assistant", "Hello, how can I help?", {})
    memory = message(None, 1, "x", "x", "user", "Hello", None, {}, reply=" ").memory
    assert (memory["author"], memory["content"], memory["structure"]) == ("user", "Hello", {})


def test_threads_of_people_keep_who_said_what_and_when(engine: Engine, tmp_path: Path):
    bring(engine, fixture("messenger your_messages", tmp_path), atomic=False)
    bring(engine, fixture("discord package.zip", tmp_path))
    bring(engine, fixture("discord channel.json", tmp_path), atomic=False)  # has the message 101 of the package
    turns = of_kind(engine, "exchange")
    found = [(one.conversation, one.turn, one.author, one.content.partition("\n")[0]) for one in turns]
    assert [one for one in found if str(one[0]).startswith("messenger")] == [
        ("messenger inbox/zoe_1", 1, "Olli", "Hello"), ("messenger inbox/zoe_1", 2, "Olli", "Look"),
        ("messenger inbox/zoe_1", 3, "Zoë", "Café 👍"),
    ]  # fmt: skip
    assert [one[2:] for one in found if one[0] == "discord 77"] == [
        ("olli", "Sew it with waxed thread"), ("Olli", "See this"),
    ]  # fmt: skip
    times = {one.content.partition("\n")[0]: str(one.event_at) for one in turns}
    assert times["Hello"].startswith("2025-03-01 09:30:00") and times["Café 👍"].startswith("2025-03-01 09:30:03")


def test_notes_keep_their_tags_their_notebook_and_their_times(engine: Engine, tmp_path: Path):
    bring(engine, fixture("joplin notes.jex", tmp_path), atomic=False)
    bring(engine, fixture("google-keep Takeout", tmp_path), atomic=False)
    found = {one.content.partition("\n")[0]: one for one in engine.owner.read.list(SPACE, limit=100).items}
    assert (found["Sewing"].category, found["Sewing"].tags, found["Sewing"].author) == (
        "Boats/Sails",
        ("cloth",),
        "Ann",
    )
    assert found["Shop"].tags == ("Boat",) and str(found["Shop"].created_at).startswith("2025-03-01 09:30:00")
