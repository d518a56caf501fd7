"""Answers of endpoints: whatever comes is a refusal or unit vectors in the order of the texts."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.providers.posting import BadAnswer, read

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "index", "embedding"]), inner),
    max_leaves=12,
)


@given(st.permutations(range(5)), st.booleans())
def test_vectors_are_placed_by_their_index(order: list[int], encoded: bool):
    vectors = np.random.default_rng(0).standard_normal((5, 8)).astype("<f4")
    items = [
        {"index": place, "embedding": base64.b64encode(vectors[place]).decode() if encoded else vectors[place].tolist()}
        for place in order
    ]
    found = read(json.dumps({"data": items}).encode(), 5, 8)
    assert np.allclose(found, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), atol=1e-6)
    assert found.dtype == np.float32


@given(JSON)
def test_whatever_comes_is_read_or_refused(content: object):
    try:
        found = read(json.dumps(content).encode(), 1, None)
    except BadAnswer:
        return
    assert np.linalg.norm(found[0]) == pytest.approx(1, abs=1e-5)


@given(st.binary(max_size=40))
def test_no_bytes_do_more_than_be_refused(body: bytes):
    with pytest.raises(BadAnswer):
        read(body, 1, 3)


def test_numbers_that_overflow_are_refused():
    for number in ("1e400", "1e308", "NaN", "Infinity"):
        body = f'{{"data": [{{"index": 0, "embedding": [{number}, {number}]}}]}}'.encode()
        with pytest.raises(BadAnswer):
            read(body, 1, 2)
