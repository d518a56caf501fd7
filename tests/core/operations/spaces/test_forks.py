"""Forks: a space copied, worked in, compared with what it came from, merged into it."""

import pytest
from msgspec.structs import replace

from muisti.core.embedding.models import Models
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.comparisons import Strategy
from muisti.core.model.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    InvalidInput,
    MergeConflict,
    ModelMismatch,
    NotFound,
)
from muisti.core.model.outcomes import Undo
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.times import from_us
from muisti.core.model.values import Address, Draft
from muisti.core.operations.checkup import look
from muisti.core.query.query import Query
from tests.core.fakes import NOON, SPACE, WordEncoder, add, open_engine
from tests.stores import Stores

FORK = "try"


def texts(engine: Engine, space: str = SPACE) -> set[str]:
    return {one.content for one in engine.owner.read.list(space, limit=100).items}


def twin(engine: Engine, content: str) -> str:
    """The memory of the fork that says so."""
    return next(one.id for one in engine.owner.read.list(FORK, limit=100).items if one.content == content)


def forked(engine: Engine) -> None:
    """A space of four, and its fork."""
    first = Draft(content="red fox", category="c", key="k", tags=("a",), metadata={"n": {"m": [1]}}, author="Ann")
    engine.owner.write.add(SPACE, [replace(first, valid_from=from_us(NOON - 5), valid_to=from_us(NOON))])
    add(engine, "blue lake", "green hill", "old oak")
    engine.owner.timeline.fork(SPACE, FORK)


def test_a_fork_has_all_that_lives_with_ids_of_its_own(engine: Engine):
    (gone,) = add(engine, "dead leaf")
    engine.owner.write.delete(SPACE, gone)
    (parent,) = add(engine, "a book")
    (child,) = add(engine, "a page", parent_id=parent)
    new = engine.owner.write.supersede(SPACE, child, Draft(content="a leaf of it", parent_id=parent)).memories[0]
    forked(engine)
    assert texts(engine, FORK) == texts(engine)
    mine = {one.content: one for one in engine.owner.read.list(SPACE, limit=100).items}
    copies = {one.content: one for one in engine.owner.read.list(FORK, limit=100).items}
    for text, one in mine.items():
        copy = copies[text]
        assert copy.id != one.id and (copy.space, copy.version) == (FORK, 1)
        for field in (
            "category",
            "key",
            "tags",
            "metadata",
            "author",
            "created_at",
            "updated_at",
            "tokens",
            "valid_to",
        ):
            assert getattr(copy, field) == getattr(one, field)
    assert [one.id for one in copies.values()] == sorted([one.id for one in copies.values()], reverse=True)
    assert copies["a leaf of it"].parent_id == copies["a book"].id
    history = engine.owner.read.history(FORK, copies["a leaf of it"].id)
    assert len(history.chain) == 2 and history.chain[1] == copies["a leaf of it"].id != new.id
    for mode in ("keyword", "semantic"):
        (hit,) = engine.owner.read.search(FORK, Query(text="red fox", mode=mode, limit=1)).hits
        assert hit.memory.id == copies["red fox"].id and (mode == "keyword" or hit.score > 0.9)
    with pytest.raises(NotFound):  # to have forked is nothing to take back
        engine.owner.write.undo(FORK, Undo(author="Ann"))
    with pytest.raises(AlreadyExists):
        engine.owner.timeline.fork(SPACE, FORK)
    engine.spaces.delete(FORK)
    assert texts(engine) == set(mine)


def test_what_a_memory_is_derived_from_is_found_on_both_sides(engine: Engine):
    """Links use each space's own ids, so merging an unchanged fork does nothing, and no link leaves a space."""
    (book,) = add(engine, "a book")
    (page,) = engine.owner.write.add(
        SPACE, [Draft(content="a page", derived_from=(book,))], on_conflict="keep"
    ).memories
    engine.owner.timeline.fork(SPACE, FORK)
    copies = {one.content: one for one in engine.owner.read.list(FORK).items}
    assert copies["a page"].derived_from == (copies["a book"].id,)
    assert engine.owner.timeline.compare(SPACE, FORK).items == ()
    draft = Draft(content="a leaf", derived_from=(copies["a book"].id, copies["a page"].id))
    (leaf,) = engine.owner.write.add(FORK, [draft], on_conflict="keep").memories
    engine.owner.write.update(FORK, copies["a page"].id, {"content": "page one"})
    engine.owner.timeline.merge(FORK, SPACE, drop=True)
    found = {one.content: one for one in engine.owner.read.list(SPACE).items}
    assert found["a leaf"].derived_from == (book, page.id) and found["a leaf"].id != leaf.id
    assert found["page one"].derived_from == (book,)
    assert [one for one in engine.owner.review.lint(SPACE).items if one.check == "orphaned"] == []
    database = engine.webhooks._database  # pyright: ignore[reportPrivateUsage]  # the engine shows no checksums
    assert look(database, Models(), lambda *_: None).flaws == []


