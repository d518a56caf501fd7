"""Reference implementations of the kernels in plain numpy."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from muisti.core.index.postings import Postings
from muisti.core.kernels import Bytes, Codes, Doubles, Floats, Ints, Longs, Mask, Packed
from muisti.core.kernels.dense import Shorts, Words
from muisti.core.kernels.lexical import BLOCK


def rotation(signs: Doubles) -> Doubles:
    """The orthogonal matrix that `rotate` multiplies with: signs, then a Hadamard matrix for each power of two."""
    matrix = np.zeros((len(signs), len(signs)))
    start = 0
    while start < len(signs):
        size = 1 << ((len(signs) - start).bit_length() - 1)
        block = np.ones((1, 1))
        while len(block) < size:
            block = np.block([[block, block], [block, -block]])
        matrix[start : start + size, start : start + size] = block / np.sqrt(size)
        start += size
    return signs[:, None] * matrix


def plane(values: Floats) -> tuple[Bytes, Floats]:
    """The int8 codes of each row, and what they are to be multiplied with."""
    scales = (np.abs(values).max(axis=1, initial=0.0) / 127).astype(np.float32)
    return np.round(values / np.where(scales == 0, 1, scales)[:, None]).astype(np.int8), scales


def quantise_query(direction: Floats, codes: Shorts, planes: Words) -> float:
    exact = direction.astype(np.float64)
    sizes = np.abs(exact)
    step = max(sizes.max() / 32767, 127 * sizes.sum() / (2**31 - 1 - 64 * len(exact)))
    codes[:], planes[:] = 0, 0
    if step > 0:
        codes[:] = np.round(exact / step)
        weights = np.minimum(np.floor(sizes / (0.6 * np.sqrt((exact**2).mean())) + 0.5), 3).astype(np.uint8)
        for plane, bits in zip(planes, (exact > 0, weights & 1, weights >> 1), strict=True):
            plane[:] = in_words(bits.astype(np.bool_)[None, :])[0]
    return step


def in_words(flags: npt.NDArray[np.bool_]) -> Words:
    """Each row of flags as words of 64 bits, the lowest bit first."""
    width = -(-flags.shape[1] // 64) * 64
    padded = np.zeros((len(flags), width), np.bool_)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def in_blocks(words: Words, lanes: int) -> Words:
    """(rows, words) as `nearest_signs` reads them: (blocks, words, lanes)."""
    blocks = -(-len(words) // lanes)
    padded = np.zeros((blocks * lanes, words.shape[1]), np.uint64)
    padded[: len(words)] = words
    return np.ascontiguousarray(padded.reshape(blocks, lanes, words.shape[1]).transpose(0, 2, 1))


def nearest_signs(words: Words, query: Words, allowed: Mask, wanted: int) -> Longs:
    other = words ^ query[0]
    distances = (np.bitwise_count(other & query[1]) + 2 * np.bitwise_count(other & query[2]).astype(int)).sum(axis=1)
    rows = np.flatnonzero(allowed)
    return np.sort(rows[np.argsort(distances[rows], kind="stable")[:wanted]])


def scan(codes: Bytes, scales: Floats, query: Shorts, rows: Ints) -> Floats:
    dots = (codes[rows].astype(np.int32) @ query.astype(np.int32)).astype(np.float32)
    return np.where(scales[rows] > 0, dots * scales[rows], -np.inf)


def rescore(
    codes: Bytes, scales: Floats, fine: Bytes, fine_scales: Floats, query: Shorts, step: float, rows: Longs
) -> Doubles:
    vectors = codes[rows] * scales[rows, None].astype(float) + fine[rows] * fine_scales[rows, None].astype(float)
    return vectors @ (query * step)


def best_memories(
    scores: Doubles, rows: Longs, version: Longs, id_high: Words, id_low: Words, number: Ints, above: float, wanted: int
) -> list[int]:
    order = sorted(range(len(rows)), key=lambda i: (-scores[i], *(c[rows[i]] for c in (id_high, id_low, number))))
    first = {int(version[rows[i]]): i for i in reversed(order) if scores[i] > above}
    return [i for i in order if first.get(int(version[rows[i]])) == i][:wanted]


def look_up(terms: Codes, starts: Ints, wanted: Codes, spans: Ints) -> None:
    known = {term: (starts[at], starts[at + 1]) for at, term in enumerate(terms.tolist())}
    for i, term in enumerate(wanted.tolist()):
        spans[i] = known.get(term, (0, 0))


def count(packed: Packed, spans: Ints, visible: Mask, df: Longs) -> None:
    df += [int(visible[packed[start:stop] >> 16].sum()) for start, stop in spans]


def accumulate(
    packed: Packed, spans: Ints, weights: Floats, impacts: Floats, first: int, rows: int, scores: Floats, tops: Floats
) -> None:
    scores[first : first + rows] = 0
    for (start, stop), weight in zip(spans, weights, strict=True):
        scores[first + (packed[start:stop] >> 16)] += weight * impacts[packed[start:stop] & 0xFFFF]
    np.maximum.at(tops, np.arange(first, first + rows) // BLOCK, scores[first : first + rows])


def best(scores: Floats, allowed: Mask, versions: Longs, high: Codes, low: Codes, wanted: int) -> Longs:
    matching = np.flatnonzero(allowed & (scores > 0))
    order = matching[np.lexsort((matching, low[matching], high[matching], -scores[matching]))]
    _, first = np.unique(versions[order], return_index=True)
    return order[np.sort(first)][:wanted]


def score(
    pieces: Sequence[Postings], wanted: Codes, times: Longs, visible: Mask, allowed: Mask, norm: Doubles, idf: Doubles,
    scores: Floats,
) -> float:  # fmt: skip
    rows = int(visible.sum())
    tf, lengths = np.zeros((len(wanted), len(visible))), np.ones(len(visible))
    for piece in pieces:
        for i, term in enumerate(wanted.tolist()):
            for posting in piece.packed[slice(*piece.span(term))].tolist():
                row, pair = piece.first + (posting >> 16), posting & 0xFFFF
                tf[i, row], lengths[row] = piece.tf[pair], piece.lengths[pair]
    df = (tf[:, visible] > 0).sum(axis=1)
    known = (tf[:, visible | allowed] > 0).any(axis=1)
    idf[:] = np.where(known, np.log(1 + (rows - df + 0.5) / (df + 0.5)), 0)
    mass = float(times @ idf)
    scores[:] = (times * idf) @ (tf / (tf + norm[0] + norm[1] * lengths)) / (mass or 1.0)
    return mass


def read(
    pieces: Sequence[Postings], rows: Longs, terms: Codes, pairs: Ints, near: int, counts: Ints, firsts: Ints,
    close: Floats,
) -> None:  # fmt: skip
    for i, row in enumerate(rows):
        piece = next(piece for piece in pieces if piece.first <= row < piece.first + piece.rows)
        tokens = [int(piece.terms[t]) for t in piece.tokens[slice(*piece.token_starts[row - piece.first :][:2])]]
        for t, term in enumerate(terms.tolist()):
            counts[i, t] = tokens.count(term)
            firsts[i, t] = tokens.index(term) if term in tokens else -1
        for p, (one, other) in enumerate(pairs):
            a, b = int(terms[one]), int(terms[other])
            places = [[at for at, token in enumerate(tokens) if token == term] for term in (a, b)]
            close[i, p] = sum(
                max((1 / (y - x) if y > x else 0.5 / (x - y) for y in places[1] if 0 < abs(y - x) <= near), default=0)
                for x in places[0]
            )


def windows(
    versions: Longs, first: list[int], session: list[int], order: list[int], shown: list[bool], reach: int
) -> list[list[int]]:
    """`order` holds the memories of all sessions, each session's in order; `first` has one more at the end."""
    found: list[list[int]] = []
    for row, memory in enumerate(versions.tolist()):
        own = [m for m in order if session[m] == session[memory]] if session[memory] >= 0 else [memory]
        rows = [r for m in own if shown[m] or m == memory for r in range(first[m], first[m + 1])]
        at = rows.index(row)
        back = [] if at and versions[rows[at - 1]] == memory else rows[max(at - reach, 0) : at][::-1]
        forth = [] if at + 1 < len(rows) and versions[rows[at + 1]] == memory else rows[at + 1 : at + 1 + reach]
        found.append([*(back + [-1] * reach)[:reach], *(forth + [-1] * reach)[:reach]])
    return found


