import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.vectors import pack, quantise, restored, rotate, unpack
from tests.core import twins


@pytest.mark.parametrize("dimensions", [1, 2, 64, 100, 256, 384, 768])
def test_the_rotation_is_orthogonal_in_every_dimension(dimensions: int):
    matrix = rotate(np.eye(dimensions, dtype=np.float32)).astype(np.float64)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(dimensions), atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 24, 100, 256]))
def test_a_vector_has_the_same_codes_in_whatever_batch_it_comes(seed: int, dimensions: int):
    vectors = np.random.default_rng(seed).standard_normal((5, dimensions)).astype(np.float32)
    assert pack(vectors) == [blob for row in vectors for blob in pack(row[None, :])]


@given(st.integers(0, 2**32 - 1), st.sampled_from([8, 100, 256]))
def test_packing_keeps_cosines_to_five_digits(seed: int, dimensions: int):
    vectors = np.random.default_rng(seed).standard_normal((6, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    planes = unpack(pack(vectors), dimensions)
    back = planes.codes * planes.scales[:, None] + planes.fine * planes.fine_scales[:, None]
    np.testing.assert_allclose(back @ rotate(vectors).T, vectors @ vectors.T, atol=2e-5)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 100, 256]))
def test_the_planes_of_a_vector_agree_with_numpy_to_the_last_bit(seed: int, dimensions: int):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((4, dimensions)).astype(np.float32) * rng.choice([0, 1, 1e-3, 1e-20], (4, 1))
    vectors = vectors.astype(np.float32)
    codes, scales = twins.plane(vectors)
    fine, fine_scales = twins.plane((vectors - codes * scales[:, None]).astype(np.float32))
    found = quantise(vectors)
    assert found.codes.tolist() == codes.tolist() and found.scales.tolist() == scales.tolist()
    assert found.fine.tolist() == fine.tolist() and found.fine_scales.tolist() == fine_scales.tolist()


def test_vectors_come_back_from_their_blobs_and_missing_and_zero_ones_have_no_scale():
    vectors = np.random.default_rng(1).standard_normal((3, 24)).astype(np.float32)
    blobs = [*pack(vectors), None]
    planes = unpack(blobs, 24)
    wanted = planes.codes * planes.scales[:, None] + planes.fine * planes.fine_scales[:, None]
    assert restored(blobs, 24).tolist() == wanted.tolist()
    zero = np.zeros((1, 16), np.float32)
    assert unpack([None, *pack(zero)], 16).scales.tolist() == [0.0, 0.0] and not quantise(zero).codes.any()
