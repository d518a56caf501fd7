"""Conflicts stored for review remain open until a caller decides, or until nothing is left to decide."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import NotFound
from muisti.core.model.outcomes import Difference, OpenConflict, Undo, Written
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import Address, Draft
from tests.core.fakes import SPACE, Clock, add

PORT = "The staging database runs on port {}"


def review(engine: Engine, *texts: str, **fields: object) -> Written:
    drafts = [Draft(content=text, **fields) for text in texts]  # pyright: ignore[reportArgumentType]  # test shorthand
    return engine.owner.write.add(SPACE, drafts, on_conflict="review", path="$.memories" if len(texts) > 1 else "$")


def waiting(engine: Engine) -> tuple[OpenConflict, ...]:
    return engine.owner.review.conflicts(SPACE).items


@pytest.fixture
def pair(engine: Engine) -> tuple[str, str]:
    """A memory and one that contradicts it."""
    (old,) = add(engine, PORT.format(5433), category="infra", key="port")
    written = review(engine, PORT.format(5434))
    assert [(one.id, one.kind) for one in written.similar] == [(old, "conflict")]
    return old, written.memories[0].id


def test_a_conflict_shows_both_memories_and_where_they_differ_and_to_reject_it_deletes_the_new_one(
    engine: Engine, pair: tuple[str, str]
):
    (one,) = waiting(engine)
    assert (one.kind, one.actor, one.existing.id, one.new.id) == ("conflict", "local", *pair)
    assert one.differs == (Difference("number", "5433", "5434"),)
    (beside,) = review(engine, "Something else").memories
    assert len(waiting(engine)) == 1
    engine.owner.review.decide(SPACE, str(one.id), "reject")
    assert {memory.id for memory in engine.owner.read.list(SPACE).items} == {pair[0], beside.id}
    assert waiting(engine) == ()


def test_within_a_batch_and_the_same_text_too_page_by_page(engine: Engine):
    made = review(engine, PORT.format(1), PORT.format(2), "It rains", "It rains").memories
    first = engine.owner.review.conflicts(SPACE, limit=1)
    rest = engine.owner.review.conflicts(SPACE, limit=1, cursor=first.next_cursor)
    found = {(one.kind, one.existing.id, one.new.id) for one in (*first.items, *rest.items)}
    assert found == {("conflict", made[0].id, made[1].id), ("duplicate", made[2].id, made[3].id)}
    assert rest.next_cursor is None


def test_to_keep_both_changes_neither_and_closes_it(engine: Engine, pair: tuple[str, str]):
    before, (one,) = engine.spaces.get(SPACE).seq, waiting(engine)
    tried = engine.seen_by(Caller(), dry_run=True).review.decide(SPACE, str(one.id), "keep")[1]
    assert tried.plan is not None and tried.plan.changes == 0 and waiting(engine) == (one,)
    engine.owner.review.decide(SPACE, str(one.id), "keep")
    assert waiting(engine) == () and engine.spaces.get(SPACE).seq == before
    assert (engine.audit(limit=1).items[0].action, engine.audit(limit=1).items[0].target) == ("conflict_kept", pair[1])
    for gone in (str(one.id), "x", "9" * 30):
        with pytest.raises(NotFound):
            engine.owner.review.decide(SPACE, gone, "keep")


def test_the_new_one_supersedes_the_other_and_an_undo_opens_it_again(engine: Engine, pair: tuple[str, str]):
    old, new = pair
    (one,) = waiting(engine)
    tried = engine.seen_by(Caller(), dry_run=True).review.decide(SPACE, str(one.id), "supersede")[1]
    assert tried.plan is not None and [change.kind for change in tried.plan.items] == ["superseded", "updated"]
    engine.owner.review.decide(SPACE, str(one.id), "supersede")
    heir = engine.owner.read.get(SPACE, Address("infra", "port")).memory
    assert (heir.id, heir.version, heir.supersedes, waiting(engine)) == (new, 2, old, ())
    assert engine.owner.read.history(SPACE, new).chain == (old, new)
    with pytest.raises(NotFound, match=new):
        engine.owner.read.get(SPACE, old)
    engine.owner.write.undo(SPACE, Undo(last=2))
    assert [(each.id, each.existing.id, each.new.id) for each in waiting(engine)] == [(one.id, old, new)]


def test_it_closes_when_there_is_nothing_left_to_decide(engine: Engine, clock: Clock, pair: tuple[str, str]):
    old, new = pair
    engine.owner.write.update(SPACE, old, {"tags": ("db",)})
    assert len(waiting(engine)) == 1
    engine.owner.write.update(SPACE, old, {"content": PORT.format(5434)})
    assert waiting(engine) == ()
    engine.owner.write.restore(SPACE, old)
    (one,) = waiting(engine)
    engine.eraser.memory(SPACE, new, Caller())
    assert waiting(engine) == ()
    (soon,) = review(engine, PORT.format(9), expires_at=from_us(clock.at + DAY_US)).memories
    assert waiting(engine)[0].new.id == soon.id and waiting(engine)[0].id > one.id
    clock.pass_days(2)
    assert waiting(engine) == ()


def test_who_sees_one_category_sees_its_conflicts_only(engine: Engine, pair: tuple[str, str]):
    infra, other = (engine.seen_by(Caller("a key", category=name)) for name in ("Infra", "people"))
    infra.write.add(SPACE, [Draft(content=PORT.format(7))], on_conflict="review")
    (own,) = infra.review.conflicts(SPACE).items
    assert (own.existing.id, own.actor) == (pair[0], "a key") and other.review.conflicts(SPACE).items == ()
    with pytest.raises(NotFound):
        other.review.decide(SPACE, str(own.id), "reject")
