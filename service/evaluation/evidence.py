"""Fits and draws the thresholds of evidence on foreign questions, which have nothing to do with stored texts.

One foreign question in ten reaches `weak`, one in a hundred `strong`. Questions with an answer, and the same questions
with that answer hidden, are not fitted to: they show how well the thresholds separate. Questions that ask for advice
are judged by the cosines that foreign questions find.
"""

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.client import calls
from muisti.core.model.choices import OFF
from muisti.core.model.hits import Thresholds
from muisti.core.model.values import QUERY_MAX
from muisti.core.query.evidence import LEVELS, Unrelated
from muisti.service.evaluation.dataset import Dataset, DatasetError
from muisti.service.evaluation.run import Progress, Stored
from muisti.service.terminal.client import Client

Strengths = npt.NDArray[np.float64]

PASS_WEAK = 0.10
PASS_STRONG = 0.01
STEP = 0.01
PASSING = 0.9  # quantile of the nearest cosine: one unrelated question in ten finds more
DEPTH = 10  # place of the cosine that the nearest is compared with
DIGITS = 3

OWN = "with an answer"
HIDDEN = "answer hidden"
FOREIGN = "of another subject"
KINDS = (OWN, HIDDEN, FOREIGN)

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320, 240, 44, 36, 30
COLOURS = {OWN: "#1a7f37", HIDDEN: "#bf8700", FOREIGN: "#cf222e"}
INK, PAPER = "#57606a", "#ffffff"


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
    pairs = {kind: zip(present[OWN], present[kind], strict=False) for kind in compared}  # datasets in the same order
    return Fitted(
        mode=mode,
        thresholds=thresholds,
        curves=curves,
        auroc={kind: float(np.mean([auroc(own, other) for own, other in pairs[kind]])) for kind in compared},
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


def _passing(found: Sequence[Strengths], at: Strengths) -> Strengths:
    shares = [1.0 - np.searchsorted(np.sort(one), at, "left") / len(one) for one in found]
    return np.mean(shares, axis=0)


def _levels(found: Sequence[Strengths], thresholds: Thresholds) -> dict[str, float]:
    levels = [[thresholds.level(float(value)) for value in one] for one in found]
    return {level: float(np.mean([one.count(level) / len(one) for one in levels])) for level in LEVELS}


class Cosines(msgspec.Struct, frozen=True):
    """The cosines that unrelated questions find in one space: of the `nearest` memory, and of the one at a `place`.

    The space has some `passages`, at least as many as the place.
    """

    nearest: Strengths
    deeper: Strengths
    place: int
    passages: int


def found_by(client: Client, space: str, foreign: Sequence[str]) -> Cosines:
    """Return what foreign questions find in a space by meaning alone, by its own model, which judges the evidence."""
    nearest: list[float] = []
    deeper: list[float] = []
    place = total = 0
    for text in foreign:
        meant = {"mode": "semantic", "second_query": OFF}
        body = {"query": text[:QUERY_MAX], "limit": DEPTH, "explain": True, **meant}
        answer = client.send(calls.search(space, body)).data
        cosines = sorted((hit["explain"]["cosine"] for hit in answer["hits"]), reverse=True)
        place, total = max(place, len(cosines)), answer["total"]
        if cosines:
            nearest.append(cosines[0])
            deeper.append(cosines[-1])
    return Cosines(np.array(nearest), np.array(deeper), place, total)


def fit_unrelated(found: Sequence[Cosines]) -> Unrelated | None:
    """Return the means over spaces; None without a space where cosines fall from place to place.

    The tenth of N passages is about as near as the nearest of a tenth of them, so their distance is the growth.
    """
    usable = [one for one in found if one.place > 1 and len(one.nearest)]
    if not usable:
        return None
    growth = float(np.mean([np.median(one.nearest - one.deeper) / math.log10(one.place) for one in usable]))
    if round(growth, DIGITS) <= 0:
        return None
    at = [float(np.quantile(one.nearest, PASSING)) - growth * math.log10(one.passages) for one in usable]
    return Unrelated(first=round(float(np.mean(at)), DIGITS), growth=round(growth, DIGITS))


def plot(fitted: Sequence[Fitted]) -> str:
    """Draw one panel for each mode, side by side."""
    width = WIDTH * len(fitted)
    panels = "".join(
        f'<g transform="translate({WIDTH * place} 0)">{_panel(one)}</g>' for place, one in enumerate(fitted)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 24}" font-family="sans-serif" '
        f'font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="{PAPER}"/>{panels}{_legend(width)}</svg>\n'
    )


def _panel(fitted: Fitted) -> str:
    end = max(2 * fitted.thresholds.strong, 0.1)
    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{fitted.mode}</text>']
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 10}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    thresholds = fitted.thresholds
    for name, at, anchor in (("weak", thresholds.weak, "end"), ("strong", thresholds.strong, "start")):
        x = _x(at, end)
        parts.append(f'<path d="M{x:.1f} {TOP}V{_y(0):.1f}" stroke="{INK}" stroke-dasharray="3 3"/>')
        parts.append(f'<text x="{x:.1f}" y="{_y(0) + 14:.1f}" text-anchor="{anchor}">{name} {at:.2f}</text>')
    parts += [_line(curve, end, COLOURS[kind]) for kind, curve in fitted.curves.items()]
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{_y(0) + 29:.1f}" text-anchor="middle">strength</text>')
    return "".join(parts)


