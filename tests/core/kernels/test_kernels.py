"""Every kernel gives the results of its reference implementation in numpy."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index import dense as alike
from muisti.core.index.postings import Postings, build, in_units, table
from muisti.core.kernels import Ints, Packed, blend, context, dense, lexical, pieces, pool, postings, stages, tagging
from muisti.core.kernels.target import LEVELS
from muisti.core.text.terms import encode_terms
from tests.core import twins

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(0, 60)


@pytest.fixture(scope="module", autouse=True, params=range(max(1, len(LEVELS))), ids="level {}".format)
def level(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test is for each level of processors that the library has and this machine can do."""
    with pytest.MonkeyPatch.context() as patch:
        for name, kernel in (LEVELS[request.param] if LEVELS else {}).items():
            stage, _, loop = name.partition(".")
            module = next(module for module in stages if module.__name__.endswith(f".{stage}"))
            patch.setattr(module, loop, kernel)
        yield


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
    step = dense.quantise_query(direction, codes, planes)
    assert step == pytest.approx(twins.quantise_query(direction, wanted, wanted_planes))
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
    mask = twins.in_words(allowed[None, :])[0]
    many = dense.nearest_signs(bits, query, mask, wanted, weights, found, distances, counts)
    assert found[:many].tolist() == twins.nearest_signs(words, query, allowed, wanted).tolist()


@pytest.mark.parametrize("sampled", ["like the others", "nearer", "farther", "not allowed"])
def test_a_sample_that_misleads_changes_no_sign_candidate(sampled: str):
    """Where sampled rows are nearer than the others, the distance from them is too small, and a second look is due."""
    rng, rows, wanted = np.random.default_rng(1), dense.SAMPLED**2 * dense.LANES + 5_000, 400
    near = (np.arange(rows) // dense.LANES) % dense.SAMPLED == 0
    bits_set = {"nearer": (0.1, 0.5), "farther": (0.9, 0.5)}.get(sampled, (0.5, 0.5))
    words = twins.in_words(rng.random((rows, 64)) < np.where(near, *bits_set)[:, None])
    query = twins.in_words(np.stack([np.zeros(64), np.ones(64), rng.random(64) < 0.5]) > 0)
    allowed = (rng.random(rows) < 0.99) & ~(near if sampled == "not allowed" else False)
    found, distances = np.empty((2, 2 * wanted + dense.LANES), np.int32)
    counts, weights = np.empty(3 * 64 + 1, np.int32), np.empty(dense.LANES, np.int64)
    bits, mask = twins.in_blocks(words, dense.LANES), twins.in_words(allowed[None, :])[0]
    for many in (wanted, 1):
        size = dense.nearest_signs(bits, query, mask, many, weights, found, distances, counts)
        assert found[:size].tolist() == twins.nearest_signs(words, query, allowed, many).tolist()


@given(seeds, st.integers(0, 200), st.sampled_from([0.0, 0.01, 0.5, 1.0]))
def test_listed_gives_the_numbers_of_the_flags(seed: int, rows: int, density: float):
    flags = np.random.default_rng(seed).random(rows) < density
    out = np.empty(int(flags.sum()), np.int32)
    assert out[: dense.listed(twins.in_words(flags[None, :])[0], out)].tolist() == np.flatnonzero(flags).tolist()


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


hashes = st.lists(st.one_of(st.integers(0, 2**56 - 1), st.integers(0, 9)), unique=True, max_size=40)


@given(hashes, hashes)
def test_look_up_finds_what_stands_there(known: list[int], others: list[int]):
    terms = np.array(sorted(known), np.uint64)
    starts = np.arange(3, len(known) + 4, dtype=np.int32)
    wanted = np.array([*known, *others], np.uint64)
    found, expected = np.full((2, len(wanted), 2), -1, np.int32)
    lexical.look_up(terms, starts, wanted, found)
    twins.look_up(terms, starts, wanted, expected)
    assert found.tolist() == expected.tolist()


def some_postings(rng: np.random.Generator, rows: int) -> tuple[Packed, Ints]:
    """The postings of five terms over some rows, with pair numbers below 9."""
    lists = [np.flatnonzero(rng.random(rows) < rng.random()).astype(np.uint32) for _ in range(5)]
    packed = np.concatenate([own << np.uint32(16) | rng.integers(0, 9, len(own), np.uint32) for own in lists])
    ends = np.cumsum([0, *map(len, lists)])
    return packed, np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int32)


