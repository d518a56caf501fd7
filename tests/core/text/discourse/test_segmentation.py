from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.discourse.segmentation import FULL, WINDOW, Segmenter, Vectors, pauses, segment, smoothed

SUBJECTS = 3


def conversation(subjects: list[int], seed: int = 0, noise: float = 0.4) -> Vectors:
    """Return a unit vector for each turn, near that of its subject."""
    draw = np.random.default_rng(seed)
    vectors = np.eye(8)[subjects] + noise * draw.normal(size=(len(subjects), 8))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


conversations = st.builds(conversation, st.lists(st.integers(0, SUBJECTS - 1), max_size=60), st.integers(0, 99))


def cost(vectors: Vectors, boundaries: list[int], penalty: float) -> float:
    segments = [vectors[start:stop].astype(np.float64) for start, stop in pairwise([0, *boundaries, len(vectors)])]
    return sum(penalty + len(part) - float(np.square(part.sum(0)).sum()) / len(part) for part in segments)


def taken(vectors: Vectors) -> Vectors:
    """Return the vectors as they are compared: with their neighbours, and without the latest."""
    return np.array([smoothed(vectors, turn) for turn in range(len(vectors) - 1)])


def least_cost(vectors: Vectors, penalty: float) -> float:
    best = [0.0]
    for stop in range(1, len(vectors) + 1):
        best.append(min(best[start] + cost(vectors[start:stop], [], penalty) for start in range(stop)))
    return best[-1]


def found(vectors: Vectors) -> list[int]:
    return segment(vectors, [FULL] * len(vectors))


def feed(segmenter: Segmenter, vectors: Vectors, breaks: frozenset[int] = frozenset()) -> list[int]:
    return [at for turn, one in enumerate(vectors) for at in segmenter.add(one, FULL, breaks=turn in breaks)]


@given(conversations, st.sampled_from([0.5, 2.0]))
def test_without_final_boundaries_the_segmentation_has_the_least_cost(vectors: Vectors, penalty: float) -> None:
    if len(vectors) > 1:
        best = segment(vectors, [FULL] * len(vectors), penalty=penalty, agreement=1_000)
        assert cost(taken(vectors), best, penalty) == pytest.approx(least_cost(taken(vectors), penalty))


@given(conversations, st.frozensets(st.integers(0, 59), max_size=4))
def test_a_segmenter_can_be_made_again_from_the_turns_of_the_open_topic(
    vectors: Vectors, breaks: frozenset[int]
) -> None:
    going = Segmenter(8, penalty=0.5)
    fresh, final, again = Segmenter(8, penalty=0.5), [], []
    base = 0
    for turn, vector in enumerate(vectors):
        final += going.add(vector, FULL, breaks=turn in breaks)
        again += [base + place for place in fresh.add(vector, FULL, breaks=turn in breaks)]
        assert going.tentative == [base + place for place in fresh.tentative]
        if turn % 3 == 0:
            base = going.start
            fresh = Segmenter(8, penalty=0.5)
            assert not feed(fresh, vectors[base : turn + 1])
    assert final == again
    assert final == sorted(set(final))


@given(conversations)
def test_final_boundaries_only_grow(vectors: Vectors) -> None:
    segmenter = Segmenter(8, penalty=0.5)
    final: list[int] = []
    for vector in vectors:
        final += segmenter.add(vector, FULL)
        assert segmenter.tentative == sorted(segmenter.tentative)
        assert final[-1:] == ([segmenter.start] if segmenter.start else [])
        assert all(segmenter.start < place < segmenter.turns for place in segmenter.tentative)


def test_subjects_are_found() -> None:
    assert found(conversation([0] * 20 + [1] * 15 + [2] * 20)) == [20, 35]


def test_a_boundary_is_not_final_before_later_turns_agree() -> None:
    vectors = conversation([0] * 20 + [1] * 20, noise=0.1)
    segmenter = Segmenter(8)
    final = {turn: places for turn, vector in enumerate(vectors) if (places := segmenter.add(vector, FULL))}
    (turn,) = final
    assert final[turn] == [20]
    assert turn >= 25


def test_a_break_ends_a_topic_immediately() -> None:
    segmenter = Segmenter(8)
    vectors = conversation([0] * 6)
    assert feed(segmenter, vectors, frozenset({0, 4})) == [4]
    assert segmenter.start == 4


def test_a_long_topic_is_not_cut_by_the_window() -> None:
    vectors = conversation([0] * (3 * WINDOW) + [1] * 20, noise=0.1)
    assert found(vectors) == [3 * WINDOW]


def test_turns_without_a_vector_change_nothing_alone() -> None:
    assert found(np.zeros((50, 8), np.float32)) == []


def test_pauses_count_from_the_latest_turn() -> None:
    assert pauses([10, 0, 55, 70], pause=50) == []
    assert pauses([]) == []


def test_short_turns_take_their_meaning_from_their_neighbours() -> None:
    vectors, words = conversation([0] * 40, noise=0.1), [FULL] * 40
    vectors[10:30:2] = conversation([1] * 10, noise=0.1)
    assert segment(vectors, words, penalty=0.5) != []
    words[10:30:2] = [1] * 10
    assert segment(vectors, words, penalty=0.5) == []
