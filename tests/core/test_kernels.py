"""Every kernel does what its numpy twin does."""

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernels import dense, lexical, pool
from core.kernels.target import TARGETS
from tests.core import twins

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(0, 60)


@given(seeds, sizes, st.sampled_from([1, 8, 64]))
def test_scan_agrees_with_numpy(seed: int, rows: int, dimensions: int):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-127, 128, (rows, dimensions)).astype(np.int8)
    scales = np.where(rng.random(rows) < 0.2, 0, rng.random(rows)).astype(np.float32)
    query = rng.integers(-127, 128, dimensions).astype(np.int8)
    allowed = rng.random(rows) < 0.7
    found, wanted = np.empty(rows, np.float32), np.empty(rows, np.float32)
    dense.scan(codes, scales, query, allowed, found)
    twins.scan(codes, scales, query, allowed, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@given(seeds, st.integers(1, 60))
def test_rescore_agrees_with_numpy(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    planes = [rng.integers(-127, 128, (rows, 32)).astype(np.int8) for _ in range(2)]
    scales = [(rng.random(rows) * size).astype(np.float32) for size in (1e-3, 1e-5)]
    query = rng.standard_normal(32).astype(np.float32)
    chosen = rng.integers(0, rows, 10)
    found, wanted = np.empty(10, np.float32), np.empty(10, np.float32)
    dense.rescore(planes[0], scales[0], planes[1], scales[1], query, chosen, found)
    twins.rescore(planes[0], scales[0], planes[1], scales[1], query, chosen, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


@given(seeds, st.integers(1, 60))
def test_postings_kernels_agree_with_numpy(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    docs = np.flatnonzero(rng.random(rows) < 0.5).astype(np.int32)
    tf = rng.integers(1, 9, len(docs)).astype(np.float32)
    norms = (0.1 + rng.random(rows)).astype(np.float32)
    mask = rng.random(rows) < 0.5
    start, stop = sorted(rng.integers(0, len(docs) + 1, 2).tolist())
    assert lexical.count(docs, start, stop, mask) == twins.count(docs, start, stop, mask)
    found, wanted = np.ones(rows, np.float32), np.ones(rows, np.float32)
    lexical.accumulate(docs, tf, start, stop, 1.7, norms, mask, found)
    twins.accumulate(docs, tf, start, stop, 1.7, norms, mask, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@given(st.lists(st.floats(-9, 9, width=32), max_size=40), st.integers(1, 45))
def test_threshold_is_the_kth_largest(scores: list[float], k: int):
    values = np.array(scores, np.float32)
    assert pool.threshold(values, k) == twins.threshold(values, k)


@given(
    st.lists(st.lists(st.integers(0, 2), max_size=8), min_size=1, max_size=6), st.lists(st.integers(0, 2), min_size=1)
)
def test_has_sequence_agrees_with_windows(texts: list[list[int]], pattern: list[int]):
    starts = np.cumsum([0, *map(len, texts)])
    tokens = np.array([token for text in texts for token in text], np.int32)
    rows, wanted_pattern = np.arange(len(texts)), np.array(pattern[:4], np.int32)
    found, wanted = np.zeros(len(texts), np.bool_), np.zeros(len(texts), np.bool_)
    lexical.has_sequence(starts, tokens, rows, wanted_pattern, found)
    twins.has_sequence(starts, tokens, rows, wanted_pattern, wanted)
    assert found.tolist() == wanted.tolist()


def test_the_cpu_target_is_fixed_before_anything_compiles():
    """A cache that was baked on one machine must be valid on others: the host's name may not enter its key."""
    code = "import core.kernels as k; from numba.core import config; k.bake(); print(config.CPU_NAME)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in set(TARGETS.values())


@pytest.mark.parametrize("stage", [dense, lexical, pool], ids=lambda stage: stage.__name__)
def test_kernels_release_the_gil(stage: ModuleType):
    loops = [value for value in vars(stage).values() if hasattr(value, "targetoptions")]
    assert loops
    assert all(loop.targetoptions["nogil"] is True for loop in loops)
