from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.vectors import quantise
from muisti.core.index.dense import QueryVector, query_vector
from muisti.core.kernels import Doubles, Floats, Longs, Mask, likeness

DIMENSIONS, LEAST = 64, 0.1


def expected(scores: Sequence[float], applies: Sequence[bool], most: int) -> list[int]:
    """Return the places of the best that apply, of equal scores the later first: the oracle."""
    return sorted((i for i, one in enumerate(applies) if one), key=lambda i: (-scores[i], -i))[:most]


def best(
    vectors: Floats, asked: QueryVector, everywhere: Mask, rows: Longs, flags: Mask, most: int
) -> tuple[list[int], Doubles]:
    """Return the places and scores that the loop finds."""
    v, places, scores = quantise(vectors), np.empty(most, np.int64), np.empty(most)
    codes, fine = np.ascontiguousarray(v.codes), np.ascontiguousarray(v.fine)
    scales, fine_scales = np.ascontiguousarray(v.scales), np.ascontiguousarray(v.fine_scales)
    planes = (codes, scales, fine, fine_scales, asked.codes, asked.step)
    found = likeness.applying(*planes, everywhere, rows, flags, LEAST, places, scores)
    return places[:found].tolist(), scores[:found]


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(1, 5))
def test_the_best_visible_ones_apply(seed: int, count: int, most: int):
    rng = np.random.default_rng(seed)
    query = rng.normal(size=DIMENSIONS).astype(np.float32)
    query /= np.linalg.norm(query)
    vectors = rng.normal(size=(2 * count, DIMENSIONS)).astype(np.float32) + rng.normal() * query
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[rng.random(2 * count) < 0.2] = 0  # texts without known words
    if count > 1:
        vectors[2:4] = vectors[:2]  # two with equal scores
    flags, rows = rng.random(30) < 0.7, rng.integers(-1, 35, count)  # a row may be newer than the flags
    everywhere = rng.random(count) < 0.2
    asked = query_vector(query)
    places, scores = best(vectors, asked, everywhere, rows, flags, most)
    cosines = (vectors @ query).reshape(count, 2).max(axis=1, initial=-1) if count else np.empty(0)
    seen = np.array([0 <= row < len(flags) and bool(flags[row]) for row in rows.tolist()], np.bool_)
    near = np.abs(cosines - LEAST) < 1e-4  # too near to the limit to say
    if not (near & seen & ~everywhere).any():
        applies = [one and (everywhere[i] or cosines[i] >= LEAST) for i, one in enumerate(seen.tolist())]
        wanted = expected(np.round(cosines, 4).tolist(), applies, most)
        assert len(places) == len(set(places)) == len(wanted) and all(applies[place] for place in places)
        np.testing.assert_allclose(scores, cosines[wanted], atol=2e-4)


def test_of_equal_scores_the_later_comes_first():
    vectors = np.repeat(np.eye(1, DIMENSIONS, dtype=np.float32), 6, axis=0)
    asked = query_vector(vectors[0])
    flags = np.ones(3, np.bool_)
    assert best(vectors, asked, ~flags, np.arange(3), flags, 2)[0] == [2, 1]
