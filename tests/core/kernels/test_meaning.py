from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.vectors import quantise
from muisti.core.index.dense import QueryVector, query_vector
from muisti.core.kernels import Doubles, Floats, Longs, blend
from tests.core import twins

TURN, FEEDBACK, SHARE, DIMENSIONS = 0.2, 0.3, 0.6, 64
CONSTANTS = (0.01, -2, 5.0, 0.8, 0.2, 0.4, 0.3)  # those of `twins.blend`
TOLD = ("around", "related", "late", "order", "cosine", "context")
seeds = st.integers(0, 2**32 - 1)


def unit(vectors: Floats | Doubles) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def beside(row: int, step: int, visible: list[bool]) -> int:
    """Return the next visible row in one direction, -1 for none: the oracle of links over rows of one session."""
    row += step
    while 0 <= row < len(visible) and not visible[row]:
        row += step
    return row if 0 <= row < len(visible) else -1


def embedded(rng: np.random.Generator, size: int) -> tuple[Floats, Floats, Any, QueryVector]:
    """Return vectors, some of them zero, and that of a query, as such and as the loops take them."""
    vectors, query = unit(rng.normal(size=(size, DIMENSIONS)) + 0.5), unit(rng.normal(size=DIMENSIONS) + 0.5)
    vectors[rng.random(size) < 0.2] = 0
    codes, scales, fine, fine_scales = map(np.ascontiguousarray, msgspec.structs.astuple(quantise(vectors)))
    return vectors, query, (codes, scales, fine, fine_scales), query_vector(query)


@given(seeds, st.integers(1, 12), st.booleans(), st.booleans())
def test_meaning_is_that_of_sums_of_vectors(seed: int, size: int, linked: bool, twofold: bool):
    """All rows are memories of one session, in order, or of none; some have no vector or are not visible."""
    rng = np.random.default_rng(seed)
    vectors, query, planes, asked = embedded(rng, size)
    seconds, other, others, second = embedded(rng, size)
    if not twofold:
        others = tuple(one[:0] for one in planes)
    visible, own = rng.random(size) < 0.8, np.ones(0, np.bool_)
    rows: Longs = np.unique(rng.integers(0, size, 5))
    numbers, versions = np.zeros(size, np.int32), np.arange(size)
    links = np.arange(-1, size - 1, dtype=np.int32), np.append(np.arange(1, size, dtype=np.int32), np.int32(-1))
    columns = (rng.random(size).astype(np.float32), numbers, versions, np.full(size, 300, np.int32), links, visible)
    cosines, parts = np.empty((3, len(rows))), rng.random((blend.PARTS, len(rows)))
    parts[blend.RELATED] += 2  # so that no expansion is cut
    said = (np.zeros(size, np.int32), np.empty(0), own)
    level = blend.meant(
        planes, asked.asked, others, second.asked, SHARE, rows, *columns, linked, *said, TURN, FEEDBACK, CONSTANTS,
        cosines, parts,
    )  # fmt: skip
    mixed = vectors[rows].astype(np.float64)
    for place, row in enumerate(rows.tolist()):
        if linked and vectors[row].any():
            around = [beside(row, step, visible.tolist()) for step in (-1, 1)]
            mixed[place] += TURN * sum(vectors[one] for one in around if one >= 0)
            mixed[place] /= np.linalg.norm(mixed[place])
    share = np.where(seconds[rows].any(axis=1) & twofold, SHARE, 0.0)
    context, expansion = parts[blend.CONTEXT], parts[blend.EXPANSION]
    by_both = (1 - share) * (vectors[rows] @ query) + share * (seconds[rows] @ other)
    np.testing.assert_allclose(parts[blend.COSINE], by_both, atol=2e-4)
    turned = (1 - share) * (mixed @ query) + share * (seconds[rows] @ other)
    np.testing.assert_allclose(parts[blend.COSINE] + context, turned, atol=2e-3)  # turns are added from coarse codes
    told = {name: parts[getattr(blend, name.upper())] for name in TOLD}
    compared = (rows, columns[0], columns[3], links[0], said[0], said[1])
    firsts = twins.blend(*compared, told | {"expansion": np.zeros(len(rows))}, 1.0)
    best = int(firsts.argmax())
    if vectors[rows[best]].any() and (not twofold or seconds[rows[best]].any()):
        one, another = unit(query + FEEDBACK * mixed[best]), unit(other + FEEDBACK * seconds[rows[best]])
        expanded = (1 - share) * (mixed @ one) + share * (seconds[rows] @ another)
        np.testing.assert_allclose(turned + expansion, expanded, atol=4e-3)
    np.testing.assert_allclose(parts[blend.FUSED], twins.blend(*compared, told | {"expansion": expansion}, level))
    assert parts[blend.FUSED][best] == pytest.approx(firsts[best])


@given(seeds, st.integers(1, 12), st.booleans())
def test_closeness_and_signs_are_their_formulas(seed: int, size: int, linked: bool):
    rng = np.random.default_rng(seed)
    every, covered, order = rng.random((3, size)) - 0.1
    rows, first = np.arange(size), rng.permutation(size)[: size // 2 + 1]
    before = rng.integers(-2, 2, size).astype(np.int32) if linked else np.empty(0, np.int32)
    out = np.empty(size)
    blend.close(every, covered, first, rows, rows, np.zeros(size, np.int32), before, -2, 0.7, 2.5, 0.15, out)
    best = every[first[0]]
    shares = np.clip(every / best, 0, 1) if best > 0 else np.ones(size)
    words = np.minimum(1, (covered + 0.15) / (covered[first[0]] + 0.15))
    turns = before != -2 if linked else np.zeros(size, np.bool_)
    np.testing.assert_allclose(out, np.where(turns, shares**0.7, shares**2.5 * words**0.75))
    assert blend.signs(every, covered, order, first) == tuple(one[first].max() for one in (every, covered, order))
