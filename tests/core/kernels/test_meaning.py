import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.vectors import quantise
from muisti.core.index.dense import query_vector
from muisti.core.kernels import Doubles, Floats, Longs
from muisti.core.kernels import context as meaning

TURN, FEEDBACK, DIMENSIONS = 0.2, 0.3, 64
seeds = st.integers(0, 2**32 - 1)


def unit(vectors: Floats) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def beside(row: int, step: int, visible: list[bool]) -> int:
    """Return the next visible row in one direction, -1 for none: the oracle of links over rows of one session."""
    row += step
    while 0 <= row < len(visible) and not visible[row]:
        row += step
    return row if 0 <= row < len(visible) else -1


@given(seeds, st.integers(1, 12), st.booleans())
def test_cosines_are_those_of_sums_of_vectors(seed: int, size: int, linked: bool):
    """All rows are memories of one session, in order, or of none; some have no vector or are not visible."""
    rng = np.random.default_rng(seed)
    vectors = unit(rng.normal(size=(size, DIMENSIONS)) + 0.5)
    vectors[rng.random(size) < 0.2] = 0
    query = unit(rng.normal(size=DIMENSIONS) + 0.5)
    codes, scales, fine, fine_scales = map(np.ascontiguousarray, msgspec.structs.astuple(quantise(vectors)))
    asked = query_vector(query)
    visible = rng.random(size) < 0.8
    rows: Longs = np.unique(rng.integers(0, size, 5))
    cosines: Doubles = (vectors[rows] @ query).astype(np.float64)
    numbers, versions = np.zeros(size, np.int32), np.arange(size)
    before, after = np.arange(-1, size - 1, dtype=np.int32), np.append(np.arange(1, size, dtype=np.int32), np.int32(-1))
    near = np.empty((len(rows) if linked else 0, 2), np.int64)
    lengths, context, expansion = np.ones(len(rows)), np.zeros(len(rows)), np.empty(len(rows))
    mixed = vectors[rows].astype(np.float64)
    if linked:
        columns = (rows, numbers, versions, before, after, visible)
        meaning.lend(codes, scales, asked.codes, asked.step, *columns, TURN, cosines, near, lengths, context)
        for place, row in enumerate(rows.tolist()):
            around = [beside(row, step, visible.tolist()) for step in (-1, 1)]
            assert near[place].tolist() == around
            if vectors[row].any():
                mixed[place] += TURN * sum(vectors[one] for one in around if one >= 0)
                mixed[place] /= np.linalg.norm(mixed[place])
    np.testing.assert_allclose(cosines + context, mixed @ query, atol=2e-3)  # turns are added from coarse codes
    best = int(rng.integers(len(rows)))
    if vectors[rows[best]].any():
        expanded = unit(query + FEEDBACK * mixed[best])
        columns = (codes, scales, fine, fine_scales)
        known = (rows, cosines + context, best, near, lengths, TURN)
        meaning.expand(*columns, asked.length, FEEDBACK, *known, expansion)
        np.testing.assert_allclose(cosines + context + expansion, mixed @ expanded, atol=2e-3)
        assert (expansion[~vectors[rows].any(axis=1)] == 0).all()
