"""Cosines of two models in one: the formula, rows without a second vector, and candidates of both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.vectors import Vectors, pack, rows_of
from muisti.core.index import dense
from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.dense import QueryVector, query_vector, rotated
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.vector_columns import VectorColumns
from muisti.core.kernels import Mask
from muisti.core.search.query_vectors import MAPPED_SHARE, SHARE, QueryVectors, Second, cosines, nearest
from tests.core.index.test_dense import snapshot_of

OWN, OTHER = 32, 48  # dimensions


def units(count: int, dimensions: int, chance: np.random.Generator) -> Vectors:
    found = chance.standard_normal((count, dimensions)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def with_second(own: Vectors, other: Vectors, has: Mask) -> Snapshot:
    """Return rows with vectors by two models, of which the second has embedded some."""
    snapshot = snapshot_of(own, np.ones(len(own), np.int64), np.arange(len(own)))
    columns = VectorColumns(other.shape[1])
    blobs = [blob if there else None for blob, there in zip(pack(other), has, strict=True)]
    columns.append(rows_of(blobs, other.shape[1]), has)
    snapshot.rows.second = columns
    return Snapshot(snapshot.seq, snapshot.rows, snapshot.size, [], 0)


def asked(vector: Vectors) -> QueryVector:
    return query_vector(rotated(vector))


def everything(size: int) -> Allowed:
    return Allowed(np.ones(size, np.bool_), size)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_cosine_is_that_of_both_models_and_of_the_first_alone_for_a_row_without_the_second(seed: int, mapped: bool):
    chance = np.random.default_rng(seed)
    own, other, has = units(30, OWN, chance), units(30, OTHER, chance), chance.random(30) < 0.6
    snapshot = with_second(own, other, has)
    first, second = units(1, OWN, chance)[0], units(1, OTHER, chance)[0]
    found = cosines(snapshot, QueryVectors(asked(first), Second(asked(second), mapped)), np.arange(30))
    share = MAPPED_SHARE if mapped else SHARE
    expected = np.where(has, (1 - share) * (own @ first) + share * (other @ second), own @ first)
    np.testing.assert_allclose(found.both, expected, atol=1e-4)
    assert found.second is not None and found.share is not None
    np.testing.assert_allclose(found.both, (1 - found.share) * found.own + found.share * found.second, atol=1e-12)


def test_without_a_second_vector_of_the_query_nothing_changes():
    chance = np.random.default_rng(1)
    own, other = units(30, OWN, chance), units(30, OTHER, chance)
    snapshot, first = with_second(own, other, np.ones(30, np.bool_)), asked(units(1, OWN, chance)[0])
    found = cosines(snapshot, QueryVectors(first), np.arange(30))
    assert found.second is None and np.array_equal(found.both, dense.cosines(snapshot, first, np.arange(30)))
    near = dense.nearest(snapshot, first, everything(30), 5).rows
    found = nearest(snapshot, QueryVectors(first), everything(30), 5)
    assert all(np.array_equal(rows, near) for rows in found)


@pytest.mark.parametrize("share_of_rows", [0.3, 1.0])
def test_the_nearest_are_those_of_the_mixed_cosine_among_what_either_model_proposes(share_of_rows: float):
    chance = np.random.default_rng(2)
    own, other, has = units(200, OWN, chance), units(200, OTHER, chance), chance.random(200) < share_of_rows
    snapshot = with_second(own, other, has)
    query = QueryVectors(asked(units(1, OWN, chance)[0]), Second(asked(units(1, OTHER, chance)[0]), mapped=True))
    assert query.second is not None
    found = nearest(snapshot, query, everything(200), 10)
    either = np.union1d(
        dense.nearest(snapshot, query.own, everything(200), 10).rows,
        dense.nearest(snapshot, query.second.vector, everything(200), 10, snapshot.second).rows,
    )
    scores = cosines(snapshot, query, np.arange(200)).both
    assert found.every.tolist() == either.tolist()
    assert found.own.tolist() == dense.nearest(snapshot, query.own, everything(200), 10).rows.tolist()
    assert found.best.tolist() == sorted(either.tolist(), key=lambda row: -scores[row])[:10]
