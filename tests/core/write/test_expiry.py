"""An expired memory is gone immediately from every read and from its address; the sweep deletes it for good."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import NotFound
from muisti.core.model.outcomes import Undo
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import Address, Draft
from muisti.core.operations.upkeep import EXPIRED_AT_ONCE
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, Clock, add


def test_no_read_shows_what_has_expired(engine: Engine, clock: Clock):
    (id_,) = add(engine, "red fox", category="c", key="k", tags=("t",), expires_at=from_us(clock.at + DAY_US))
    clock.pass_days(1)
    for read in (lambda: engine.owner.read.get(SPACE, id_), lambda: engine.owner.read.get(SPACE, Address("c", "k"))):
        with pytest.raises(NotFound):
            read()
    assert not engine.owner.read.list(SPACE).items
    assert not engine.owner.read.categories(SPACE).items and not engine.owner.read.tags(SPACE).items
    assert (engine.owner.read.stats(SPACE).memories, engine.owner.read.stats(SPACE).expired) == (0, 1)
    assert not engine.owner.read.search(SPACE, Query(text="red fox")).hits


def test_the_address_of_what_has_expired_is_free(engine: Engine, clock: Clock):
    (old,) = add(engine, "red fox", category="c", key="k", expires_at=from_us(clock.at + DAY_US))
    clock.pass_days(1)
    draft = Draft(content="blue fox", category="c", key="k")
    tried = engine.seen_by(OWNER, dry_run=True).write.add(SPACE, [draft])
    assert tried.plan is not None and [one.kind for one in tried.plan.items] == ["expired", "created"]
    assert (engine.spaces.get(SPACE).seq, engine.owner.read.stats(SPACE).expired) == (1, 1)
    added = engine.owner.write.add(SPACE, [draft])
    assert [one.id != old for one in added.memories] == [True]
    assert engine.owner.read.get(SPACE, Address("c", "k")).memory.content == "blue fox"
    versions = engine.owner.read.history(SPACE, old).versions
    assert [one.died for one in versions] == [added.seq.number - 1]
    assert not engine.upkeep.end_expired(SPACE, clock.at) and engine.spaces.get(SPACE).seq == added.seq.number


def test_several_addresses_are_freed_in_one_write(engine: Engine, clock: Clock):
    end = from_us(clock.at + DAY_US)
    for key in ("k", "l"):
        add(engine, f"fox {key}", category="c", key=key, expires_at=end)
    clock.pass_days(1)
    drafts = [Draft(content=f"hen {key}", category="c", key=key) for key in ("k", "l")]
    assert len(engine.owner.write.add(SPACE, drafts).memories) == 2
    (other,) = add(engine, "owl", category="d", key="k", expires_at=from_us(clock.at + DAY_US))
    clock.pass_days(1)
    moved = engine.owner.write.update(
        SPACE, engine.owner.read.get(SPACE, Address("c", "k")).memory.id, {"category": "d"}
    ).memories[0]
    assert engine.owner.read.get(SPACE, Address("d", "k")).memory.id == moved.id != other


def test_a_sweep_ends_all_in_steps_and_says_so_in_the_history(engine: Engine, clock: Clock):
    end = from_us(clock.at + DAY_US)
    ids = add(engine, *(f"fox {number}" for number in range(EXPIRED_AT_ONCE + 5)), expires_at=end)
    add(engine, "owl")
    assert engine.upkeep.with_expired(clock.at) == []
    clock.pass_days(1)
    assert engine.upkeep.with_expired(clock.at) == [SPACE]
    assert engine.upkeep.end_expired(SPACE, clock.at) and not engine.upkeep.end_expired(SPACE, clock.at)
    assert engine.upkeep.with_expired(clock.at) == []
    stats = engine.owner.read.stats(SPACE)
    assert (stats.memories, stats.expired, stats.changes) == (1, 0, 2 * EXPIRED_AT_ONCE + 11)
    assert engine.owner.read.get(SPACE, ids[0], as_of=AsOf(number=EXPIRED_AT_ONCE + 6)).memory.content == "fox 0"
    assert engine.owner.write.restore(SPACE, ids[0]).memories[0].expires_at is None


def test_undo_passes_over_what_time_did(engine: Engine, clock: Clock):
    add(engine, "red fox", author="ann")
    add(engine, "blue fox", author="ann", expires_at=from_us(clock.at + DAY_US))
    clock.pass_days(1)
    engine.upkeep.end_expired(SPACE, clock.at)
    undone = engine.owner.write.undo(SPACE, Undo(last=2, author="ann"))
    assert len(undone.ended) == 1 and not engine.owner.read.list(SPACE).items
