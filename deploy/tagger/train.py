"""Train a tagger on labelled sentences."""

from collections.abc import Sequence

import numpy as np

from deploy.model.adam import Adam
from deploy.model.progress import say
from deploy.tagger.data import TAGS, Sentence
from deploy.tagger.network import Batch, Vocabulary, gradients, parameters
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities.features import HASHES, REACH, ROW, marks, word_features
from muisti.core.graph.entities.lists import Lists
from muisti.core.graph.entities.tagger import rows
from muisti.core.kernels import Floats

SENTENCES = 32  # of a batch
RATE, EPOCHS = 2e-3, 10
DROP, DROP_HASHED, DECAY = 0.3, 0.3, 1e-5
AVERAGED = 0.3  # the last share of the steps, whose parameters are averaged


def principal(words: Sequence[str], encoder: StaticEncoder, size: int) -> tuple[Floats, Floats]:
    """Return the mean of the vectors of words, and their `size` principal axes, float32 (dimensions, size)."""
    vectors = encoder.encode(words)
    mean = vectors.mean(0)
    _, _, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    return mean, np.ascontiguousarray(axes[:size].T)


def vocabulary(
    sentences: Sequence[Sentence], lists: Lists, encoder: StaticEncoder, mean: Floats, axes: Floats
) -> tuple[dict[str, int], Vocabulary]:
    """Return the number of each word of the sentences, and the features by number."""
    words = [*dict.fromkeys(word for sentence in sentences for word in sentence.words)]
    found = word_features(words, lists)
    table = np.zeros((len(words) + 1, ROW), np.float32)
    table[:-1] = rows(words, found, encoder, mean, axes)
    hashed = np.concatenate([found.hashed, np.full((1, found.hashed.shape[1]), HASHES)])
    shapes = np.append(found.shapes, 0)
    return {word: number for number, word in enumerate(words)}, Vocabulary(table, hashed, shapes)


def batches(sentences: Sequence[Sentence], lists: Lists, numbers: dict[str, int]) -> list[Batch]:
    """Return the sentences, those of like lengths together."""
    order = sorted(range(len(sentences)), key=lambda at: len(sentences[at].words))
    chunks = [order[at : at + SENTENCES] for at in range(0, len(order), SENTENCES)]
    return [_batch([sentences[at] for at in chunk], lists, numbers) for chunk in chunks]


def _batch(sentences: Sequence[Sentence], lists: Lists, numbers: dict[str, int]) -> Batch:
    longest = max(len(sentence.words) for sentence in sentences)
    words = np.full((len(sentences), longest + 2 * REACH), len(numbers))
    flags, tags = np.zeros((2, len(sentences), longest), np.int64)
    for i, sentence in enumerate(sentences):
        size = len(sentence.words)
        words[i, REACH : REACH + size] = [numbers[word] for word in sentence.words]
        flags[i, :size] = marks(sentence.words, lists)
        tags[i, :size] = sentence.tags()
    return Batch(words, flags, tags, np.array([len(sentence.words) for sentence in sentences]))


def train(found: Sequence[Batch], words: Vocabulary, seed: int, epochs: int = EPOCHS) -> dict[str, Floats]:
    """Return the parameters, averaged over the last steps."""
    rng = np.random.default_rng(seed)
    net = parameters(TAGS, rng)
    learners = {name: Adam(own) for name, own in net.items()}
    steps, step = epochs * len(found), 0
    total = {name: np.zeros_like(own) for name, own in net.items()}
    averaged = 0
    for epoch in range(epochs):
        losses = 0.0
        for at in rng.permutation(len(found)):
            loss, slopes = gradients(net, found[at], words, rng, DROP, DROP_HASHED)
            losses += loss
            rate = RATE * (1 - step / steps) + 1e-5
            for name, slope in slopes.items():
                learners[name].step(slope + DECAY * net[name] if name != "transitions" else slope, rate)
            net["hashed"][HASHES] = 0
            step += 1
            if step > (1 - AVERAGED) * steps:
                averaged += 1
                for name, own in net.items():
                    total[name] += own
        say(f"  epoch {epoch + 1} of {epochs}: loss {losses / len(found):.4f}")
    return {name: own / np.float32(averaged) for name, own in total.items()}
