"""An import into a space that has conversations: objects of the same name join, and turns come in."""

import msgspec
import pytest
from msgspec.structs import replace

from muisti.core.conversations.model import NewObject
from muisti.core.conversations.view import Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import ChangedSince, NotFound, NotUndone
from muisti.core.model.operations import ImportReport
from muisti.core.model.outcomes import Undo
from muisti.core.model.places import Span, spans_of
from muisti.core.model.values import Draft, RequestKey
from tests.conversations.talking import named, said, stream, talks, texts
from tests.core.fakes import SPACE


def brought(engine: Engine, who: Caller = OWNER) -> ImportReport:
    """Import what the space `other` holds."""
    pages = engine.owner.read.export("other", "test").pages()
    coming = engine.seen_by(who).write.begin_import(SPACE, atomic=False)
    coming.take([msgspec.json.encode(record) for page in pages for record in page])
    return coming.finish()


def test_objects_of_the_same_name_join_and_undo_removes_only_what_came(engine: Engine):
    engine.spaces.create("other")
    stream(engine, "c", said("one here"))
    stream(engine, "c", said("one there", "two there"), space="other")
    stream(engine, "d", said("three there"), space="other")
    report = brought(engine)
    assert (report.skipped["joined"], report.failed, report.failures[0].code) == (2, 1, "place_taken")
    assert texts(engine, "c") == [(1, "one here"), (2, "two there")]
    assert texts(engine, "d") == [(1, "three there")]
    again = brought(engine)
    assert (again.created, texts(engine, "c")) == (0, [(1, "one here"), (2, "two there")])
    assert report.id is not None
    stream(engine, "c", said("three by another", first=None))
    engine.owner.write.undo_import(SPACE, report.id)
    assert texts(engine, "c") == [(1, "one here"), (3, "three by another")]


def test_topics_of_a_joined_conversation_keep_the_turns_that_come(engine: Engine):
    engine.spaces.create("other")
    words = ("Rome", "Rome too", "Oslo", "Oslo too", "Bari")

    def topic(space: str, *spans: tuple[int, int]) -> None:
        talks(engine).create(space, "topic", NewObject(title=f"Of {space}", spans=spans), conversation="c")

    def shown() -> list[tuple[list[Span], str, int]]:
        page = talks(engine).page(SPACE, Wanted(level="topic", conversation="c")).items
        return sorted((spans_of(one.memory), one.memory.content, one.counted.turns) for one in page)

    stream(engine, "c", said(*words[:2]))
    stream(engine, "c", said(*words), space="other")
    topic(SPACE, (1, 2))
    for span in ((1, 1), (2, 3), (4, 5)):
        topic("other", span)
    first = brought(engine)
    for again in (0, 1):
        assert not again or brought(engine).created == 0
        assert shown() == [([(1, 2)], f"Of {SPACE}", 2), ([(3, 3)], "Of other", 1), ([(4, 5)], "Of other", 2)]
        turns = talks(engine).exchanges(SPACE, named("c")).items
        assert len(turns) == 5 and None not in [one.topic for one in turns]
    assert first.id is not None
    engine.owner.write.undo_import(SPACE, first.id)
    assert shown() == [([(1, 2)], f"Of {SPACE}", 2)]


def test_a_turn_that_comes_takes_no_place_of_a_superseded_one(engine: Engine):
    engine.spaces.create("other")
    turn = stream(engine, "c", said("one here")).items[0].memory
    engine.owner.write.supersede(SPACE, turn.id, Draft(content="not here"))
    stream(engine, "c", said("one there"), space="other")
    assert (brought(engine).failures[0].code, texts(engine, "c")) == ("place_taken", [(1, "one here")])


def test_an_undo_takes_back_an_import_that_was_the_last_call_as_a_whole(engine: Engine):
    ann = Caller("ann", request="r1")
    write = engine.seen_by(ann).write
    write.add(SPACE, [Draft(content="before")])
    engine.spaces.create("other")
    stream(engine, "c", said("one", "two"), space="other")
    # Of the same actor and the same request as what is here: an export may come from another space of the server.
    write.add("other", [Draft(content="from there")])
    report = brought(engine, replace(ann, request="r2"))
    assert report.id is not None
    (there,) = (one for one in engine.owner.read.list(SPACE).items if one.content == "from there")
    engine.seen_by(Caller("bob")).write.add(SPACE, [Draft(content="by another caller")])

    with pytest.raises(NotUndone, match=f"part of import {report.id}") as refused:
        write.undo(SPACE, Undo(request="r1"))
    assert refused.value.instead.import_id == report.id

    tried = engine.seen_by(ann, dry_run=True).write.undo(SPACE, Undo())
    assert tried.plan is not None and tried.plan.changes == report.created
    engine.seen_by(replace(ann, request="r3")).write.update(SPACE, there.id, {"content": "changed since"})
    write.undo(SPACE, Undo())  # the change; then the import, although the memory has other versions now
    key = RequestKey("test", "k", b"body")
    undone = write.undo(SPACE, Undo(), request=key)
    assert undone.undone == f"import {report.id} (2 exchanges, 1 conversation, 1 memory, 1 session)"
    assert there.id in undone.ended and len(undone.ended) == report.created == 5
    assert write.undo(SPACE, Undo(), request=key).replayed  # and does not take back the request before
    listed = engine.owner.read.list(SPACE).items
    assert sorted(one.content for one in listed) == ["before", "by another caller"]

    again = brought(engine, ann)
    assert again.created == report.created and again.id is not None
    engine.seen_by(Caller("bob", request="r3")).write.delete(SPACE, there.id)
    with pytest.raises(ChangedSince, match="by bob"):
        write.undo(SPACE, Undo())
    engine.seen_by(Caller("bob", request="r4")).write.undo(SPACE, Undo())
    stream(engine, "c", said("by another", first=None), caller=Caller("bob"))
    told = write.undo(SPACE, Undo()).undone  # a conversation in which others have spoken stays
    assert told.startswith(f"import {again.id} (2 exchanges, 1 memory); ") and "conversation c stay" in told
    assert texts(engine, "c") == [(3, "by another")]
    write.undo(SPACE, Undo())
    with pytest.raises(NotFound):
        write.undo(SPACE, Undo())
