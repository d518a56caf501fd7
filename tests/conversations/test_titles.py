"""Titles made from turns follow them: changed, superseded, deleted, expired, restored and undone."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec import structs

from muisti.core.conversations.model import Change, NewObject
from muisti.core.conversations.topics import Conversation
from muisti.core.conversations.view import Wanted
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.outcomes import Undo
from muisti.core.query.points import parse as point
from tests.conversations.talking import named, said, stream, talks
from tests.core.fakes import SPACE, Clock

CLINIC = [f"The zorbulax clinic called about zorbulax appointment {n}." for n in range(4)]
GARDEN = [f"We talked of gardens, roses and tulips number {n}." for n in range(4)]
FIRST, SECOND = "The clinic has a date for us.", "The roses are in bloom."


def talk(engine: Engine, *texts: str, conversation: str = "c") -> list[str]:
    return [one.memory.id for one in stream(engine, conversation, said(*texts), session="s").items]


def title(engine: Engine, name: str = "c") -> str:
    return talks(engine).get(SPACE, named(name))[0].memory.content


def topic_titles(engine: Engine) -> list[str]:
    view = talks(engine)
    return [one.memory.content for one in view.page(SPACE, Wanted(level="topic", conversation="c")).items]


def write(engine: Engine, request: str):
    return engine.seen_by(structs.replace(OWNER, request=request)).write


def patch(engine: Engine, turn: str, clock: Clock) -> None:
    write(engine, "r").update(SPACE, turn, {"content": "Of boats."})


def delete(engine: Engine, turn: str, clock: Clock) -> None:
    write(engine, "r").delete(SPACE, turn)


def expire(engine: Engine, turn: str, clock: Clock) -> None:
    write(engine, "q").update(SPACE, turn, {"expires_at": timedelta(days=1)})
    clock.pass_days(2)
    engine.upkeep.end_expired(SPACE, clock())


WAYS: dict[str, Callable[[Engine, str, Clock], None]] = {"changed": patch, "deleted": delete, "expired": expire}


@pytest.mark.parametrize("way", WAYS)
def test_titles_come_from_the_turns_as_they_are(engine: Engine, clock: Clock, way: str):
    turns = talk(engine, FIRST, *CLINIC, *GARDEN)
    view = engine.owner.discourse
    view.topics.finish(Conversation(SPACE, "c"), view.calls.new())
    engine.owner.conversations.create(SPACE, "topic", NewObject(name="own", spans=((9, 9),)), conversation="c")
    others = talk(engine, FIRST, SECOND, conversation="d")
    before, seq = topic_titles(engine), str(engine.spaces.get(SPACE).at)
    assert "zorbulax" in "".join(before).lower() and "own" in before
    WAYS[way](engine, turns[0], clock)
    assert title(engine) == ("Of boats." if way == "changed" else CLINIC[0])
    assert title(engine, "d") == FIRST
    for turn in turns[1:5]:
        engine.owner.write.delete(SPACE, turn)
    assert "zorbulax" not in "".join([title(engine), *topic_titles(engine)]).lower()
    assert "own" in topic_titles(engine)
    past, _ = talks(engine).get(SPACE, named("c"), as_of=point(seq))
    assert past.memory.content == FIRST
    for turn in reversed(turns[1:5]):
        engine.owner.write.restore(SPACE, turn)
    if way != "expired":
        engine.owner.write.undo(SPACE, Undo(request="r"))
        assert title(engine) == FIRST
        assert topic_titles(engine) == before
    engine.owner.write.delete(SPACE, others[1])
    engine.owner.write.delete(SPACE, others[0])
    assert title(engine, "d") == "d"
    engine.owner.write.undo(SPACE, Undo(last=1))
    assert title(engine, "d") == FIRST


@pytest.mark.parametrize("way", WAYS)
def test_a_title_that_somebody_gave_stays(engine: Engine, clock: Clock, way: str):
    turns = talk(engine, FIRST, SECOND)
    engine.owner.conversations.change(SPACE, named("c"), Change(title=FIRST))
    WAYS[way](engine, turns[0], clock)
    assert title(engine) == FIRST


def test_a_change_of_another_turn_or_of_a_tag_changes_no_title(engine: Engine):
    turns = talk(engine, FIRST, SECOND)
    version = talks(engine).get(SPACE, named("c"))[0].memory.version
    engine.owner.write.update(SPACE, turns[0], {"tags": ("new",)})
    engine.owner.write.update(SPACE, turns[1], {"content": "New."})
    engine.owner.write.delete(SPACE, turns[1])
    assert talks(engine).get(SPACE, named("c"))[0].memory.version == version


def test_an_undo_passes_over_a_title_that_has_changed_since(engine: Engine):
    turns = talk(engine, FIRST, SECOND)
    write(engine, "r").delete(SPACE, turns[0])
    write(engine, "q").update(SPACE, turns[1], {"content": "Of boats."})
    assert title(engine) == "Of boats."
    engine.owner.write.undo(SPACE, Undo(request="r"))
    assert title(engine) == FIRST
    write(engine, "o").delete(SPACE, turns[0])
    engine.owner.conversations.change(SPACE, named("c"), Change(title="Ours"))
    engine.owner.write.undo(SPACE, Undo(request="o"))
    assert title(engine) == "Ours"


def test_a_dry_run_plans_the_title_and_changes_nothing(engine: Engine):
    turns = talk(engine, FIRST, SECOND)
    written = engine.seen_by(OWNER, dry_run=True).write.delete(SPACE, turns[0])
    assert written.plan is not None and [one.kind for one in written.plan.items] == ["updated", "deleted"]
    assert title(engine) == FIRST