def neighbour_shares(
    own: Longs, near: Longs, lends: Doubles, counts: Ints, norms: Doubles, weights: Doubles
) -> npt.NDArray[np.float64]:
    said = counts / (counts + norms[:, None])
    around = np.where((near >= 0)[:, :, None], lends[:, None] * said[near], 0.0)
    silent = (1 - said[own]) * np.prod(1 - around, axis=1)
    return (1 - silent - said[own]) @ weights


def own_shares(
    own: Longs, counts: Ints, firsts: Ints, close: Floats, norms: Doubles, weights: Doubles, worths: Doubles,
    lead: Longs,
) -> list[npt.NDArray[np.float64]]:  # fmt: skip
    said = counts / (counts + norms[:, None])
    late = np.where((counts[own] > 0) & (firsts[own] >= lead[:, None]), said[own], 0.0) @ weights
    return [late, (close / (close + norms[:, None]))[own] @ worths, (counts[own] > 0) @ weights]


def softened(total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    kept = np.maximum(total, 0.0)
    return kept / (1 + kept**4) ** 0.25


def blend(
    rows: Longs, scores: Floats, lengths: Ints, before: Ints, speakers: Ints, gains: Doubles,
    parts: Mapping[str, npt.NDArray[np.float64]], level: float,
) -> npt.NDArray[np.float64]:  # fmt: skip
    squared = (0.01 * lengths[rows]) ** 2
    brevity = np.where(before[rows] == -2, 1.0, squared / (squared + 5.0)) if len(before) else np.ones(len(rows))
    speaker = gains[speakers[rows]] if len(gains) else np.zeros(len(rows))
    words = scores[rows] + parts["around"] + parts["related"] + 0.4 * parts["order"] - 0.2 * parts["late"]
    meaning = parts["cosine"] + parts["context"] + parts["expansion"]
    return softened(level * (0.7 * 0.8 * words + 0.3 * meaning) * brevity * (1 + speaker))


def number(keys: Codes) -> tuple[Ints, Codes]:
    distinct = list(dict.fromkeys(keys.tolist()))
    return np.array([distinct.index(key) for key in keys.tolist()], np.int32), np.array(distinct, np.uint64)


def invert(ids: Ints, units: Ints, starts: Ints, terms: int) -> tuple[Ints, Ints, Ints]:
    tf = np.zeros((terms, len(starts) - 1), np.int32)
    np.add.at(tf, (ids, np.repeat(np.arange(len(starts) - 1), np.diff(starts))), units)
    of_term, rows = np.nonzero(tf)
    begins = np.searchsorted(of_term, np.arange(terms + 1))
    return begins.astype(np.int32), rows.astype(np.int32), tf[of_term, rows]


def union(left: Codes, right: Codes) -> tuple[Codes, Ints, Ints]:
    both = np.union1d(left, right)
    return both, np.searchsorted(both, left).astype(np.int32), np.searchsorted(both, right).astype(np.int32)


def place(starts: Ints, packed: Packed, terms: Ints, add: int, pairs: Ints, after: Ints, out: Packed) -> None:
    for term, start, stop in zip(terms, starts[:-1], starts[1:], strict=True):
        own = packed[start:stop]
        out[after[term] : after[term] + len(own)] = ((own >> 16) + add) << 16 | pairs[own & 0xFFFF]
        after[term] += len(own)


def threshold(scores: Floats, k: int) -> float:
    return float(np.sort(np.concatenate([scores, np.full(k, -np.inf, np.float32)]))[-k])


def has_sequence(starts: Ints, tokens: Ints, rows: Longs, pattern: Ints, out: Mask) -> None:
    for i, row in enumerate(rows):
        own = tokens[starts[row] : starts[row + 1]]
        if len(own) < len(pattern):
            out[i] = False
        else:
            windows = np.lib.stride_tricks.sliding_window_view(own, len(pattern))
            out[i] = (windows == pattern).all(axis=1).any()


def pool_tokens(
    table: np.ndarray, places: Longs, weights: Floats, tokens: Longs, starts: Longs, damped: bool, out: Floats
) -> None:
    for i in range(len(starts) - 1):
        found, times = np.unique(tokens[starts[i] : starts[i + 1]], return_counts=True)
        counted = np.sqrt(times) if damped else times
        total = (weights[found] * counted) @ table[places[found]].astype(np.float64)
        length = np.linalg.norm(total)
        out[i] = total / (length or 1)


def count_memories(versions: Longs, chosen: Mask) -> int:
    return len(np.unique(versions[chosen]))


def tag_scores(
    slots: Longs, marks: Longs, table: np.ndarray, shapes: Longs, marked: Floats, hidden: Floats, pairs: Floats,
    tags: int,
) -> Doubles:  # fmt: skip
    units, reach, classes = len(hidden), table.shape[1] // 2, round(pairs.shape[1] ** 0.5)
    padded = np.zeros((len(slots) + 2 * reach, *table.shape[1:]))
    padded[reach : reach + len(slots)] = table[slots] / 512
    total = sum(padded[place : place + len(slots), place] for place in range(table.shape[1]))
    bits = np.concatenate([marks[:, None] >> np.arange(len(marked) - 1) & 1, np.ones((len(slots), 1))], axis=1)
    around = np.concatenate([[0], shapes[slots], [0]])
    layer = np.maximum(total[:, :units] + bits @ marked, 0)
    scores = total[:, units:] + layer @ hidden[:, :tags]
    return scores + pairs[0, around[:-2] * classes + around[1:-1]] + pairs[1, around[1:-1] * classes + around[2:]]


def tag_sequences(scores: Doubles, transitions: Doubles) -> tuple[list[int], Doubles]:
    """Return the best path and each tag's probability, by trying every sequence of tags."""
    count, tags = scores.shape
    paths = np.array(np.meshgrid(*[np.arange(tags)] * count, indexing="ij")).reshape(count, -1).T
    worth = scores[np.arange(count), paths].sum(1) + transitions[tags, paths[:, 0]]
    worth += sum((transitions[paths[:, i - 1], paths[:, i]] for i in range(1, count)), np.zeros(len(paths)))
    mass = np.exp(worth - worth.max())
    shares = np.array([[mass[paths[:, i] == t].sum() for t in range(tags)] for i in range(count)])
    return paths[worth.argmax()].tolist(), shares / mass.sum()
