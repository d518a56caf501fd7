"""Two runs over the same queries, side by side: did the change help, where, and is the difference more than chance?"""

from dataclasses import dataclass

import numpy as np

from muisti.service.evaluation.metrics import Interval, Metric, Run, bootstrap

TIE = 1e-9  # less than this is rounding


@dataclass(frozen=True, slots=True)
class Moved:
    """A query and its metric in both runs."""

    id: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Means of both runs over the queries they share, and the mean of the differences, after less before.

    `wins` counts queries that got better. `moved` holds those that changed most, the largest change first.
    `only_before` and `only_after` name queries that only one run has; they count nowhere.
    """

    metric: Metric
    before: float
    after: float
    difference: Interval
    wins: int
    losses: int
    ties: int
    moved: tuple[Moved, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Tell whether the interval of the difference leaves out zero."""
        return self.difference.low > 0 or self.difference.high < 0


def compare(before: Run, after: Run, *, metric: Metric = "ndcg_10", most: int = 10) -> Comparison:
    """Compare query by query; queries are matched by id.

    Raises:
        ValueError: the runs are of different datasets, or share no query.
    """
    if before.dataset != after.dataset:
        raise ValueError(f"the runs are of different datasets, {before.dataset} and {after.dataset}")
    old = {result.id: float(getattr(result, metric)) for result in before.queries}
    new = {result.id: float(getattr(result, metric)) for result in after.queries}
    pairs = [Moved(id, old[id], new[id]) for id in sorted(old.keys() & new.keys())]
    if not pairs:
        raise ValueError(f"the runs of {before.dataset} share no query")
    differences = np.array([pair.difference for pair in pairs], np.float64)
    moved = sorted((pair for pair in pairs if abs(pair.difference) > TIE), key=lambda pair: -abs(pair.difference))
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    return Comparison(
        metric=metric,
        before=float(np.mean([pair.before for pair in pairs])),
        after=float(np.mean([pair.after for pair in pairs])),
        difference=bootstrap(differences),
        wins=wins,
        losses=losses,
        ties=len(pairs) - wins - losses,
        moved=tuple(moved[:most]),
        only_before=tuple(sorted(old.keys() - new.keys())),
        only_after=tuple(sorted(new.keys() - old.keys())),
    )
