"""Fits the cosines that unrelated questions find, which questions that ask for advice are judged by."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from muisti.client import calls
from muisti.core.model.terms import OFF
from muisti.core.model.values import QUERY_MAX
from muisti.core.query.advice import Unrelated
from muisti.service.app.client import Client
from muisti.service.evaluation.evidence import Strengths

PASSING = 0.9  # quantile of the nearest cosine: one unrelated question in ten finds more
DEPTH = 10  # place of the cosine that the nearest is compared with
DIGITS = 3


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
