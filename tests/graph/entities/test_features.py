"""Features of words, and what they add to the tagger's table, against plain programs."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities import features
from muisti.core.graph.entities.features import GRAMS, HASHED, HASHES, Lists, packed, word_features
from muisti.core.kernels.tagging import UNIT, remember, times
from tests.examples import examples

LISTS = Lists(packed({"ann": 4, "oslo": 16, "the": 1}))
WORDS = st.lists(st.text(st.sampled_from("aAbßÉ0'@-.日🙂"), max_size=24), max_size=6)


def grams(word: str) -> list[float]:
    """Return the signs of a word's n-grams, hashed one by one."""
    marked = f"^{word}$"[:20]
    cut = [marked[at : at + size].encode() for size in (2, 3, 4) for at in range(len(marked) - size + 1)][:40]
    total = np.zeros(GRAMS)
    for one in cut:
        mixed = (crc32(one) + 1) * 0x9E3779B97F4A7C15 % 2**64
        mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 % 2**64
        total += [1 if mixed >> 8 + column & 1 else -1 for column in range(GRAMS)]
    return [float(np.float32(one / np.sqrt(len(cut)))) for one in total]


@given(WORDS)
def test_n_grams_of_words_draw_their_signs(words: Sequence[str]):
    found = word_features(words, LISTS)
    assert found.forms[:, :GRAMS].tolist() == [grams(word) for word in words]


@given(WORDS)
def test_each_place_of_the_window_hashes_with_its_seed(words: Sequence[str]):
    found = word_features(words, LISTS).hashed
    for row, word, shape in zip(found, words, word_features(words, LISTS).shapes, strict=True):
        coded = features._coded(word, word.lower(), LISTS.flags(word.lower()), int(shape))
        beside = (coded[0], coded[1], coded[3], coded[2])
        own = (coded[:1], beside, coded, beside, coded[:1])
        wanted = [crc32(one, crc32(str(place).encode())) % HASHES for place, some in enumerate(own) for one in some]
        assert row.tolist() == wanted
    assert found.shape == (len(words), sum(HASHED))


@examples(20)
@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 7), st.integers(1, 33))
def test_a_product_is_that_of_numpy(seed: int, rows: int, inner: int, columns: int):
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((rows, inner)).astype(np.float32)
    right = rng.standard_normal((inner, columns)).astype(np.float32)
    out = np.empty((rows, columns), np.float32)
    times(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-5, atol=1e-5)


@examples(20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_what_words_add_is_remembered_in_units(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    layer = rng.normal(0, 40, (rows, 5 * 3)).astype(np.float32)
    hashed, ends = rng.integers(0, 9, (rows, 8)), np.array([1, 3, 5, 7, 8])
    weights = rng.standard_normal((9, 2)).astype(np.float32)
    table = np.empty((rows, 5, 5), np.int16)
    remember(layer, hashed, weights, ends, table)
    parts = np.split(weights[hashed], ends[:-1], axis=1)
    direct = np.stack([part.sum(1) for part in parts], axis=1)
    wanted = np.concatenate([layer.reshape(rows, 5, 3), direct], axis=2) / UNIT
    assert np.abs(table - np.clip(np.rint(wanted), -32_767, 32_767)).max() <= 1
