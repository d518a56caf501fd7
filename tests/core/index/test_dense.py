"""The dense ranking against numpy: exact while all rows are scanned, and nearly so beyond."""

import math
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.vectors import Vectors, pack, rotate
from muisti.core.index import dense
from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.dense import QueryVector, alike, cosines, nearest, query_vector, rotated
from muisti.core.index.new_rows import Inserted
from muisti.core.index.rows import ALIVE, Rows
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.vector_columns import SignBits
from muisti.core.kernels import Longs, Mask
from muisti.core.kernels.dense import LANES
from muisti.core.model.values import Seq
from tests.core import twins

ROWS = 25_000


def snapshot_of(vectors: Vectors, passages: Longs, ids: Longs, blank: Mask | None = None) -> Snapshot:
    """Rows as the store gives them: memory m has `passages[m]` rows and the id `ids[m]`; a blank has no vector."""
    rows = Rows(vectors.shape[1])
    blobs: list[bytes | None] = list(pack(vectors))
    if blank is not None:
        blobs = [None if none else blob for blob, none in zip(blobs, blank, strict=True)]
    memory = np.repeat(np.arange(len(passages)), passages)
    number = np.arange(len(memory)) - np.searchsorted(memory, memory)
    living = [
        (
            int(m) + 1, int(ids[m]).to_bytes(16, "big"), 1, "active", 0, 0, None, bytes(16), int(n), 0, 1, b"", blob,
            None, None, None, None,
        )
        for m, n, blob in zip(memory, number, blobs, strict=True)
    ]  # fmt: skip
    for start in range(0, len(living), 7_000):
        part = living[start : start + 7_000]
        rows.append(Inserted.of(part, vectors.shape[1]), np.ones(len(part), np.int32))
    return Snapshot(Seq("epoch", 1), rows, len(rows), [], 0)


def brute_force(snapshot: Snapshot, query: QueryVector, allowed: Mask, wanted: int) -> list[int]:
    """Return the best row of each memory by the cosine of its two-level int8; ties by memory id, then passage."""
    rows = snapshot.rows
    chosen = np.flatnonzero(allowed)
    scores = cosines(snapshot, query, chosen)
    columns = (rows.version.view(), rows.id_high.view(), rows.id_low.view(), rows.number.view())
    return chosen[twins.best_memories(scores, chosen, *columns, 0.0, wanted)].tolist()


def unit(vectors: Vectors) -> Vectors:
    return (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)).astype(np.float32)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 24, 100, 256]), st.integers(1, 30), st.floats(0, 1))
