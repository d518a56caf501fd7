"""Importance of a message by itself. Working memory chooses and shows messages by it; searches do not use it.

Importance is a base and a sum of named parts, so it is never zero and can be explained. The parts and their order of
weight come from which turns of two collections of conversations hold answers to questions. Two parts held in both:
novelty, and speaking in the first person.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from muisti.core.text.discourse.signals import Signals

BASE = 0.05
NEAR = 400  # turns before a message that its novelty is measured against
MASS = 60.0  # idf mass at which a message is as full as it counts

# Shares of the rest, which sum to 1.
WEIGHTS: Mapping[str, float] = {
    "novelty": 0.3,
    "first_person": 0.2,
    "information": 0.25,
    "times": 0.07,
    "numbers": 0.03,
    "preference": 0.06,
    "decision": 0.05,
    "task": 0.04,
}

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Importance:
    """`value`, in (0, 1], is the sum of the `parts`, of which "base" is one."""

    value: float
    parts: Mapping[str, float]


def importance(signals: Signals, *, novelty: float, mass: float) -> Importance:
    """Return the importance of a message. `novelty` is in [0, 1], `mass` the sum of the idf of its distinct terms.

    >>> from muisti.core.text.discourse.signals import signals
    >>> importance(signals("I moved to Turku yesterday."), novelty=0.8, mass=20.0).value > .6
    True
    """
    strength = {
        "novelty": min(1.0, max(0.0, novelty)),
        "first_person": float(signals.first_person),
        "information": min(1.0, math.log1p(max(0.0, mass)) / math.log1p(MASS)),
        "times": float(bool(signals.times)),
        "numbers": float(signals.numbers),
        **{act: float(act in signals.acts) for act in ("preference", "decision", "task")},
    }
    parts = {"base": BASE} | {name: round((1 - BASE) * WEIGHTS[name] * strength[name], 4) for name in WEIGHTS}
    parts = {name: part for name, part in parts.items() if part}
    return Importance(round(math.fsum(parts.values()), 4), parts)


def novelty(vector: Vector, before: npt.NDArray[np.float32]) -> float:
    """Return one less the largest cosine to the turns before, of which the last `NEAR` count; 1 without any."""
    recent = before[-NEAR:]
    return 1.0 if not len(recent) else float(1 - max(0.0, float((recent @ vector).max())))
