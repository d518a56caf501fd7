"""The tagger in training: forward and backward passes of a batch of sentences, in numpy. The loss is that of a CRF."""

from collections.abc import Mapping, Sequence

import numpy as np

from muisti.core.graph.entities.features import HASHED, HASHES, MARKS, ROW, SHAPES
from muisti.core.graph.entities.tagger import PLACES
from muisti.core.kernels import Doubles, Floats, Longs

UNITS = 160
FORBIDDEN = -30.0
_ENDS = np.cumsum([0, *HASHED])
_PLACE = np.repeat(np.arange(PLACES), HASHED)  # the place of the window that each hashed feature belongs to

Parameters = Mapping[str, Floats]


def parameters(tags: Sequence[str], rng: np.random.Generator) -> dict[str, Floats]:
    """Return a network that knows nothing yet."""
    count = len(tags)
    return {
        "window": (rng.standard_normal((PLACES, ROW, UNITS)) * np.sqrt(2 / (PLACES * ROW))).astype(np.float32),
        "marked": np.zeros((MARKS + 1, UNITS), np.float32),
        "hidden": (rng.standard_normal((UNITS, count)) * np.sqrt(1 / UNITS)).astype(np.float32),
        "pairs": np.zeros((2, SHAPES * SHAPES, count), np.float32),
        "transitions": allowed(tags),
        "hashed": np.zeros((HASHES + 1, count), np.float32),
    }


def allowed(tags: Sequence[str]) -> Floats:
    """Return 0 where a tag may follow another, and `FORBIDDEN` where not: a span begins with its B."""
    found = np.zeros((len(tags) + 1, len(tags)), np.float32)
    for after, tag in enumerate(tags):
        for before in range(len(tags) + 1):
            if tag[0] == "I" and (before == len(tags) or tags[before][1:] != tag[1:]):
                found[before, after] = FORBIDDEN
    return found


class Batch:
    """Sentences of like lengths, padded; `words` (n, longest + 4) has the last word number where there is no word."""

    def __init__(self, words: Longs, marks: Longs, tags: Longs, lengths: Longs) -> None:
        self.words, self.tags, self.lengths = words, tags, lengths
        bits = (marks[..., None] >> np.arange(MARKS)) & 1
        self.marks = np.concatenate([bits, np.ones((*marks.shape, 1), np.int64)], axis=2).astype(np.float32)
        self.mask = np.arange(marks.shape[1]) < lengths[:, None]


class Vocabulary:
    """Features of each word of the training texts; the last row is for places outside a sentence."""

    def __init__(self, rows: Floats, hashed: Longs, shapes: Longs) -> None:
        self.rows, self.hashed, self.shapes = rows, hashed, shapes


def gradients(
    net: Parameters, batch: Batch, words: Vocabulary, rng: np.random.Generator, drop: float, drop_hashed: float
) -> tuple[float, dict[str, Floats]]:
    """Return the mean loss of a word, and the gradient of each parameter."""
    count, longest = batch.mask.shape
    flat = batch.mask.ravel()
    around = np.stack([batch.words[:, place : place + longest] for place in range(PLACES)], 2).reshape(-1, PLACES)[flat]
    inputs = words.rows[around].reshape(len(around), -1)
    marked = batch.marks.reshape(len(flat), -1)[flat]
    layer = inputs @ net["window"].reshape(-1, UNITS) + marked @ net["marked"]
    kept = (rng.random(layer.shape, dtype=np.float32) > drop) / np.float32(1 - drop) * (layer > 0)
    active = layer * kept
    ids = np.concatenate([words.hashed[around[:, p], _ENDS[p] : _ENDS[p + 1]] for p in range(PLACES)], axis=1)
    ids[rng.random(ids.shape, dtype=np.float32) < drop_hashed] = HASHES
    shapes = words.shapes[around]
    before = shapes[:, 1] * SHAPES + shapes[:, 2]
    after = shapes[:, 2] * SHAPES + shapes[:, 3]
    scale = np.float32(1 / (1 - drop_hashed))
    scores = active @ net["hidden"] + net["hashed"][ids].sum(1) * scale
    scores += net["pairs"][0][before] + net["pairs"][1][after]
    padded = np.zeros((count * longest, scores.shape[1]))
    padded[flat] = scores
    loss, slope, moved = chain(padded.reshape(count, longest, -1), net["transitions"], batch)
    slope = (slope.reshape(-1, scores.shape[1])[flat] / len(scores)).astype(np.float32)
    back = (slope @ net["hidden"].T) * kept
    tags = scores.shape[1]
    return loss / len(scores), {
        "window": (inputs.T @ back).reshape(PLACES, ROW, UNITS),
        "marked": marked.T @ back,
        "hidden": active.T @ slope,
        "pairs": np.stack([_summed(at[:, None], slope, SHAPES * SHAPES) for at in (before, after)]),
        "transitions": (moved / len(scores)).astype(np.float32),
        "hashed": _summed(ids, slope * scale, HASHES + 1) if tags else np.zeros(0),
    }


def _summed(ids: Longs, slope: Floats, size: int) -> Floats:
    """Return the sum of the slopes of each id, float32 (size, tags)."""
    flat = ids.ravel()
    each = [np.bincount(flat, np.repeat(one, ids.shape[1]), size) for one in slope.T]
    return np.stack(each, axis=1).astype(np.float32)


def chain(scores: Doubles, transitions: Floats, batch: Batch) -> tuple[float, Doubles, Doubles]:
    """Return the negative log likelihood of the tags, and its slopes by scores and by transitions."""
    count, longest, tags = scores.shape
    factors = np.exp(transitions.astype(np.float64))
    local = np.exp(scores - scores.max(2, keepdims=True))
    ahead, behind = np.empty_like(scores), np.ones_like(scores)
    norms = np.empty((count, longest))
    for i in range(longest):
        ahead[:, i] = local[:, i] * (factors[-1] if i == 0 else ahead[:, i - 1] @ factors[:-1])
        norms[:, i] = ahead[:, i].sum(1)
        ahead[:, i] /= norms[:, i : i + 1]
    for i in range(longest - 2, -1, -1):
        inside = batch.mask[:, i + 1 : i + 2]
        later = (local[:, i + 1] * behind[:, i + 1]) @ factors[:-1].T / norms[:, i + 1 : i + 2]
        behind[:, i] = np.where(inside, later, 1.0)
    shares = ahead * behind * batch.mask[..., None]
    gold = np.zeros_like(scores)
    np.put_along_axis(gold, batch.tags[..., None], 1.0, axis=2)
    gold *= batch.mask[..., None]
    slope = shares - gold
    moved = np.zeros_like(factors)
    moved[-1] = slope[:, 0].sum(0)
    both = batch.mask[:, 1:, None, None]
    pairs = ahead[:, :-1, :, None] * factors[:-1] * ((local * behind)[:, 1:] / norms[:, 1:, None])[:, :, None, :]
    moved[:-1] = (pairs * both).sum((0, 1)) - np.einsum("nis,nit->st", gold[:, :-1], gold[:, 1:])
    moved[transitions <= FORBIDDEN / 2] = 0
    best = np.take_along_axis(scores, batch.tags[..., None], 2)[..., 0] - scores.max(2)
    before = np.concatenate([np.full((count, 1), tags), batch.tags[:, :-1]], axis=1)
    likely = best + transitions[before, batch.tags] - np.log(norms)
    return -float((likely * batch.mask).sum()), slope, moved
