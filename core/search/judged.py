"""The level of evidence of an answer, and the reason for it in words."""

import msgspec

from muisti.core.index.lexical import any_with_every
from muisti.core.model.hits import Evidence, Thresholds
from muisti.core.query.evidence import Calibration, Nearest, Unrelated, advised, asks_for_advice
from muisti.core.query.query import Wanted
from muisti.core.search.candidates import Candidates
from muisti.core.search.rankers import Asked

WHOLE = "one memory has every word of the query, so it is at least weak"


class Advised(msgspec.Struct, frozen=True):
    """Says that a question asks for advice: the strength it has otherwise, and the cosines that count beside it."""

    strength: float
    nearest: Nearest
    usual: Unrelated


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of an answer, and what it follows from.

    `whole` says that a memory with every word of the query raised it.
    """

    evidence: Evidence
    strength: float
    thresholds: Thresholds | None
    advised: Advised | None
    whole: bool

    def reason(self) -> str:
        """Return in words why the evidence has this level.

        >>> Judged(
        ...     evidence="weak", strength=0.8, thresholds=Thresholds(0.7, 1.0), advised=None, whole=False
        ... ).reason()
        'the strength of 0.80 is at least 0.70 (weak) and below 1.00 (strong)'
        """
        parts = [_placed(self.strength, self.thresholds)]
        if (one := self.advised) is not None:
            near, usual = one.nearest, one.usual.cosine(one.nearest.passages)
            parts.append(
                f"the question asks for advice, so words count half: the nearest of {near.passages:,} passages has a "
                f"cosine of {near.cosine:.2f}, one unrelated question in ten finds {usual:.2f}, and as a question for "
                f"a fact it has a strength of {one.strength:.2f}"
            )
        if self.whole:
            parts.append(WHOLE)
        return "; ".join(parts)


def judged(calibration: Calibration, asked: Asked, found: Candidates, generation: str | None, space: str) -> Judged:
    """Return the evidence of the candidates of a search, by the thresholds of a model and a space."""
    thresholds, strength = calibration.thresholds(asked.mode, generation, space), found.strength
    advice = _advice(calibration.unrelated(generation, space), asked.wanted, found)
    if advice is not None and thresholds is not None:
        strength = advised(strength, thresholds.weak, advice.nearest, advice.usual)
    evidence = calibration.level(strength, asked.mode, generation, space)
    whole = evidence == "none" and has_every_word(asked, found)
    return Judged(
        evidence="weak" if whole else evidence,
        strength=strength,
        thresholds=thresholds,
        advised=None if thresholds is None else advice,
        whole=whole,
    )


def has_every_word(asked: Asked, found: Candidates) -> bool:
    """Return whether one proposed memory has every word of the query, in any indexed field."""
    matches, wanted = found.matches, asked.wanted
    if matches is None or matches.unknown or not wanted.terms:
        return False
    by_idf = sorted(zip(matches.idf.tolist(), wanted.terms, strict=True), reverse=True)
    return any_with_every(
        asked.snapshot, [term for _, term in by_idf], found.rows
    )  # few rows have the first, the rarest


def _advice(usual: Unrelated | None, wanted: Wanted, found: Candidates) -> Advised | None:
    """Return what counts for a question that asks for advice; None for other questions and uncalibrated models."""
    if usual is None or found.nearest is None or not asks_for_advice(wanted.text):
        return None
    return Advised(found.strength, found.nearest, usual)


def _placed(strength: float, thresholds: Thresholds | None) -> str:
    told = f"the strength of {strength:.2f} is"
    if thresholds is None:
        return f"{told} not judged: the model has no thresholds (muisti calibrate)"
    weak, strong = f"{thresholds.weak:.2f} (weak)", f"{thresholds.strong:.2f} (strong)"
    level = thresholds.level(strength)
    if level == "none":
        return f"{told} below {weak}"
    return f"{told} at least {weak} and below {strong}" if level == "weak" else f"{told} at least {strong}"
