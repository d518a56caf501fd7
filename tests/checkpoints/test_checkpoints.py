"""Checkpoints: reading the space at one, listing what changed since, and rolling the space back to one."""

from typing import Any

import pytest
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PointAhead,
    QuotaExceeded,
)
from muisti.core.model.times import from_us
from muisti.core.model.values import Address, Draft
from muisti.core.query.query import Query
from tests.core.fakes import NOON, SPACE, WordEncoder, add, open_engine
from tests.stores import Stores


def said(engine: Engine) -> dict[str, tuple[Any, ...]]:
    """Return the fields of every current memory, by id."""
    found = engine.owner.read.list(SPACE, limit=100).items
    names = ("content", "category", "key", "tags", "metadata", "importance", "valid_from", "valid_to")
    return {one.id: tuple(getattr(one, name) for name in names) for one in found}


def lifecycle(engine: Engine) -> tuple[str, str, str, str]:
    """Change three memories after the checkpoint `before`. Return their ids, and that of the last one's successor."""
    draft = Draft(content="red fox", category="c", key="k", tags=("a", "b"), metadata={"n": [1, 2], "x": {"y": "z"}})
    changed = engine.owner.write.add(SPACE, [replace(draft, valid_to=from_us(NOON))]).memories[0].id
    deleted, superseded = add(engine, "blue lake", "green hill")
    engine.owner.timeline.create_checkpoint(SPACE, "before", "all is well")
    engine.owner.write.update(
        SPACE, changed, {"content": "red wolf", "category": None, "key": None, "metadata": {"n": 3}, "valid_to": None}
    )
    engine.owner.write.delete(SPACE, deleted)
    new = engine.owner.write.supersede(SPACE, superseded, Draft(content="steep hill")).memories[0].id
    add(engine, "passing cloud", category="c", key="k")
    return changed, deleted, superseded, new


def test_a_whole_space_goes_back_and_forth(engine: Engine):
    first = Draft(content="red fox", category="c", key="k", tags=("a", "b"), metadata={"n": [1, 2], "x": {"y": "z"}})
    ids = lifecycle(engine)
    now = said(engine)
    done = engine.owner.timeline.roll_back(SPACE, "before")
    then = said(engine)
    assert set(then) == set(ids[:3]) and then[ids[0]][0] == first.content and then[ids[0]][4] == first.metadata
    assert then[ids[0]][-2:] == (None, from_us(NOON)) and now[ids[0]][-2:] == (None, None)
    tally = done.written.tally
    assert tally is not None and (tally.added, tally.changed, tally.ended) == (1, 2, 2)
    assert engine.spaces.get(SPACE).seq == done.written.seq.number == done.before.number + 5
    for text, found in (("red fox", [ids[0]]), ("blue lake", [ids[1]]), ("steep", []), ("cloud", [])):
        for mode in ("keyword", "semantic"):
            hits = engine.owner.read.search(SPACE, Query(text=text, mode=mode, limit=1)).hits
            assert [hit.memory.id for hit in hits if mode == "keyword" or hit.score > 0.9] == found, (text, mode)
    again = engine.owner.timeline.roll_back(SPACE, "before")
    assert again.written.tally is not None and again.written.tally.changes == 0
    assert again.written.seq == done.written.seq
    assert [version.memory.version for version in engine.owner.read.history(SPACE, ids[0]).versions] == [3, 2, 1]
    engine.owner.timeline.roll_back(SPACE, str(done.before))
    assert said(engine) == now