def test_the_ranking_is_exact_whatever_the_mask(seed: int, dimensions: int, wanted: int, density: float):
    """Also with long memories, repeated texts, rows without a vector, and vectors of no length."""
    rng = np.random.default_rng(seed)
    passages = rng.choice([1, 1, 1, 2, 40], rng.integers(1, 80))
    total = int(passages.sum())
    distinct = unit(rng.standard_normal((max(total // 2, 1), dimensions)))
    distinct[rng.random(len(distinct)) < 0.05] = 0
    vectors = distinct[rng.integers(0, len(distinct), total)]
    snapshot = snapshot_of(vectors, passages, rng.permutation(len(passages)), rng.random(total) < 0.1)
    mask = rng.random(total) < density
    query = query_vector(rotated(unit(rng.standard_normal((1, dimensions)))[0]))
    near = nearest(snapshot, query, Allowed(mask, int(mask.sum())), wanted)
    assert near.rows.tolist() == brute_force(snapshot, query, mask, wanted)
    np.testing.assert_array_equal(near.cosines, cosines(snapshot, query, near.rows))


def test_a_query_without_direction_has_no_answer():
    snapshot = snapshot_of(np.eye(8, dtype=np.float32), np.ones(8, np.int64), np.arange(8))
    assert len(nearest(snapshot, query_vector(np.zeros(8, np.float32)), Allowed(np.ones(8, np.bool_), 8), 3).rows) == 0


@pytest.fixture(scope="module")
def sources() -> Snapshot:
    """Windows of the standard library's sources, encoded by the shipped model; every 50th has no vector."""
    vectors = StaticEncoder().encode(windows(ROWS))
    return snapshot_of(vectors, np.ones(ROWS, np.int64), np.arange(ROWS), np.arange(ROWS) % 50 == 0)


def windows(count: int) -> list[str]:
    """Distinct windows of 8 to 40 words."""
    rng = np.random.default_rng(1)
    folder = Path(pkgutil.__file__).parent
    words = [w for path in sorted(folder.glob("*.py")) for w in path.read_text("utf-8", "replace").split()]
    found: dict[str, None] = {}
    while len(found) < count:
        start = int(rng.integers(0, len(words) - 40))
        found.setdefault(" ".join(words[start : start + int(rng.integers(8, 41))]))
    return list(found)


QUERIES = [
    f"how do I {what}"
    for what in (
        "read a file line by line", "open a socket with a timeout", "parse an email header",
        "format a date in local time", "walk over a folder", "compress bytes with zip", "stop a thread",
        "log an exception with its traceback", "encode text as base64", "copy an object deeply", "run a child process",
        "compare two sequences of lines", "shuffle a list at random", "read a value from a configuration",
        "raise an error when an argument has the wrong type", "decode a URL with a query",
        "close the connection to a mail server", "find the source of a function", "sort by a key", "wait for a lock",
    )
]  # fmt: skip


@pytest.mark.parametrize("density", [1.0, 0.9])
def test_beyond_a_full_scan_hardly_a_hit_is_missed(sources: Snapshot, density: float):
    mask = np.random.default_rng(2).random(ROWS) < density
    allowed = Allowed(mask, int(mask.sum()))
    assert allowed.count > dense.SCANNED
    directions = rotate(StaticEncoder().encode(QUERIES))
    shared = 0
    for query in map(query_vector, directions):
        near = nearest(sources, query, allowed, 10)
        exact = np.where(mask, cosines(sources, query, np.arange(ROWS)), -1.0)
        shared += len(set(np.argsort(-exact)[:10].tolist()) & set(near.rows.tolist()))
    assert shared / (10 * len(directions)) >= 0.99


def test_a_filter_that_leaves_few_is_exact_among_many_rows(sources: Snapshot):
    mask = np.random.default_rng(3).random(ROWS) < 0.02
    for query in map(query_vector, rotate(StaticEncoder().encode(QUERIES))):
        near = nearest(sources, query, Allowed(mask, int(mask.sum())), 10)
        assert near.rows.tolist() == brute_force(sources, query, mask, 10)


@given(st.lists(st.integers(0, 150), min_size=1, max_size=6), st.sampled_from([1, 64, 70, 256]))
def test_sign_bits_are_the_same_however_they_were_appended(parts: list[int], dimensions: int):
    codes = np.random.default_rng(len(parts)).integers(-2, 3, (sum(parts), dimensions)).astype(np.int8)
    bits = SignBits(dimensions)
    start = 0
    for part in parts:
        bits.append(codes[start : start + part])
        start += part
        seen = bits.view(start).copy()
        bits.append(codes[start:start])
        assert bits.view(start).tolist() == seen.tolist()
    assert bits.view().tolist() == twins.in_blocks(twins.in_words(codes > 0), LANES).tolist()


def test_compaction_keeps_the_ranking(sources: Snapshot):
    alive = np.random.default_rng(4).random(ROWS) < 0.95
    kept = sources.rows.only(alive)
    compact = Snapshot(sources.seq, kept, len(kept), [], 0)
    assert kept.died.view().tolist() == [ALIVE] * len(kept)
    everything = Allowed(np.ones(len(kept), np.bool_), len(kept))
    for query in map(query_vector, rotate(StaticEncoder().encode(QUERIES[:5]))):
        before = nearest(sources, query, Allowed(alive, int(alive.sum())), 10)
        after = nearest(compact, query, everything, 10)
        assert np.flatnonzero(alive)[after.rows].tolist() == before.rows.tolist()
        assert after.cosines.tolist() == before.cosines.tolist()


def test_what_was_baked_is_all_that_a_search_needs():
    """Else the first search in a process waits for a compiler."""
    code = """
import numpy as np
from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.new_rows import Inserted
from muisti.core.kernels import bake, dense, pool
from tests.core.index.test_dense import query_vector, nearest, rotated, snapshot_of
kernels = [value for stage in (dense, pool) for value in vars(stage).values() if hasattr(value, "signatures")]
bake()
baked = {kernel.__name__: len(kernel.signatures) for kernel in kernels}
vectors = np.random.default_rng(1).standard_normal((200, 70)).astype(np.float32)
import muisti.core.index.dense
muisti.core.index.dense.candidates = lambda count, k: 20
snapshot = snapshot_of(vectors, np.ones(200, np.int64), np.arange(200))
for limit in (10, 1_000):
    muisti.core.index.dense.SCANNED = limit
    near = nearest(snapshot, query_vector(rotated(vectors[7])), Allowed(np.ones(200, np.bool_), 200), 5)
    assert near.rows[0] == 7
print([name for name, count in baked.items() if len(vars(dense).get(name, vars(pool).get(name)).signatures) > count])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(st.integers(0, 2**32 - 1), st.sampled_from([64, 100, 256]), st.integers(1, 6))
def test_what_is_alike_is_what_an_exact_search_finds_well_above_the_bound(seed: int, dimensions: int, wanted: int):
    rng = np.random.default_rng(seed)
    noise = rng.choice([0.02, 0.05, 0.3, 1.0], 300).astype(np.float32)[:, None]
    vectors = rng.standard_normal(dimensions) / math.sqrt(dimensions) + noise * rng.standard_normal((300, dimensions))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    passages = np.array([1, 2] * 100, np.int64)
    snapshot = snapshot_of(vectors, passages, rng.permutation(200))
    mask = rng.random(300) < 0.8
    direction = rotated(vectors[int(rng.integers(300))])
    allowed = Allowed(mask, int(mask.sum()))
    found = dense.by_signs(snapshot, query_vector(direction), allowed, 0.8, wanted)
    exact = nearest(snapshot, query_vector(direction), allowed, wanted)
    assert found.cosines.min(initial=1) >= 0.8
    surely = int(np.count_nonzero(exact.cosines >= 0.9))  # just above the bound the signs may mislead
    assert found.rows[:surely].tolist() == exact.rows[:surely].tolist()
    assert found.cosines[:surely].tolist() == exact.cosines[:surely].tolist()


def test_among_few_what_is_alike_is_exact():
    rng = np.random.default_rng(5)
    vectors = unit(1.0 + rng.standard_normal((300, 64)))
    snapshot, every = snapshot_of(vectors, np.ones(300, np.int64), np.arange(300)), Allowed(np.ones(300, np.bool_), 300)
    query = rotated(vectors[3])
    found, exact = alike(snapshot, query, every, 0.6, 20), nearest(snapshot, query_vector(query), every, 20)
    assert found.rows.tolist() == exact.rows[exact.cosines >= 0.6].tolist()


def test_a_crowd_of_the_same_and_rows_without_vectors_are_no_trouble_for_what_is_alike():
    vectors = np.ones((dense.ROOM + 100, 64), np.float32) / 8
    blank = np.zeros(len(vectors), np.bool_)
    blank[:50] = True
    snapshot = snapshot_of(vectors, np.ones(len(vectors), np.int64), np.arange(len(vectors)), blank)
    every = Allowed(np.ones(len(vectors), np.bool_), len(vectors))
    found = dense.by_signs(snapshot, query_vector(rotated(vectors[0])), every, 0.6, 5)
    assert found.rows.tolist() == [50, 51, 52, 53, 54]