@given(seeds, st.integers(0, 200), st.integers(0, 200))
def test_counting_and_scoring_agree_with_numpy(seed: int, first: int, rows: int):
    rng = np.random.default_rng(seed)
    packed, spans = some_postings(rng, rows)
    visible = rng.random(rows) < 0.5
    found, wanted = np.zeros((2, 5), np.int64)
    lexical.count(packed, spans, visible, found)
    twins.count(packed, spans, visible, wanted)
    assert found.tolist() == wanted.tolist()
    weights, impacts = rng.random(5).astype(np.float32), rng.random(9).astype(np.float32)
    size = first + rows + 70
    scores, tops = np.ones((2, size), np.float32), np.full((2, size // lexical.BLOCK + 1), 0.5, np.float32)
    lexical.accumulate(packed, spans, weights, impacts, first, rows, scores[0], tops[0])
    twins.accumulate(packed, spans, weights, impacts, first, rows, scores[1], tops[1])
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6)
    np.testing.assert_allclose(tops[0], tops[1], rtol=1e-6)


texts_of_words = st.lists(st.lists(st.sampled_from(["to", "fox", "dog", "the", "lake", "sun"]), max_size=9), max_size=9)


def in_pieces(texts: list[list[str]], sizes: list[int]) -> list[Postings]:
    """Texts over two fields in pieces of at most these sizes."""
    pieces: list[Postings] = []
    units = in_units(np.array([1, 0.3, 0, 0, 0, 0], np.float32))
    first = 0
    for size in [*sizes, len(texts)]:
        part = texts[first : first + size]
        codes = [np.append(encode_terms(text, 0), encode_terms(text[:2], 1)) for text in part]
        starts = np.cumsum([0, *map(len, codes)])
        pieces += build(first, np.concatenate([np.empty(0, np.uint64), *codes]), starts, units)[0] if part else []
        first += len(part)
    return pieces


@given(texts_of_words, st.lists(st.integers(1, 4), max_size=3), st.lists(st.sampled_from(["fox", "dog", "yak"])), seeds)
def test_scoring_many_pieces_agrees_with_numpy(texts: list[list[str]], sizes: list[int], query: list[str], seed: int):
    rng = np.random.default_rng(seed)
    held = in_pieces(texts, sizes)
    wanted = encode_terms(list(dict.fromkeys(query)), 0)
    visible, allowed = rng.random((2, len(texts))) < rng.random((2, 1)) * 1.5
    times, norm = rng.integers(1, 4, len(wanted)) / 2, 50 * rng.random(2)
    idf, df = np.empty((2, len(wanted))), np.full(len(wanted), -1)
    scores, tops = np.ones((2, len(texts)), np.float32), np.ones(1, np.float32)
    rows = table(held)
    count, impacts = int(visible.sum()), np.empty(65536, np.float32)
    out = (True, norm, idf[0], impacts, scores[0], tops)
    mass, unknown, there = pieces.score(rows, wanted, times, df, count, visible, allowed, *out)
    assert mass == pytest.approx(twins.score(held, wanted, times, visible, allowed, norm, idf[1], scores[1]))
    np.testing.assert_allclose(idf[0], idf[1])
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5)
    assert tops[0] == scores[0][allowed].max(initial=0)
    words = [{*encode_terms(text, 0).tolist()} for text in texts]
    found = [any(code in row and may for row, may in zip(words, allowed, strict=True)) for code in wanted.tolist()]
    assert there * mass == pytest.approx((times * idf[1])[found].sum())
    again, _, _ = pieces.score(rows, wanted, times, df, count, visible, allowed, *out)
    assert unknown == pytest.approx(times[idf[1] == 0].sum())
    assert again == mass  # with the counts that the first call left


@given(texts_of_words.filter(bool), st.lists(st.integers(1, 4), max_size=3))
def test_the_overlap_counts_the_words_of_the_content_that_both_say(texts: list[list[str]], sizes: list[int]):
    held, asked = in_pieces(texts, sizes), texts[0]
    said = alike.words(np.append(encode_terms(asked, 0), encode_terms(asked[:2], 1)))
    for row, text in enumerate(texts):
        common = sum((Counter(text) & Counter(asked)).values())
        assert alike.overlap(held, row, said) == common / max(len(text), len(asked), 1)