def test_what_changed_is_told_field_by_field(engine: Engine):
    changed, deleted, superseded, new = lifecycle(engine)
    diff = engine.owner.timeline.diff(SPACE, "before")
    told = {one.id: one for one in diff.items}
    assert [one.id for one in diff.items] == sorted(told)
    assert told[changed].change == "changed"
    assert [(one.field, one.before, one.after) for one in told[changed].fields] == [
        ("content", "fox", "wolf"), ("category", "c", None), ("key", "k", None),
        ("valid_to", from_us(NOON), None), ("metadata.n", [1, 2], 3), ("metadata.x.y", "z", None),
    ]  # fmt: skip
    assert {one.change for one in (told[deleted], told[superseded])} == {"ended"}
    assert told[new].change == "added" and told[new].before is None
    pages: list[str] = []
    cursor = None
    while True:
        page = engine.owner.timeline.diff(SPACE, "before", limit=2, cursor=cursor)
        pages += [one.id for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert pages == [one.id for one in diff.items]
    engine.owner.timeline.create_checkpoint(SPACE, "after")
    engine.owner.timeline.roll_back(SPACE, "before")
    assert engine.owner.timeline.diff(SPACE, "before").items == ()  # what came and went is not there
    between = engine.owner.timeline.diff(SPACE, "before", "after")
    assert [(one.id, one.change, one.fields) for one in between.items] == [
        (one.id, one.change, one.fields) for one in diff.items
    ]
    with pytest.raises(InvalidInput, match=r"\$.until"):
        engine.owner.timeline.diff(SPACE, "after", "before")


def test_checkpoints_are_made_listed_and_forgotten(engine: Engine):
    add(engine, "red fox")
    made, seq = engine.owner.timeline.create_checkpoint(SPACE, "one", "a note")
    assert (made.name, made.seq, made.note, made.actor) == ("one", 1, "a note", "local") and seq.number == 1
    add(engine, "blue lake")
    engine.owner.timeline.create_checkpoint(SPACE, "two")
    assert [one.name for one in engine.owner.timeline.list_checkpoints(SPACE)[0]] == ["two", "one"]
    with pytest.raises(AlreadyExists):
        engine.owner.timeline.create_checkpoint(SPACE, "one")
    for name in ("", "17", "2026-01-01", "A", "a" * 64, "a/b"):
        with pytest.raises(InvalidInput, match="name"):
            engine.owner.timeline.create_checkpoint(SPACE, name)
    engine.owner.timeline.delete_checkpoint(SPACE, "one")
    assert [one.name for one in engine.owner.timeline.list_checkpoints(SPACE)[0]] == ["two"]
    for ask in (engine.owner.timeline.delete_checkpoint, engine.owner.timeline.roll_back, engine.owner.timeline.diff):
        with pytest.raises(NotFound, match="checkpoint"):
            ask(SPACE, "one")
    with pytest.raises(PointAhead):
        engine.owner.timeline.roll_back(SPACE, "99")


def test_within_a_step_is_no_place_to_go_back_to(engine: Engine):
    one, other = (
        engine.owner.write.add(SPACE, [Draft(content=text)]).memories[0].id for text in ("red fox", "blue lake")
    )
    engine.owner.write.update(SPACE, one, {"category": "c", "key": "k"})
    engine.owner.timeline.create_checkpoint(SPACE, "one")
    engine.owner.write.update(SPACE, one, {"key": "l"})
    engine.owner.write.update(SPACE, other, {"category": "c", "key": "k"})
    engine.owner.timeline.create_checkpoint(SPACE, "other")
    back = engine.owner.timeline.roll_back(SPACE, "one").written
    middle = back.seq.number - 1  # when `one` has it again, and `other` still
    with pytest.raises(InvalidInput, match="inside a step"):
        engine.owner.timeline.roll_back(SPACE, str(middle))
    engine.owner.timeline.roll_back(SPACE, "other")
    assert engine.owner.read.get(SPACE, Address("c", "k")).memory.id == other


def test_who_sees_a_part_of_a_space_leaves_the_whole_alone(engine: Engine):
    add(engine, "red fox", category="c")
    add(engine, "blue lake", category="d")
    part = engine.seen_by(Caller("ann", category="c"))
    assert [one.before or one.after for one in part.timeline.diff(SPACE, "0").items][0].category == "c"  # pyright: ignore[reportOptionalMemberAccess]
    for ask in (part.timeline.create_checkpoint, part.timeline.roll_back, part.timeline.delete_checkpoint):
        with pytest.raises(Forbidden):
            ask(SPACE, "0")


def test_what_comes_back_has_vectors_of_the_model_that_runs(stores: Stores):
    store = stores()
    with open_engine(store) as engine:
        (gone,) = add(engine, "red fox")
        engine.owner.timeline.create_checkpoint(SPACE, "before")
        engine.owner.write.delete(SPACE, gone)
        add(engine, "blue lake")
    with open_engine(store, encoder=WordEncoder("another")) as engine:
        engine.reembed(SPACE, lambda _done, _total: None)
        engine.owner.timeline.roll_back(SPACE, "before")
        (hit,) = engine.owner.read.search(SPACE, Query(text="red fox", mode="semantic", limit=1)).hits
        assert hit.memory.id == gone and hit.score > 0.9


def test_a_quota_holds_for_what_comes_back(engine: Engine):
    (gone,) = add(engine, "red fox")
    engine.owner.timeline.create_checkpoint(SPACE, "before")
    engine.owner.write.delete(SPACE, gone)
    engine.spaces.set_quota(SPACE, {"memories": 0})
    with pytest.raises((QuotaExceeded, Conflict)):
        engine.owner.timeline.roll_back(SPACE, "before")
    assert said(engine) == {}
