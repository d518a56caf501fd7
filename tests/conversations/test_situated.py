"""Turns that are read name their session and topic, and topics are found by their ids."""

from collections.abc import Mapping

import pytest

from muisti.core.conversations.model import Change, NewObject, Object, Turn
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.outcomes import Undo
from muisti.core.model.values import Json, Memory
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from tests.conversations.talking import named, said, stream, talks
from tests.core.fakes import SPACE

HERE = (1, "s-a", "t1"), (2, "s-a", "t1"), (3, "s-a", None)


def topics_of(engine: Engine) -> dict[str, Object]:
    """The topic t1 of two conversations, which covers two of their three turns."""
    found: dict[str, Object] = {}
    for name in "ab":
        stream(engine, name, said("Rome it is", "Rome again", "Rome last"), session=f"s-{name}")
        new = NewObject(title="Rome", spans=((1, 2),))
        found[name] = talks(engine).create(SPACE, "topic", new, conversation=name).found
    return found


def places(*memories: Memory) -> tuple[tuple[int | None, str | None, str | None], ...]:
    return tuple(sorted((one.turn, one.session, one.topic) for one in memories if one.kind == "exchange"))


def test_every_read_of_a_turn_has_its_session_and_topic(engine: Engine):
    topics_of(engine)
    before = engine.spaces.get(SPACE).at
    own = parse({"conversation": "a"})
    turns = talks(engine).exchanges(SPACE, named("a")).items
    first, read, write = turns[0].id, engine.owner.read, engine.owner.write
    assert places(*turns) == HERE
    assert places(*read.list(SPACE, filter=own).items) == HERE
    for _ in range(2):  # the second from memory
        hits = read.search(SPACE, Query(text="Rome", filter=own)).hits
        assert places(*(hit.memory for hit in hits)) == HERE
    assert places(read.get(SPACE, first).memory) == HERE[:1]
    assert places(*(one.memory for one in read.history(SPACE, first).versions)) == HERE[:1]
    assert places(*write.update(SPACE, first, {"content": "Rome now"}).memories) == HERE[:1]
    assert places(*write.restore(SPACE, first, 1).memories) == HERE[:1]
    assert places(*write.undo(SPACE, Undo(last=1)).memories) == HERE[:1]

    talks(engine).change(SPACE, named("a"), Change(session="s-c"))
    talks(engine).change(SPACE, named("t1", "topic", "a"), Change(spans=((2, 3),)))
    moved = ((1, "s-c", None), (2, "s-c", "t1"), (3, "s-c", "t1"))
    assert places(*(hit.memory for hit in read.search(SPACE, Query(text="Rome", filter=own)).hits)) == moved
    then = AsOf(number=before.number)
    assert places(*read.list(SPACE, filter=own, as_of=then).items) == HERE
    assert places(*(hit.memory for hit in read.search(SPACE, Query(text="Rome", filter=own, as_of=then)).hits)) == HERE


def test_topics_are_filtered_by_id_and_a_name_of_several_is_refused(engine: Engine):
    topics = topics_of(engine)

    def found(filter: Mapping[str, Json], caller: Caller | None = None) -> list[tuple[str | None, int | None]]:
        view = engine.owner if caller is None else engine.seen_by(caller)
        return sorted((one.conversation, one.turn) for one in view.read.list(SPACE, filter=parse(dict(filter))).items)

    mine = topics["b"].memory.id
    assert found({"topic": mine}) == found({"topic": "t1", "conversation": "b"}) == [("b", 1), ("b", 2)]
    assert found({"topic": [mine, topics["a"].memory.id]}) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert found({"not": {"topic": mine}, "conversation": "b"}) == [("b", 3)]
    assert found({"topic": mine, "kind": "topic"}) == [("b", None)]
    with pytest.raises(InvalidInput) as refused:
        found({"topic": "t1"})
    assert all(one.memory.id in str(refused.value) for one in topics.values())
    assert found({"topic": "t1"}, Caller(actor="key", category="ops")) == []


def test_the_id_of_a_topic_stands_for_its_name(engine: Engine):
    mine = topics_of(engine)["b"].memory.id
    view = talks(engine)
    assert view.get(SPACE, named(mine, "topic", "b"))[0].name == "t1"
    for name in (named(mine, "topic", "a"), named(mine, "topic", "b", category="ops")):
        with pytest.raises(NotFound):
            view.get(SPACE, name)
    assert view.change(SPACE, named(mine, "topic", "b"), Change(title="Roma")).found.name == "t1"
    discourse = engine.owner.discourse
    discourse.split_topic(SPACE, "b", mine, 2)
    with pytest.raises(InvalidInput):
        discourse.merge_topics(SPACE, "b", [mine, "t1"])
    assert view.delete(SPACE, named(mine, "topic", "b")).counts == {"topic": 1}


def test_turns_that_are_streamed_again_say_their_topic(engine: Engine):
    topics_of(engine)
    again = stream(engine, "a", [*said("Rome it is"), Turn(content="More")])
    assert [(one.replayed, one.topic) for one in again.items] == [(True, "t1"), (False, None)]