@given(texts_of_words.filter(bool), st.lists(st.integers(1, 4), max_size=3), seeds)
def test_what_says_the_same_has_the_highest_score(texts: list[list[str]], sizes: list[int], seed: int):
    rng = np.random.default_rng(seed)
    held, term = in_pieces(texts, sizes), encode_terms(["fox"], 0)[0]
    hashes, allowed = rng.integers(0, 3, len(texts)).astype(np.uint64), rng.random(len(texts)) < 0.7
    scores, tops = np.zeros(len(texts), np.float32), np.zeros(1, np.float32)
    pieces.certain(table(held), term, hashes, np.uint64(1), allowed, scores, tops)
    wanted = [float("fox" in text and hashes[row] == 1 and allowed[row]) for row, text in enumerate(texts)]
    assert scores.tolist() == wanted
    assert tops[0] == max(wanted)


@given(
    texts_of_words.filter(bool),
    st.lists(st.integers(1, 4), max_size=3),
    st.lists(st.sampled_from(["to", "fox", "dog", "the", "yak"]), max_size=4, unique=True),
    seeds,
)
def test_rows_are_read_as_python_reads_them(texts: list[list[str]], sizes: list[int], query: list[str], seed: int):
    rng = np.random.default_rng(seed)
    held, terms = in_pieces(texts, sizes), encode_terms(query, 0)
    rows = np.unique(rng.integers(0, len(texts), 7))
    pairs = rng.integers(0, max(len(query), 1), (3 if query else 0, 2)).astype(np.int32)
    counts, firsts = np.empty((2, 2, len(rows), len(query)), np.int32)
    close = np.empty((2, len(rows), len(pairs)), np.float32)
    scores = np.array([float(not set(query).isdisjoint(text)) for text in texts], np.float32)
    pieces.read(table(held), rows, scores, terms, pairs, 3, counts[0], firsts[0], close[0])
    twins.read(held, rows, terms, pairs, 3, counts[1], firsts[1], close[1])
    for found, wanted in (counts, firsts):
        assert found.tolist() == wanted.tolist()
    np.testing.assert_allclose(close[0], close[1], rtol=1e-6)


@given(seeds, st.integers(1, 12), st.integers(1, 4))
def test_windows_are_the_rows_around_in_the_session(seed: int, memories: int, reach: int):
    """Turns of two sessions in any order, with long turns and hidden ones, beside memories of no session."""
    rng = np.random.default_rng(seed)
    passages, session = rng.integers(1, 4, memories), rng.integers(-1, 2, memories)
    versions = np.repeat(np.arange(memories), passages)
    first = np.concatenate([[0], np.cumsum(passages)])
    numbers = (np.arange(len(versions)) - first[versions]).astype(np.int32)
    shown = rng.random(memories) < 0.8
    before, after = np.full((2, len(versions)), -2, np.int32)
    order = [memory for memory in rng.permutation(memories).tolist() if session[memory] >= 0]
    for own in ([m for m in order if session[m] == name] for name in (0, 1)):
        for place, memory in enumerate(own):
            before[first[memory]] = first[own[place - 1]] if place else -1
            after[first[memory]] = first[own[place + 1]] if place + 1 < len(own) else -1
    found = np.empty((len(versions), 2 * reach), np.int64)
    context.windows(np.arange(len(versions)), numbers, versions, before, after, shown[versions], reach, found)
    wanted = twins.windows(versions, first.tolist(), session.tolist(), order, shown.tolist(), reach)
    assert found.tolist() == wanted


@given(seeds, st.integers(1, 6), st.integers(0, 4))
def test_what_is_lent_and_how_it_is_told_agree_with_numpy(seed: int, rows: int, terms: int):
    rng = np.random.default_rng(seed)
    counts, firsts = rng.integers(0, 4, (rows, terms), np.int32), rng.integers(0, 60, (rows, terms), np.int32)
    norms, weights, lends = 0.1 + rng.random(rows), rng.random(terms), rng.random(8)
    own, near = rng.integers(0, rows, 5), rng.integers(-1, rows, (5, 8))
    close, worths = rng.random((rows, 3)).astype(np.float32), rng.random(3)
    lead = np.where(rng.random(5) < 0.5, 0, 30)
    out, late, order, covered = np.empty((4, 5))
    context.neighbour_shares(own, near, lends, counts, norms, weights, out)
    context.own_shares(own, counts, firsts, close, norms, weights, worths, lead, late, order, covered)
    np.testing.assert_allclose(out, twins.neighbour_shares(own, near, lends, counts, norms, weights))
    wanted = twins.own_shares(own, counts, firsts, close, norms, weights, worths, lead)
    np.testing.assert_allclose([late, order, covered], wanted)


