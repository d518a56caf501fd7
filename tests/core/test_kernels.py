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


@given(seeds, st.sampled_from([1, 2, 24, 100, 256]))
def test_rotate_multiplies_with_the_matrix(seed: int, dimensions: int):
    rng = np.random.default_rng(seed)
    values, signs = rng.standard_normal((3, dimensions)), rng.choice([-1.0, 1.0], dimensions)
    wanted = values @ twins.rotation(signs)
    dense.rotate(values, signs)
    np.testing.assert_allclose(values, wanted, atol=1e-12)


@given(seeds, st.sampled_from([1, 24, 64, 100, 256, 1024]), st.sampled_from([0.0, 1e-3, 1.0, 50.0]))
def test_aim_agrees_with_numpy_and_no_sum_leaves_32_bits(seed: int, dimensions: int, size: float):
    direction = (np.random.default_rng(seed).standard_normal(dimensions) * size).astype(np.float32)
    codes, wanted = np.empty((2, dimensions), np.int16)
    planes, wanted_planes = np.empty((2, 3, -(-dimensions // 64)), np.uint64)
    step = dense.aim(direction, codes, planes)
    assert step == pytest.approx(twins.aim(direction, wanted, wanted_planes))
    assert np.abs(codes - wanted).max() <= 1  # a tie in rounding
    assert planes.tolist() == wanted_planes.tolist()
    np.testing.assert_allclose(codes * step, direction, atol=step * 0.51)
    assert 127 * np.abs(codes.astype(np.int64)).sum() < 2**31


@given(st.integers(0, 2**64 - 1))
def test_popcount_counts_the_bits(word: int):
    assert dense.popcount(np.uint64(word)) == word.bit_count()


@given(seeds, st.integers(0, 400), st.sampled_from([1, 64, 70, 256]), st.integers(1, 80), st.floats(0, 1))
def test_nearest_signs_agrees_with_a_sort(seed: int, rows: int, dimensions: int, wanted: int, density: float):
    """Few distinct rows in some of the runs, so that many are as far as the last one taken."""
    rng = np.random.default_rng(seed)
    distinct = rng.random((rng.integers(1, 50), dimensions)) < 0.5
    words = twins.in_words(distinct[rng.integers(0, len(distinct), rows)])
    query, allowed = twins.in_words(rng.random((3, dimensions)) < 0.5), rng.random(rows) < density
    found, distances = np.empty((2, 2 * wanted + dense.LANES), np.int32)
    counts, weights = np.empty(3 * 64 * words.shape[1] + 1, np.int32), np.empty(dense.LANES, np.int64)
    bits = twins.in_blocks(words, dense.LANES)
    many = dense.nearest_signs(bits, query, allowed, wanted, weights, found, distances, counts)
    assert found[:many].tolist() == twins.nearest_signs(words, query, allowed, wanted).tolist()


@given(seeds, st.integers(0, 200), st.sampled_from([0.0, 0.01, 0.5, 1.0]))
def test_listed_gives_the_numbers_of_the_flags(seed: int, rows: int, density: float):
    allowed = np.random.default_rng(seed).random(rows) < density
    out = np.empty(rows + 1, np.int32)
    assert out[: dense.listed(allowed, out)].tolist() == np.flatnonzero(allowed).tolist()


@given(seeds, st.integers(1, 60), st.sampled_from([1, 8, 100]))
def test_scan_agrees_with_numpy(seed: int, rows: int, dimensions: int):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-127, 128, (rows, dimensions)).astype(np.int8)
    scales = np.where(rng.random(rows) < 0.2, 0, rng.random(rows)).astype(np.float32)
    query = rng.integers(-32767, 32768, dimensions).astype(np.int16)
    chosen, found = rng.integers(0, rows, 20).astype(np.int32), np.empty(20, np.float32)
    assert dense.scan(codes, scales, query, chosen, found) == scales[chosen].max()
    np.testing.assert_allclose(found, twins.scan(codes, scales, query, chosen), rtol=1e-6)


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 6))
def test_above_keeps_the_high_scores_in_order(scores: list[int], lowest: int):
    values, rows = np.array(scores, np.float32), np.arange(100, 100 + len(scores), dtype=np.int32)
    out = np.empty(len(scores) + 1, np.int64)
    assert out[: dense.above(rows, values, float(lowest), out)].tolist() == rows[values >= lowest].tolist()


@given(seeds, st.integers(1, 60), st.sampled_from([1, 32, 100]))
def test_rescore_agrees_with_numpy(seed: int, rows: int, dimensions: int):
    rng = np.random.default_rng(seed)
    codes, fine = rng.integers(-127, 128, (2, rows, dimensions)).astype(np.int8)
    scales, fine_scales = ((rng.random(rows) * size).astype(np.float32) for size in (1e-3, 1e-5))
    query = rng.integers(-32767, 32768, dimensions).astype(np.int16)
    chosen, found = rng.integers(0, rows, 10), np.empty(10)
    dense.rescore(codes, scales, fine, fine_scales, query, 1e-5, chosen, found)
    wanted = twins.rescore(codes, scales, fine, fine_scales, query, 1e-5, chosen)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@given(seeds, sizes, st.integers(1, 20))
def test_best_memories_agrees_with_a_sort(seed: int, rows: int, wanted: int):
    rng = np.random.default_rng(seed)
    version = np.sort(rng.integers(0, 12, rows))
    number = np.arange(rows, dtype=np.int32) - np.searchsorted(version, version).astype(np.int32)
    high, low = (rng.integers(0, 3, 12).astype(np.uint64)[version] for _ in range(2))
    columns = (version, high * np.uint64(2**63), low * np.uint64(12) + version.astype(np.uint64), number)
    chosen = rng.permutation(rows)[: rng.integers(0, rows + 1)]
    scores = rng.integers(-2, 4, len(chosen)) / 2
    heap, out = np.empty((2, len(chosen)), np.int64)
    found = pool.best_memories(scores, chosen, *columns, 0.0, wanted, heap, out[:wanted])
    assert out[:found].tolist() == twins.best_memories(scores, chosen, *columns, 0.0, wanted)


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
