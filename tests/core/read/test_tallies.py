"""Counts that are brought up to date equal those of a process that counts for the first time."""

import random
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import MuistiError
from muisti.core.model.outcomes import Quota, Undo
from muisti.core.model.values import Draft
from muisti.core.read.statistics import AUTHORS, CATEGORIES, TAGS
from muisti.core.read.tallies import Tallies
from tests.core.fakes import SPACE, Clock, open_engine
from tests.stores import Stores, migrated

WORDS = ("tea", "Tea", "rope", "harbour", "Ann", "ann", "storm")


def step(engine: Engine, clock: Clock, rng: random.Random, known: list[str]) -> None:
    """Make one change of some kind."""
    write, one = engine.owner.write, rng.choice(known) if known else ""

    def draft() -> Draft:
        ends = timedelta(days=rng.choice((1, 3))) if rng.random() < 0.3 else None
        return Draft(
            content=f"{rng.choice(WORDS)} {rng.random()}",
            category=rng.choice((None, *WORDS)),
            author=rng.choice((None, *WORDS)),
            tags=tuple({rng.choice(WORDS).lower(), rng.choice(WORDS).lower()}),
            type=rng.choice(("fact", "preference")),
            status=rng.choice(("active", "active", "candidate")),
            importance=rng.choice(("low", "high")),
            expires_at=ends,
        )

    def add() -> None:
        known.extend(each.id for each in write.add(SPACE, [draft(), draft()], on_conflict="keep").memories)

    changes: list[Callable[[], object]] = [
        add,
        add,
        lambda: write.update(SPACE, one, {"tags": ["rope"], "category": rng.choice(WORDS)}),
        lambda: write.update(SPACE, one, {"content": f"longer by far {rng.random()}", "expires_at": None}),
        lambda: write.update(SPACE, one, {"expires_at": timedelta(days=2)}),
        lambda: write.supersede(SPACE, one, draft()),
        lambda: write.delete(SPACE, one),
        lambda: write.restore(SPACE, one),
        lambda: write.undo(SPACE, Undo()),
        lambda: engine.eraser.memory(SPACE, one, Caller()),
        lambda: engine.redaction.version(SPACE, one, 1, Caller()),
        lambda: engine.owner.timeline.roll_back(SPACE, str(rng.randrange(1, 9))),
        lambda: clock.pass_days(0.6),
    ]
    try:
        rng.choice(changes)()
    except MuistiError:
        add()


@pytest.mark.parametrize("seed", range(3))
def test_counts_after_any_changes_are_those_of_a_first_count(stores: Stores, clock: Clock, seed: int):
    store, rng, known = stores(), random.Random(seed), list[str]()
    with open_engine(store, clock=clock) as engine, closing(migrated(store)) as database:
        kept = Tallies(database, Quota())
        for number in range(36):
            step(engine, clock, rng, known)
            if number % 3:
                continue
            fresh = Tallies(database, Quota())
            for own in (None, "TEA"):
                now = clock()
                assert kept.stats(SPACE, own, None, now) == fresh.stats(SPACE, own, None, now)
                for what in (CATEGORIES, TAGS, AUTHORS):
                    assert kept.names(SPACE, what, own, None, now) == fresh.names(SPACE, what, own, None, now)


def test_a_space_that_was_recreated_is_counted_anew(engine: Engine, clock: Clock):
    engine.owner.write.add(SPACE, [Draft(content="Tea is at four", tags=("tea",))])
    assert engine.owner.read.stats(SPACE).memories == 1 and len(engine.owner.read.tags(SPACE).items) == 1
    engine.eraser.space(SPACE, Caller(), keep=True)
    assert engine.owner.read.stats(SPACE).memories == 0 and not engine.owner.read.tags(SPACE).items