@given(seeds, st.integers(0, 20), st.integers(1, 3))
def test_rows_are_joined_with_the_allowed_ones_beside_them(seed: int, rows: int, reach: int):
    """All in one session, a memory each, so that the rows beside are those before and after."""
    rng = np.random.default_rng(seed)
    own, lexical_rows = rng.integers(0, 30, rows), rng.integers(0, 30, rows // 2)
    allowed = rng.random(30) < 0.5
    numbers, versions, visible = np.zeros(30, np.int32), np.arange(30), np.ones(30, np.bool_)
    before, after = np.arange(-1, 29, dtype=np.int32), np.append(np.arange(1, 30, dtype=np.int32), np.int32(-1))
    found = context.beside(own, lexical_rows, numbers, versions, before, after, visible, allowed, reach)
    near = {row + step for row in lexical_rows.tolist() for step in range(-reach, reach + 1) if step}
    assert found.tolist() == sorted({*own.tolist(), *(row for row in near if 0 <= row < 30 and allowed[row])})
    nobody = np.empty(0, np.int32)
    alone = context.beside(own, lexical_rows, numbers, versions, nobody, nobody, visible, allowed, reach)
    assert alone.tolist() == sorted({*own.tolist()})


@given(texts_of_words.filter(bool), seeds, st.booleans())
def test_what_surrounds_rows_is_made_of_its_parts(texts: list[list[str]], seed: int, linked: bool):
    """The texts are the turns of one session, in order, or of none."""
    rng = np.random.default_rng(seed)
    held, size = in_pieces(texts, [3]), len(texts)
    terms, rows = encode_terms(["fox", "dog", "yak"], 0), np.unique(rng.integers(0, size, 4))
    numbers, versions, visible = np.zeros(size, np.int32), np.arange(size), np.ones(size, np.bool_)
    lengths = rng.integers(1, 900, size).astype(np.int32)
    idf, weights, lends = np.array([1.5, 0.7, 0.0]), rng.random(3), np.array([0.9, 0.5, 0.7, 0.3])
    pairs, norm, out = np.array([[0, 1], [1, 0], [0, 2]], np.int32), np.array([0.3, 0.002]), np.empty((4, len(rows)))
    before, after = np.arange(-1, size - 1, dtype=np.int32), np.arange(1, size + 1, dtype=np.int32)
    after[-1] = -1
    links = (before, after) if linked else (np.empty(0, np.int32), np.empty(0, np.int32))
    asked = (terms, idf, weights, pairs, 0.25, norm, lends, 2, 3)
    counts, firsts = np.empty((2, size, 3), np.int32)
    close, norms = np.empty((size, 3), np.float32), norm[0] + norm[1] * lengths
    twins.read(held, np.arange(size), terms, pairs, 3, counts, firsts, close)
    scores = counts.any(axis=1).astype(np.float32)
    context.surround(table(held), rows, numbers, versions, lengths, *links, visible, scores, *asked, out)
    steps = [-1, -2, 1, 2]
    near = np.array([[row + step if 0 <= row + step < size else -1 for step in steps] for row in rows.tolist()])
    around = twins.neighbour_shares(rows, near, lends, counts, norms, weights) if linked else np.zeros(len(rows))
    worths, lead = 0.25 * np.array([1.5, 1.5, 0.0]), np.full(len(rows), 2)
    shares = twins.own_shares(rows, counts, firsts, close, norms, weights, worths, lead)
    np.testing.assert_allclose(out, [around, *shares], rtol=1e-6, atol=1e-12)


@given(seeds, st.integers(1, 12), st.booleans(), st.booleans())
def test_the_blend_is_its_formula(seed: int, size: int, linked: bool, asked: bool):
    rng = np.random.default_rng(seed)
    rows, numbers = np.sort(rng.permutation(size)[: size // 2 + 1]), np.zeros(size, np.int32)
    scores, lengths = rng.random(size).astype(np.float32), rng.integers(1, 900, size).astype(np.int32)
    before = rng.integers(-2, 2, size).astype(np.int32) if linked else np.empty(0, np.int32)
    speakers, gains = rng.integers(-1, 2, size).astype(np.int32), np.array([0.4, 0.2, 0.0]) if asked else np.empty(0)
    parts = rng.random((blend.PARTS, len(rows)))
    parts[blend.EXPANSION] = 0
    places = {
        name: getattr(blend, name.upper()) for name in ("around", "related", "late", "order", "cosine", "context")
    }
    columns = (rows, scores, numbers, lengths, before, speakers, gains)
    blend.blend(*columns, 0.01, -2, 5.0, 0.8, 0.2, 0.4, 0.3, parts)
    shown = {name: parts[place].copy() for name, place in places.items()} | {"expansion": np.zeros(len(rows))}
    compared = (rows, scores, lengths, before, speakers, gains)
    first = twins.blend(*compared, shown, 1.0)
    np.testing.assert_allclose(parts[blend.FUSED], first, rtol=1e-9)
    best = int(first.argmax())
    parts[blend.EXPANSION] = rng.random(len(rows))
    level = blend.leveled(0.8, 0.2, 0.4, 0.3, best, parts)
    blend.fuse(0.8, 0.2, 0.4, 0.3, level, parts)
    second = twins.blend(*compared, shown | {"expansion": parts[blend.EXPANSION]}, level)
    np.testing.assert_allclose(parts[blend.FUSED], second, rtol=1e-9)
    assert parts[blend.FUSED][best] == pytest.approx(first[best])
    assert parts[blend.LEXICAL].tolist() == scores[rows].tolist()
    assert ((parts[blend.FUSED] >= 0) & (parts[blend.FUSED] < 1)).all()


@given(seeds, st.integers(1, 300), st.integers(1, 80), st.integers(1, 4))
def test_the_best_memories_are_chosen_as_numpy_chooses_them(seed: int, rows: int, wanted: int, levels: int):
    """With ties, hidden rows, and memories of several rows."""
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, 3**levels, rows) / 3**levels).astype(np.float32)
    tops = np.array([scores[at : at + lexical.BLOCK].max() for at in range(0, rows, lexical.BLOCK)])
    allowed, versions = rng.random(rows) < 0.7, np.cumsum(rng.random(rows) < 0.6)
    high = (versions % 3).astype(np.uint64)
    low = rng.permutation(versions.max() + 1)[versions].astype(np.uint64)
    columns = (allowed, versions, high, low, wanted)
    rows, values = lexical.best(scores, tops, *columns)
    assert rows.tolist() == twins.best(scores, *columns).tolist()
    assert values.tolist() == scores[rows].tolist()


@given(seeds, st.integers(1, 300), st.floats(0, 1))
def test_tops_are_lowered_to_what_the_allowed_rows_reach(seed: int, rows: int, share: float):
    rng = np.random.default_rng(seed)
    scores, allowed = (rng.integers(0, 9, rows) / 9).astype(np.float32), rng.random(rows) < share
    blocks = range(0, rows, lexical.BLOCK)
    tops = np.array([scores[at : at + lexical.BLOCK].max() for at in blocks])
    lexical.lower(scores, tops, allowed)
    kept = np.where(allowed, scores, 0)
    assert tops.tolist() == [kept[at : at + lexical.BLOCK].max() for at in blocks]


@given(seeds, st.integers(0, 30), st.integers(0, 90), st.integers(1, 9))
def test_rows_with_a_chosen_code_are_marked(seed: int, first: int, pairs: int, values: int):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.integers(first, first + 40, pairs)).astype(np.int32)
    codes, chosen = rng.integers(0, values, pairs).astype(np.int32), rng.random(values) < 0.5
    found = np.zeros(40, np.bool_)
    pool.mark(rows, codes, chosen, first, found)
    assert np.flatnonzero(found).tolist() == sorted({row - first for row in rows[chosen[codes]].tolist()})


