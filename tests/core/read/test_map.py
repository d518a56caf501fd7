"""The map of a space: what is alike is close together, and nobody sees a place of what they may not read."""

import numpy as np
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse_params
from muisti.core.query.points import parse
from muisti.core.read.statistics import flat

SEA = ["The ferry leaves the harbour at noon", "The ferry returns to the harbour at six", "Ferries stop in storms"]
TEA = ["Green tea is brewed at eighty degrees", "Black tea is brewed with boiling water", "Tea leaves are dried"]


@pytest.fixture
def filled(engine: Engine) -> Engine:
    for category, texts in (("sea", SEA), ("tea", TEA)):
        engine.owner.write.add(
            "default", [Draft(content=text, category=category) for text in texts], on_conflict="keep"
        )
    return engine


def test_memories_of_like_meaning_are_closer(filled: Engine):
    found = filled.owner.read.map("default")
    places = {one.title: np.array([one.x, one.y]) for one in found.points}
    assert places.keys() == {*SEA, *TEA}
    sea, tea = (np.mean([places[text] for text in texts], axis=0) for texts in (SEA, TEA))
    for text, place in places.items():
        own, other = (sea, tea) if text in SEA else (tea, sea)
        assert np.linalg.norm(place - own) < np.linalg.norm(place - other)
    assert found == filled.owner.read.map("default")


def test_filters_the_past_and_keys_decide_what_is_placed(filled: Engine):
    seq = filled.owner.read.map("default").seq
    assert {one.title for one in filled.seen_by(Caller(category="tea")).read.map("default").points} == {*TEA}
    filtered = filled.owner.read.map("default", filter=parse_params({"category": ["sea"]}))
    assert {one.title for one in filtered.points} == {*SEA}
    gone = filled.owner.read.list("default").items[0]
    filled.owner.write.delete("default", gone.id)
    assert gone.id not in {one.id for one in filled.owner.read.map("default").points}
    assert gone.id in {one.id for one in filled.owner.read.map("default", as_of=parse(str(seq))).points}


@pytest.mark.parametrize("limit", [0, 2_001])
def test_limits_are_named(filled: Engine, limit: int):
    with pytest.raises(InvalidInput):
        filled.owner.read.map("default", limit=limit)


def test_places_are_within_bounds_and_the_axes_are_those_of_most_variance():
    vectors = np.random.default_rng(7).normal(size=(200, 16)).astype(np.float32) * np.geomspace(8, 0.1, 16)
    places, kept = flat(vectors.astype(np.float32))
    assert np.abs(places).max() <= 1
    values = np.sort(np.linalg.svd(vectors - vectors.mean(0), compute_uv=False) ** 2)[::-1]
    assert kept == pytest.approx(values[:2].sum() / values.sum(), rel=1e-4)
    assert flat(vectors[:2].astype(np.float32))[0].tolist() == [[0, 0], [0, 0]]
