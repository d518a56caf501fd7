"""Which strengths of evidence are weak and strong: fitted on questions that have nothing to do with what is stored.

`weak` lets one foreign question in ten pass, `strong` one in a hundred. Questions with an answer, and the same with
their answers hidden, choose nothing: they show what the thresholds are worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from muisti.core.query.evidence import LEVELS, Thresholds

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
    """What was fitted for a mode, and what it does: by kind the curve, the AUROC against `OWN`, the share of levels.

    `auroc` is the mean over datasets, `pooled` that of all questions together.
    """

    mode: str
    thresholds: Thresholds
    curves: Mapping[str, Curve]
    auroc: Mapping[str, float]
    pooled: Mapping[str, float]
    confusion: Mapping[str, Mapping[str, float]]


def fit(mode: str, asked: Mapping[str, Sequence[Strengths]]) -> Fitted:
    """Thresholds from strengths by kind and dataset. `asked[FOREIGN]` is needed, the other kinds may be missing.

    Raises:
        ValueError: no foreign question was asked.
    """
    present = {kind: [one for one in asked.get(kind, ()) if len(one)] for kind in KINDS}
    if not present[FOREIGN]:
        raise ValueError("needs foreign questions")
    top = max(float(one.max()) for found in present.values() for one in found)
    at = np.arange(0.0, top + 2 * STEP, STEP).round(2)  # as they are told: 190 steps of .01 are a little over 1.9
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
    """How often a question with an answer has the greater strength, ties counting half.

    >>> auroc(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ordered = np.sort(without)
    below = np.searchsorted(ordered, with_answer, "left") + np.searchsorted(ordered, with_answer, "right")
    return float(below.mean() / 2 / len(without))


def _mean_auroc(present: Mapping[str, Sequence[Strengths]], kind: str) -> float:
    """The mean over datasets, which stand in the same order in every kind."""
    return float(np.mean([auroc(own, other) for own, other in zip(present[OWN], present[kind], strict=False)]))


def _passing(found: Sequence[Strengths], at: Strengths) -> Strengths:
    shares = [1.0 - np.searchsorted(np.sort(one), at, "left") / len(one) for one in found]
    return np.mean(shares, axis=0)


def _levels(found: Sequence[Strengths], thresholds: Thresholds) -> dict[str, float]:
    levels = [[thresholds.level(float(value)) for value in one] for one in found]
    return {level: float(np.mean([one.count(level) / len(one) for one in levels])) for level in LEVELS}