@given(st.lists(st.floats(0, 1, width=32), max_size=90), st.integers(1, 30))
def test_floor_is_just_under_the_kth_largest(values: list[float], wanted: int):
    tops = np.array(values, np.float32)
    kth = np.sort(np.append(tops, np.zeros(wanted, np.float32)))[-wanted]
    assert kth * 7 / 8 <= lexical.floor(tops, wanted) <= kth or kth < 1e-37


@given(seeds, st.integers(0, 3_000), st.integers(1, 3_000))
def test_number_agrees_with_a_dictionary(seed: int, size: int, most: int):
    keys = np.random.default_rng(seed).integers(0, most, size, np.uint64) << np.uint64(seed % 60)
    for found, wanted in zip(postings.number(keys), twins.number(keys), strict=True):
        assert found.tolist() == wanted.tolist()


@given(seeds, st.lists(st.integers(0, 9), max_size=12), st.integers(1, 8))
def test_invert_agrees_with_numpy(seed: int, lengths: list[int], terms: int):
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    ids, units = rng.integers(0, terms, starts[-1], np.int32), rng.integers(1, 9, starts[-1], np.int32)
    for found, wanted in zip(
        postings.invert(ids, units, starts, terms), twins.invert(ids, units, starts, terms), strict=True
    ):
        assert found.tolist() == wanted.tolist()


