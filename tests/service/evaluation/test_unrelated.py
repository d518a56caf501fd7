"""Test cosines of unrelated questions: fitted on cosines that are made up, where the law is known."""

import math
from pathlib import Path

import numpy as np
import pytest

from muisti.client import calls
from muisti.core.model.choices import OFF
from muisti.service.app.local import start
from muisti.service.evaluation.evidence import Cosines, fit_unrelated, found_by
from muisti.service.evaluation.run import wait_for_vectors
from muisti.service.settings import Settings
from muisti.service.settings.table import MINILM


def made(first: float, growth: float, passages: int, place: int = 10, noise: float = 0.0) -> Cosines:
    draw = np.random.default_rng(0)
    nearest = first + growth * math.log10(passages) + noise * draw.standard_normal(500)
    return Cosines(nearest, nearest - growth * math.log10(place), place, passages)


def test_the_law_that_made_the_cosines_is_found():
    found = fit_unrelated([made(0.15, 0.07, size) for size in (30, 400, 9_000)])
    assert found is not None
    assert (found.first, found.growth) == pytest.approx((0.15, 0.07), abs=0.001)


def test_one_question_in_ten_finds_more():
    cosines = made(0.15, 0.07, 1_000, noise=0.05)
    found = fit_unrelated([cosines])
    assert found is not None
    assert np.mean(cosines.nearest > found.cosine(1_000)) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("cosines", [[], [made(0.1, 0.07, 1, place=1)], [made(0.1, 0.0, 100)]])
def test_without_a_slope_there_is_nothing_to_fit(cosines: list[Cosines]):
    assert fit_unrelated(cosines) is None


def test_a_second_model_of_the_space_does_not_change_what_is_found(tmp_path: Path):
    """Evidence is judged by the model of the space, so the cosines that it is judged by are those of that model."""
    texts = [f"The {one} waits near the {place}." for one in ("otter", "lamp", "train") for place in ("river", "wall")]
    seen: list[Cosines] = []
    for second in (OFF, MINILM):
        url = f"file:{tmp_path / second}.db"
        with start(Settings(database_url=url, second_model=second, second_query="transformer")) as client:
            for text in texts:
                client.send(calls.add_memory("default", {"content": text}))
            wait_for_vectors(client, ["default"], lambda *_: None)
            seen.append(found_by(client, "default", ["Who wrote the opera?", "What is the price of copper?"]))
    one, other = seen
    assert np.array_equal(one.nearest, other.nearest) and np.array_equal(one.deeper, other.deeper)
    assert (one.place, one.passages) == (other.place, other.passages) == (6, 6)
