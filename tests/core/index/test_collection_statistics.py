"""Statistics that follow each change equal a fresh count, and no snapshot changes under its reader."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.collection_statistics import CollectionStatistics, counted
from muisti.core.index.new_rows import NEVER
from muisti.core.index.rows import ALIVE, Rows
from muisti.core.index.snapshot import Snapshot
from muisti.core.model.values import Seq

inserted = st.lists(
    st.tuples(st.integers(0, 900), st.booleans(), st.one_of(st.just(NEVER), st.integers(0, 50))), max_size=5
)
changes = st.lists(st.tuples(inserted, st.lists(st.integers(0, 30), max_size=3), st.integers(0, 60)), max_size=12)


@dataclass
class History:
    """Rows as the index keeps them, and the snapshot after each change."""

    rows: Rows = field(default_factory=lambda: Rows(0))
    snapshots: list[Snapshot] = field(default_factory=list[Snapshot])

    def change(self, born: list[tuple[int, bool, int]], dying: list[int]) -> Snapshot:
        seq = Seq("epoch", len(self.snapshots) + 1)
        size = len(self.rows)
        dead = np.unique(np.array([row for row in dying if row < size], np.int64))
        for length, active, expires in born:
            self.rows.version.append(np.array([len(self.rows)]))
            self.rows.number.append(np.array([0], np.int32))
            self.rows.length.append(np.array([length], np.int32))
            self.rows.active.append(np.array([active]))
            self.rows.expires.append(np.array([expires]))
            self.rows.born.append(np.array([seq.number]))
            self.rows.died.append(np.array([ALIVE]))
            self.rows.dialogues.append([0], ["a"] if length % 2 else [], [length] if length % 2 else [], [])
        marked = self.rows.mark_ended(dead, np.full(len(dead), seq.number)) if len(dead) else dead
        if self.snapshots:
            after = self.snapshots[-1].followed_by(seq, (), marked, 0)
        else:
            after = Snapshot(seq, self.rows, len(self.rows), (), 0)
        self.snapshots.append(after)
        return after


def facts(population: CollectionStatistics, rows: Rows) -> tuple[Any, ...]:
    return (
        *(population.mask.tolist(), population.rows, population.memories, population.total, population.squares),
        population.talks(rows),
    )


@given(changes)
def test_statistics_that_follow_changes_equal_a_fresh_count_then_and_later(
    script: list[tuple[Any, Any, int]],
):
    history, seen = History(), []
    for born, dying, now in script:
        snapshot = history.change(born, dying)
        population = snapshot.population(now)
        assert population.since <= now < population.until
        for moment in (population.since, now, population.until - 1):
            fresh = counted(history.rows, snapshot.size, snapshot.seq.number, max(moment, -1))
            assert facts(population, history.rows) == facts(fresh, history.rows)
        seen.append((snapshot, now, facts(population, history.rows)))
    for snapshot, now, before in seen:
        assert facts(snapshot.population(now), history.rows) == before
        assert facts(counted(history.rows, snapshot.size, snapshot.seq.number, now), history.rows) == before


@given(changes)
def test_many_expiring_rows_are_put_in_order_without_loss(script: list[tuple[Any, Any, int]]):
    history = History()
    history.change([(n, True, n % 40) for n in range(40)], [])
    history.snapshots[-1].population(0)
    history.change([(n, True, n % 55) for n in range(1_100)], [])
    for born, dying, now in script:
        snapshot = history.change(born, dying)
        fresh = counted(history.rows, snapshot.size, snapshot.seq.number, now)
        assert facts(snapshot.population(now), history.rows) == facts(fresh, history.rows)


def test_mean_and_spread_are_those_of_numpy():
    history = History()
    lengths = [100, 250, 3_000, 12]
    population = history.change([(n, True, NEVER) for n in lengths], []).population(0)
    assert np.isclose(population.average, np.mean(lengths) / 100)
    assert np.isclose(population.spread, np.std(lengths) / np.mean(lengths))
    nobody = History().change([], []).population(0)
    assert (nobody.average, nobody.spread) == (0, 0)
