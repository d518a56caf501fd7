"""Fits the thresholds of weak and strong evidence on foreign questions, which have nothing to do with stored texts.

One foreign question in ten reaches `weak`, one in a hundred `strong`. Questions with an answer, and the same questions
with that answer hidden, are not fitted to: they show how well the thresholds separate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from muisti.core.model.hits import Thresholds
from muisti.core.query.evidence import LEVELS

Strengths = npt.NDArray[np.float64]

PASS_WEAK = 0.10
PASS_STRONG = 0.01
STEP = 0.01

OWN = "with an answer"
HIDDEN = "answer hidden"
FOREIGN = "of another subject"
KINDS = (OWN, HIDDEN, FOREIGN)


@dataclass(frozen=True, slots=True)
class Curve:
    """The share of questions of a kind that reach each strength of `at`, the mean over datasets."""

    at: Strengths
    share: Strengths


@dataclass(frozen=True, slots=True)
class Fitted:
    """The thresholds fitted for a mode, and by kind: the curve, the AUROC against `OWN`, and the share of each level.

    `auroc` is the mean over datasets, `pooled` the AUROC of all questions together. `confusion` has the shares.
    """

    mode: str
    thresholds: Thresholds
    curves: Mapping[str, Curve]
    auroc: Mapping[str, float]
    pooled: Mapping[str, float]
    confusion: Mapping[str, Mapping[str, float]]


def fit(mode: str, asked: Mapping[str, Sequence[Strengths]]) -> Fitted:
    """Fit thresholds to strengths by kind and dataset. `asked[FOREIGN]` is needed, the other kinds may be missing.

    Raises:
        ValueError: no foreign question was asked.
    """
    present = {kind: [one for one in asked.get(kind, ()) if len(one)] for kind in KINDS}
    if not present[FOREIGN]:
        raise ValueError("needs foreign questions")
    top = max(float(one.max()) for found in present.values() for one in found)
    at = np.arange(0.0, top + 2 * STEP, STEP).round(2)  # as they are reported: 190 steps of .01 exceed 1.9
    curves = {kind: Curve(at, _passing(found, at)) for kind, found in present.items() if found}
    foreign = curves[FOREIGN].share
    weak, strong = (float(at[np.argmax(foreign <= share)]) for share in (PASS_WEAK, PASS_STRONG))
    thresholds = Thresholds(weak, strong)
    compared = [kind for kind in (HIDDEN, FOREIGN) if present[OWN] and present[kind]]
    return Fitted(
        mode=mode,
        thresholds=thresholds,
        curves=curves,
        auroc={kind: _mean_auroc(present, kind) for kind in compared},
        pooled={kind: auroc(np.concatenate(present[OWN]), np.concatenate(present[kind])) for kind in compared},
        confusion={kind: _levels(found, thresholds) for kind, found in present.items() if found},
    )


def auroc(with_answer: Strengths, without: Strengths) -> float:
    """Compute how often a question with an answer has the greater strength (AUROC); ties count half.

    >>> auroc(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ordered = np.sort(without)
    below = np.searchsorted(ordered, with_answer, "left") + np.searchsorted(ordered, with_answer, "right")
    return float(below.mean() / 2 / len(without))


def _mean_auroc(present: Mapping[str, Sequence[Strengths]], kind: str) -> float:
    """Return the mean AUROC over datasets, which have the same order in every kind."""
    return float(np.mean([auroc(own, other) for own, other in zip(present[OWN], present[kind], strict=False)]))


def _passing(found: Sequence[Strengths], at: Strengths) -> Strengths:
    shares = [1.0 - np.searchsorted(np.sort(one), at, "left") / len(one) for one in found]
    return np.mean(shares, axis=0)


def _levels(found: Sequence[Strengths], thresholds: Thresholds) -> dict[str, float]:
    levels = [[thresholds.level(float(value)) for value in one] for one in found]
    return {level: float(np.mean([one.count(level) / len(one) for one in levels])) for level in LEVELS}
