"""The fit of the map of queries: it recovers a map that exists, and writes what the product reads."""

from pathlib import Path

import numpy as np

from deploy.model.map_card import Facts, write_card
from deploy.model.packages import Source
from deploy.model.query_map import Between, chosen, fit, write
from deploy.model.values import Kind, Pair
from muisti.core.embedding.vectors import read


def test_a_map_that_exists_is_recovered_within_its_rounding(tmp_path: Path):
    chance = np.random.default_rng(3)
    matrix, offset = chance.standard_normal((8, 12)), chance.standard_normal(12)
    inputs = chance.standard_normal((2_000, 8)).astype(np.float32)
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    images = inputs @ matrix + offset
    targets = (images / np.linalg.norm(images, axis=1, keepdims=True)).astype(np.float32)
    fitted = fit(inputs, targets)
    assert fitted.cosine > 0.97
    write(fitted, Between("one", "other"), tmp_path)
    write_card(tmp_path, Facts([], 2_000, fitted.cosine, fitted.ridge))
    found = read(tmp_path)
    assert found.between == Between("one", "other")
    kept = np.array([found.of(vector) @ target for vector, target in zip(inputs, targets, strict=True)])
    assert kept.mean() > fitted.cosine - 0.01


def test_texts_are_learned_from_once_and_the_same_every_time():
    source = Source("python", "CPython", "3", "python")
    pairs = [Pair(Kind.CODE, f"how to sort {n % 50}", "def sort(): ...") for n in range(100)]
    texts = chosen({source: pairs})
    assert texts == chosen({source: pairs}) and len(texts) == len(set(texts)) == 51