@given(hashes, hashes)
def test_union_agrees_with_numpy(left: list[int], right: list[int]):
    sides = [np.array(sorted(side), np.uint64) for side in (left, right)]
    for found, wanted in zip(postings.union(*sides), twins.union(*sides), strict=True):
        assert found.tolist() == wanted.tolist()


@given(seeds, st.integers(0, 60))
def test_place_agrees_with_numpy(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    packed, spans = some_postings(rng, rows)
    terms, pairs = np.sort(rng.choice(9, 5, replace=False)).astype(np.int32), rng.permutation(9).astype(np.int32)
    after = np.arange(9, dtype=np.int32) * rows
    found, wanted = np.zeros((2, 9 * rows), np.uint32)
    postings.place(np.append(spans[:, 0], spans[-1, 1]), packed, terms, 7, pairs, after.copy(), found)
    twins.place(np.append(spans[:, 0], spans[-1, 1]), packed, terms, 7, pairs, after.copy(), wanted)
    assert found.tolist() == wanted.tolist()


@given(st.lists(st.floats(-9, 9, width=32), max_size=40), st.integers(1, 45))
def test_threshold_is_the_kth_largest(scores: list[float], k: int):
    values = np.array(scores, np.float32)
    assert pool.threshold(values, k) == twins.threshold(values, k)


@given(
    st.lists(st.lists(st.integers(0, 2), max_size=8), min_size=1, max_size=6), st.lists(st.integers(0, 2), min_size=1)
)
def test_has_sequence_agrees_with_windows(texts: list[list[int]], pattern: list[int]):
    starts = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    tokens = np.array([token for text in texts for token in text], np.int32)
    rows, wanted_pattern = np.arange(len(texts)), np.array(pattern[:4], np.int32)
    found, wanted = np.zeros(len(texts), np.bool_), np.zeros(len(texts), np.bool_)
    lexical.has_sequence(starts, tokens, rows, wanted_pattern, found)
    twins.has_sequence(starts, tokens, rows, wanted_pattern, wanted)
    assert found.tolist() == wanted.tolist()


def test_kernels_release_the_gil():
    """If a kernel held the GIL, the waiting thread would continue only when the kernel is done."""
    large, signs, ready, done = np.ones((4_000, 1024)), np.ones(1024), threading.Event(), threading.Event()

    def work() -> None:
        ready.set()
        dense.rotate(large, signs)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait()
        meanwhile = not done.is_set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert meanwhile


@given(seeds, sizes)
def test_memories_are_counted_once(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    versions, chosen = np.sort(rng.integers(0, 20, rows)), rng.random(rows) < 0.5
    assert pool.count_memories(versions, chosen) == twins.count_memories(versions, chosen)


@given(seeds, st.integers(1, 5), st.sampled_from([2, 3]), st.sampled_from([1, 8, 40]))
def test_tag_agrees_with_every_sequence_of_tags(seed: int, words: int, tags: int, units: int):
    rng = np.random.default_rng(seed)
    slots, marks, shapes = rng.integers(0, 6, words), rng.integers(0, 16, words), rng.integers(0, 4, 6)
    table = rng.integers(-400, 400, (6, 5, units + tags)).astype(np.int16)
    marked = rng.standard_normal((5, units)).astype(np.float32)
    hidden = np.zeros((units, tagging.LANES), np.float32)
    hidden[:, :tags] = rng.standard_normal((units, tags))
    pairs, transitions = rng.standard_normal((2, 16, tags)).astype(np.float32), rng.standard_normal((tags + 1, tags))
    path, shares = np.empty(words, np.int64), np.empty((words, tags))
    tagging.tag(slots, marks, table, shapes, marked, hidden, pairs, transitions, path, shares)
    scores = twins.tag_scores(slots, marks, table, shapes, marked, hidden, pairs, tags)
    wanted_path, wanted_shares = twins.tag_sequences(scores, transitions)
    assert path.tolist() == wanted_path
    np.testing.assert_allclose(shares, wanted_shares, atol=1e-4)
