import math
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.postings import build, in_units, table
from muisti.core.kernels import Doubles, Longs, related
from muisti.core.text.terms import encode_terms

UNITS = in_units(np.array([1, 0, 0, 0, 0, 0], np.float32))
WANTED = ["fox", "yak", "lake"]
LIKE = [("fox", "vixen", 0.9), ("fox", "dog", 0.8), ("fox", "wolf", 0.75), ("lake", "sea", 0.8), ("lake", "dog", 0.7)]
NORM = (0.3, 0.002)
HIGHEST = 9.0

words = st.sampled_from(["fox", "vixen", "dog", "wolf", "lake", "sea", "the"])


def inverse_frequency(rows: int, df: int) -> float:
    return math.log(1 + (rows - df + 0.5) / (df + 0.5))


def expected(texts: Sequence[list[str]], row: int, visible: Sequence[int], idf: Doubles, most: int) -> float:
    """Return the share that related words add to a row: the oracle."""
    total = 0.0
    for place, word in enumerate(WANTED):
        counts = {like: sum(like in texts[one] for one in visible) for own, like, _ in LIKE if own == word}
        there = [(like, cosine) for own, like, cosine in LIKE if own == word and counts[like]][:most]
        if word in texts[row]:
            continue
        brought = [0.0]
        for like, cosine in there:
            times = 100 * texts[row].count(like)
            least = min(idf[place] or HIGHEST, inverse_frequency(len(visible), counts[like]))
            brought.append(cosine * least * times / (times + NORM[0] + NORM[1] * 100 * len(texts[row])))
        total += max(brought)
    return total


@given(st.lists(st.lists(words, max_size=6), min_size=1, max_size=9), st.integers(1, 3), st.data())
def test_related_words_add_what_the_row_lacks(texts: list[list[str]], most: int, data: st.DataObject):
    size, cut = len(texts), data.draw(st.integers(0, len(texts)))
    pieces = []
    for first, part in ((0, texts[:cut]), (cut, texts[cut:])):
        codes = [encode_terms(text, 0) for text in part]
        starts = np.cumsum([0, *map(len, codes)])
        if part:
            pieces += build(first, np.concatenate([np.empty(0, np.uint64), *codes]), starts, UNITS)[0]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    mask[data.draw(st.integers(0, size - 1))] = True
    rows: Longs = np.flatnonzero(np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size))))
    idf, found, df = np.array([1.4, 0.0, 2.1]), np.zeros(len(rows)), np.full(len(LIKE), -1)
    likes = encode_terms([like for _, like, _ in LIKE], 0)
    places, likeness = np.array([WANTED.index(own) for own, _, _ in LIKE]), np.array([cosine for _, _, cosine in LIKE])
    counted = (df, int(mask.sum()), mask, HIGHEST, most)
    query = (encode_terms(WANTED, 0), np.ones(3), 2.0, idf, likes, places, likeness, 0.7)
    related.relate(table(pieces), rows, *query, *counted, *NORM, found)
    visible = np.flatnonzero(mask).tolist()
    wanted = [0.7 / 2 * expected(texts, row, visible, idf, most) for row in rows.tolist()]
    np.testing.assert_allclose(found, wanted, atol=1e-9)