def test_nothing_is_embedded_to_fork_merge_or_roll_back(stores: Stores):
    encoder = WordEncoder()
    with open_engine(stores(), encoder=encoder) as engine:
        forked(engine)
        add(engine, "a cloud", space=FORK)
        engine.owner.timeline.create_checkpoint(SPACE, "before")
        calls = encoder.calls
        engine.owner.timeline.fork(SPACE, "another")
        engine.owner.timeline.merge(FORK, SPACE)
        engine.owner.timeline.roll_back(SPACE, "before")
        assert encoder.calls == calls


def test_a_merge_takes_over_what_the_fork_changed_and_leaves_the_rest(engine: Engine):
    forked(engine)
    engine.owner.write.update(FORK, twin(engine, "red fox"), {"content": "red wolf", "metadata": {"n": 2}})
    engine.owner.write.delete(FORK, twin(engine, "blue lake"))
    new = engine.owner.write.supersede(FORK, twin(engine, "green hill"), Draft(content="steep hill")).memories[0].id
    add(engine, "a cloud", space=FORK)
    add(engine, "a stone")
    ours = next(one for one in engine.owner.read.list(SPACE).items if one.content == "old oak")
    engine.owner.write.update(SPACE, ours.id, {"content": "older oak"})
    compared = {one.other: one for one in engine.owner.timeline.compare(SPACE, FORK).items}
    assert len(compared) == 6 and not any(one.conflict for one in compared.values())
    assert [one.field for one in compared[twin(engine, "red wolf")].there] == ["content", "metadata.n.m", "metadata.n"]
    before = engine.spaces.get(SPACE).seq
    planned = engine.seen_by(Caller(), dry_run=True).timeline.merge(FORK, SPACE)
    assert planned.plan is not None and planned.plan.changes == 5 and engine.spaces.get(SPACE).seq == before
    done = engine.owner.timeline.merge(FORK, SPACE)
    assert done.tally is not None and (done.tally.added, done.tally.changed, done.tally.ended) == (2, 2, 1)
    assert texts(engine) == {"red wolf", "steep hill", "a cloud", "a stone", "older oak"}
    assert engine.owner.read.get(SPACE, Address("c", "k")).memory.content == "red wolf"
    steep = next(one for one in engine.owner.read.list(SPACE).items if one.content == "steep hill")
    assert steep.id != new and len(engine.owner.read.history(SPACE, steep.id).chain) == 2
    (hit,) = engine.owner.read.search(SPACE, Query(text="red wolf", mode="semantic", limit=1)).hits
    assert hit.memory.content == "red wolf" and hit.score > 0.9
    again = engine.owner.timeline.merge(FORK, SPACE)
    assert again.tally is not None and again.tally.changes == 0 and again.seq == done.seq
    assert [one.ours and one.ours.content for one in engine.owner.timeline.compare(SPACE, FORK).items] == ["older oak"]


def test_what_both_have_changed_is_a_conflict_that_somebody_decides(stores: Stores):
    for strategy, stands in (("ours", {"our fox", "old oak"}), ("theirs", {"their fox", "blue lake", "old oak"})):
        with open_engine(stores()) as engine:
            forked(engine)
            mine = {one.content: one.id for one in engine.owner.read.list(SPACE).items}
            engine.owner.write.update(SPACE, mine["red fox"], {"content": "our fox"})
            engine.owner.write.update(FORK, twin(engine, "red fox"), {"content": "their fox"})
            engine.owner.write.delete(SPACE, mine["blue lake"])
            engine.owner.write.update(FORK, twin(engine, "blue lake"), {"importance": "high"})
            engine.owner.write.update(SPACE, mine["green hill"], {"content": "same hill"})
            engine.owner.write.update(FORK, twin(engine, "green hill"), {"content": "same hill"})
            seq = engine.spaces.get(SPACE).seq
            with pytest.raises(MergeConflict) as refused:
                engine.owner.timeline.merge(FORK, SPACE)
            assert {one.id for one in refused.value.found} == {mine["red fox"], mine["blue lake"]}
            fox = next(one for one in refused.value.found if one.id == mine["red fox"])
            assert [(one.before, one.after) for one in (*fox.here, *fox.there)] == [("red", "our"), ("red", "their")]
            assert engine.spaces.get(SPACE).seq == seq
            engine.owner.timeline.merge(FORK, SPACE, strategy)  # pyright: ignore[reportArgumentType]
            assert texts(engine) == stands | {"same hill"}
            assert (
                engine.owner.timeline.merge(FORK, SPACE).tally == engine.owner.timeline.merge(FORK, SPACE).tally
            )  # decided once


