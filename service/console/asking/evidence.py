"""The evidence of an answer as a meter, with the thresholds from which it is weak or strong."""

from collections.abc import Mapping
from typing import Any, NamedTuple

WIDE = 1000
ROOM = 1.3  # length of the meter over the threshold of strong evidence

WORDS = {"none": "bad", "weak": "fair", "strong": "good", "uncalibrated": ""}


class Meter(NamedTuple):
    """A meter: a bar of `strength`, and the places of both thresholds on it; `known` is false without thresholds."""

    level: str
    kind: str
    told: str
    known: bool
    width: str = "0"
    weak: str = "0"
    strong: str = "0"
    weak_from: str = ""
    strong_from: str = ""
    weak_at: str = "0"
    strong_at: str = "0"


def meter(found: Mapping[str, Any]) -> Meter:
    """Return the meter of an answer.

    >>> found = {"evidence": "weak", "strength": 0.65, "thresholds": {"weak": 0.5, "strong": 1.0}, "strategy": "hybrid"}
    >>> made = meter(found)
    >>> made.width, made.weak, made.strong, made.told
    ('500.0', '384.6', '769.2', 'Strength 0.65: weak from 0.50, strong from 1.00.')
    """
    level, strength, ends = found["evidence"], found["strength"], found["thresholds"]
    kind = WORDS[level]
    if ends is None:
        return Meter(level, kind, _unknown(level, found["strategy"], strength), known=False)
    told = f"Strength {strength:.2f}: weak from {ends['weak']:.2f}, strong from {ends['strong']:.2f}."
    if level == "weak" and strength < ends["weak"]:
        told += " It counts as weak because one memory has every word."
    scale = WIDE / max(ROOM * ends["strong"], strength)
    return Meter(
        level=level,
        kind=kind,
        told=told,
        known=True,
        width=f"{strength * scale:.1f}",
        weak=f"{ends['weak'] * scale:.1f}",
        strong=f"{ends['strong'] * scale:.1f}",
        weak_at=f"{ends['weak'] * scale * 100 / WIDE:.1f}",
        strong_at=f"{ends['strong'] * scale * 100 / WIDE:.1f}",
        weak_from=f"{ends['weak']:.2f}",
        strong_from=f"{ends['strong']:.2f}",
    )


def _unknown(level: str, strategy: str, strength: float) -> str:
    if level == "uncalibrated":
        return f"Strength {strength:.2f}. Its worth is not known: the model has no thresholds (muisti calibrate)."
    return f"The mode {strategy} ranks no text: evidence only says whether anything was found."