def _line(curve: Curve, end: float, colour: str) -> str:
    points = [
        f"{_x(float(at), end):.1f} {_y(float(share)):.1f}"
        for at, share in zip(curve.at, curve.share, strict=True)
        if at <= end
    ]
    return f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _legend(width: int) -> str:
    step = min(180, width // len(COLOURS))
    return "".join(
        f'<rect x="{LEFT + step * place}" y="{HEIGHT + 8}" width="12" height="4" fill="{colour}"/>'
        f'<text x="{LEFT + 18 + step * place}" y="{HEIGHT + 14}">{kind}</text>'
        for place, (kind, colour) in enumerate(COLOURS.items())
    )


def _x(at: float, end: float) -> float:
    return LEFT + (WIDTH - 10 - LEFT) * at / end


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share


SAMPLE = 200  # questions of a kind, by default
HIDDEN_MOST = 400  # ids that a filter may name; a question with more answers is left out
PAGE = 100
LONGEST = 30  # words of a question made from a text

_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_WORD = re.compile(r"\w+")


def judged(
    client: Client, held: Stored, others: Sequence[str], mode: str, progress: Progress, most: int = SAMPLE
) -> Mapping[str, Strengths]:
    """Return the strengths by kind for up to `most` queries of a dataset; `others` are asked of its largest group."""
    data = held.dataset
    found: dict[str, list[float]] = {OWN: [], HIDDEN: [], FOREIGN: []}
    every = [(group, query) for group, queries in data.queries.items() for query in queries]
    asked = random.Random(0).sample(every, min(most, len(every)))
    for number, (group, query) in enumerate(asked, start=1):
        space, relevant = held.spaces[group], list(data.qrels[query.id])
        found[OWN].append(_strength(client, space, query.text, mode))
        if len(relevant) <= HIDDEN_MOST:
            hidden = {"not": {"source": relevant}}
            found[HIDDEN].append(_strength(client, space, query.text, mode, filter=hidden))
        progress(mode, number, len(asked))
    space = held.spaces[largest(data)]
    found[FOREIGN] += [_strength(client, space, text, mode) for text in others]
    return {kind: np.array(values) for kind, values in found.items()}


def largest(data: Dataset) -> str:
    """Return the group of a dataset that has the most documents; foreign questions are asked of it."""
    return max(data.documents, key=lambda group: len(data.documents[group]))


def own(client: Client, space: str, foreign: Sequence[str], mode: str, progress: Progress) -> Mapping[str, Strengths]:
    """Return strengths by kind for a space. Its own questions are every other word of a sentence of a stored text."""
    texts = _questions(client, space)
    found: dict[str, list[float]] = {OWN: [], FOREIGN: []}
    for number, (kind, text) in enumerate([(OWN, t) for t in texts] + [(FOREIGN, t) for t in foreign], start=1):
        found[kind].append(_strength(client, space, text, mode))
        progress(mode, number, len(texts) + len(foreign))
    return {kind: np.array(values) for kind, values in found.items()}


def from_others(datasets: Sequence[Dataset], one: Dataset) -> list[str]:
    """Draw questions from the other datasets, the same ones every time."""
    texts = [q.text for other in datasets if other is not one for queries in other.queries.values() for q in queries]
    return random.Random(0).sample(texts, min(SAMPLE, len(texts)))


def question_of(text: str, draw: random.Random) -> str | None:
    """Return every other word of a random sentence, as a caller asks who remembers half of it; None for short texts.

    >>> question_of("The staging server listens on port 8080 since May.", random.Random(0))
    'staging listens port since'
    """
    sentences = [words for sentence in _SENTENCE.findall(text) if len(words := _WORD.findall(sentence)) >= 4]
    return " ".join(draw.choice(sentences)[1 : 2 * LONGEST : 2]) if sentences else None


def _questions(client: Client, space: str) -> list[str]:
    draw = random.Random(0)
    made = (question_of(memory["content"], draw) for memory in _memories(client, space))
    return list(islice((text for text in made if text), SAMPLE))


def _memories(client: Client, space: str) -> list[Mapping[str, Any]]:
    """Return the newest memories in random order, up to ten times as many as are asked about."""
    items: list[Mapping[str, Any]] = []
    cursor: str | None = None
    while len(items) < 10 * SAMPLE:
        page = client.send(calls.list_memories(space, limit=PAGE, cursor=cursor)).data
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    random.Random(0).shuffle(items)
    return items


def _strength(client: Client, space: str, text: str, mode: str, **more: Any) -> float:
    body = {"query": text[:QUERY_MAX], "mode": mode, "limit": 1, **more}
    answer = client.send(calls.search(space, body)).data
    if answer["strategy"] != mode or answer["degraded"]:
        raise DatasetError(f"thresholds of {mode} search cannot be fitted: {'; '.join(answer['degraded'])}")
    return float(answer["strength"])


# A hundred questions on a hundred subjects, to ask of a space that is about something else.
_QUESTIONS = files("muisti.service").joinpath("static", "foreign_questions.txt")
FOREIGN_QUESTIONS = tuple(_QUESTIONS.read_text("utf-8").splitlines())