def test_an_address_is_nobody_elses_after_a_merge(stores: Stores):
    for strategy, stands in (("ours", "our key"), ("theirs", "their key")):
        with open_engine(stores()) as engine:
            forked(engine)
            moved = next(one for one in engine.owner.read.list(SPACE).items if one.content == "old oak")
            engine.owner.write.update(SPACE, moved.id, {"content": "our key", "category": "d", "key": "k"})
            add(engine, "their key", space=FORK, category="d", key="k")
            with pytest.raises(MergeConflict):
                engine.owner.timeline.merge(FORK, SPACE)
            engine.owner.timeline.merge(FORK, SPACE, strategy)  # pyright: ignore[reportArgumentType]
            assert engine.owner.read.get(SPACE, Address("d", "k")).memory.content == stands
            assert engine.owner.timeline.merge(FORK, SPACE, strategy).tally.changes == 0  # pyright: ignore


def test_any_space_is_merged_into_another_once(engine: Engine):
    engine.spaces.create("from", CONTENT_ONLY)
    add(engine, "red fox", "blue lake", "blue lake", space="from")
    add(engine, "kept here", space="from", category="c", key="k")
    add(engine, "red fox", "green hill")
    done = engine.owner.timeline.merge("from", SPACE)
    assert done.tally is not None and (done.tally.added, done.tally.changed) == (3, 0)
    assert texts(engine) == {"red fox", "blue lake", "green hill", "kept here"}
    assert engine.owner.timeline.merge("from", SPACE).seq == done.seq
    engine.owner.timeline.merge("from", SPACE, drop=True)
    assert "from" not in {space.name for space in engine.spaces.list()}
    assert texts(engine) == {"red fox", "blue lake", "green hill", "kept here"}
    with pytest.raises(NotFound):
        engine.owner.timeline.merge("from", SPACE)


def test_what_cannot_be_merged_is_refused(engine: Engine, stores: Stores):
    engine.spaces.create("other")
    for source, into, error in ((SPACE, SPACE, InvalidInput), ("other", SPACE, Conflict), ("none", SPACE, NotFound)):
        with pytest.raises(error):
            engine.owner.timeline.merge(source, into)
    for ask in (lambda part: part.timeline.fork(SPACE, "x"), lambda part: part.timeline.merge("other", SPACE)):
        with pytest.raises(Forbidden):
            ask(engine.seen_by(Caller("ann", category="c")))
    store = stores()
    with open_engine(store) as first:
        forked(first)
    with open_engine(store, encoder=WordEncoder("another")) as second:
        second.reembed(SPACE, lambda _done, _total: None)
        with pytest.raises(ModelMismatch):
            second.owner.timeline.merge(FORK, SPACE)


def test_a_merge_is_undone_as_one_request(engine: Engine):
    forked(engine)
    before = texts(engine)
    engine.owner.write.update(FORK, twin(engine, "red fox"), {"content": "red wolf"})
    add(engine, "a cloud", space=FORK)
    engine.seen_by(Caller("ann", request="r1")).timeline.merge(FORK, SPACE)
    assert texts(engine) != before
    engine.owner.write.undo(SPACE, Undo(last=1_000, request="r1"))
    assert texts(engine) == before


@pytest.mark.parametrize("strategy", [None, "ours", "theirs"])
def test_a_merge_that_was_undone_can_be_merged_again(engine: Engine, strategy: Strategy | None):
    forked(engine)
    before, ends = texts(engine), [memory for memory in engine.owner.read.list(FORK).items]
    engine.owner.write.update(FORK, twin(engine, "red fox"), {"content": "red wolf"})
    add(engine, "a cloud", space=FORK)
    engine.owner.write.delete(FORK, next(one.id for one in ends if one.content != "red fox"))
    for number in range(3):
        ann = engine.seen_by(Caller("ann", request=f"m{number}"))
        ann.timeline.merge(FORK, SPACE, strategy if number else None)
        assert texts(engine) == texts(engine, FORK)
        engine.seen_by(Caller("ann", request=f"u{number}")).write.undo(SPACE, Undo())
        assert texts(engine) == before
