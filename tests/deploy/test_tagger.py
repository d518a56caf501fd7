"""Training of the tagger of entities: its loss, its slopes, and what it learns."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.tagger.calibrate import knots
from deploy.tagger.data import TAGS, Sentence
from deploy.tagger.network import FORBIDDEN, Batch, allowed, chain, gradients, parameters
from deploy.tagger.train import batches, principal, train, vocabulary
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities import tagger
from muisti.core.graph.entities.features import MARKS, VECTOR
from muisti.core.graph.entities.lists import Lists, packed
from muisti.core.graph.entities.recogniser import shipped
from tests.core import twins

seeds = st.integers(0, 2**32 - 1)
LISTS = Lists(packed({"oslo": 16, "met": 1}))
SENTENCES = [
    Sentence(("Ann", "met", "Bob", "in", "Oslo"), ((0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC"))),
    Sentence(("Acme", "Corp", "grew"), ((0, 2, "ORG"),)),
    Sentence(("it", "rains"), ()),
] * 4


def test_training_and_recognising_have_the_same_tags():
    assert TAGS == tagger.TAGS


@given(seeds, st.integers(1, 4))
def test_the_loss_and_its_slopes_are_those_of_all_sequences(seed: int, words: int):
    rng = np.random.default_rng(seed)
    scores, transitions = rng.standard_normal((1, words, 3)), rng.standard_normal((4, 3)).astype(np.float32)
    tags = rng.integers(0, 3, (1, words))
    batch = Batch(np.zeros((1, words + 4), np.int64), np.zeros((1, words), np.int64), tags, np.array([words]))
    loss, slope, _ = chain(scores, transitions, batch)
    _, shares = twins.tag_sequences(scores[0], transitions.astype(np.float64))
    np.testing.assert_allclose(slope[0], shares - np.eye(3)[tags[0]], atol=1e-6)
    step = 1e-5
    for at in np.ndindex(words, 3):
        moved = scores.copy()
        moved[0, *at] += step
        np.testing.assert_allclose((chain(moved, transitions, batch)[0] - loss) / step, slope[0, *at], atol=1e-3)
    for at in np.ndindex(4, 3):
        moved = transitions.astype(np.float64)
        moved[at] += step
        found = (chain(scores, moved, batch)[0] - loss) / step  # type: ignore[arg-type]
        np.testing.assert_allclose(found, chain(scores, transitions, batch)[2][at], atol=1e-3)


def test_a_name_begins_with_its_own_tag():
    table = allowed(TAGS)
    assert (table[:, [2, 4, 6, 8]] == FORBIDDEN).sum() == 4 * 8
    assert (table[:, [0, 1, 3, 5, 7]] == 0).all()


@settings(max_examples=5, deadline=None)
@given(seeds)
def test_a_step_against_the_slope_lowers_the_loss(seed: int):
    rng, encoder = np.random.default_rng(seed), StaticEncoder()
    mean, axes = np.zeros(256, np.float32), np.eye(256, VECTOR, dtype=np.float32)
    numbers, words = vocabulary(SENTENCES, LISTS, encoder, mean, axes)
    batch = batches(SENTENCES, LISTS, numbers)[0]
    assert batch.marks.shape[-1] == MARKS + 1
    net = parameters(TAGS, rng)
    before, slopes = gradients(net, batch, words, rng, 0.0, 0.0)
    for name, slope in slopes.items():
        moved = net | {name: net[name] - np.float32(1e-3) * slope}
        after, _ = gradients(moved, batch, words, rng, 0.0, 0.0)
        assert after <= before + 1e-6, name


def test_training_learns_its_sentences_and_equal_seeds_give_equal_taggers():
    encoder = StaticEncoder()
    mean, axes = principal([word for one in SENTENCES for word in one.words] * 20, encoder, VECTOR)
    numbers, words = vocabulary(SENTENCES, LISTS, encoder, mean, axes)
    found = batches(SENTENCES, LISTS, numbers)
    nets = [train(found, words, 7, epochs=40) for _ in range(2)]
    for name, own in nets[0].items():
        assert (own == nets[1][name]).all(), name
    losses = [
        gradients(net, found[0], words, np.random.default_rng(0), 0.0, 0.0)[0]
        for net in (nets[0], parameters(TAGS, np.random.default_rng(7)))
    ]
    assert losses[0] < 0.2 * losses[1]


def test_knots_of_confidence_ascend():
    found = knots(shipped()._tagger, SENTENCES * 10)
    assert (np.diff(found) >= 0).all()
    assert found[1].min() > 0 and found[1].max() < 1
