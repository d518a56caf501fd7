"""The measure of a second model: made vectors are repeatable, and the background works in its turns alone."""

import time
from pathlib import Path

import numpy as np

from loadtests.second_model import NAME, SPACE, Background, Hashed, add, opened
from tests.core.fakes import WordEncoder

TEXTS = [f"text number {number}" for number in range(40)]


def test_made_vectors_are_repeatable_and_of_length_one():
    one, other = (Hashed(WordEncoder("second", 384)).encode(texts) for texts in (TEXTS, TEXTS[::-1]))
    assert np.array_equal(one, other[::-1]) and np.allclose(np.linalg.norm(one, axis=1), 1)


def test_the_background_makes_vectors_in_its_turns_alone(tmp_path: Path):
    with opened(tmp_path / "a.db", Hashed(WordEncoder("second", 384)), NAME) as engine:
        add(engine, TEXTS)
        engine.second_vectors.step(SPACE)
        with Background(engine) as background:
            assert background.steps == 0
            with background.working():
                while not background.steps:
                    time.sleep(0.01)
            done = background.steps
            add(engine, ["one more"])
            assert background.steps == done and engine.second_vectors.lagging() == [SPACE]
            with background.working():
                while engine.second_vectors.lagging():
                    time.sleep(0.01)
