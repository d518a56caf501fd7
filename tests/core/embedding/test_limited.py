"""Vectors of queries within a limit: a slow model is not waited for, and what comes late serves the next search."""

import threading
from time import monotonic

import numpy as np
import pytest

from muisti.core.embedding.cache import EmbeddingCache, Limited
from muisti.core.kernels import Floats
from muisti.core.model.errors import ModelUnavailable
from muisti.core.support.waiting import WouldWait, without_waiting
from tests.core.fakes import WordEncoder


class Held(WordEncoder):
    """A deferred encoder that answers when it is let go."""

    deferred = True

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def encode_query(self, text: str) -> Floats:
        assert self.free.wait(60)
        return super().encode_query(text)


def test_a_model_that_answers_in_time_gives_its_vector():
    held = Held()
    held.free.set()
    found = Limited(EmbeddingCache(), 60).encode_query(held, "red fox")
    assert np.array_equal(found, WordEncoder().encode_query("red fox"))


def test_a_model_that_is_too_slow_is_not_waited_for_and_its_vector_is_there_later():
    held, cache = Held(), EmbeddingCache()
    limited = Limited(cache, 0.01)
    with pytest.raises(ModelUnavailable, match="more than 10 ms"):
        limited.encode_query(held, "red fox")
    held.free.set()
    end = monotonic() + 60
    while not cache.has_query(held, "red fox") and monotonic() < end:
        threading.Event().wait(0.01)
    held.free.clear()  # only the cache answers
    assert np.array_equal(limited.encode_query(held, "red fox"), WordEncoder().encode_query("red fox"))


def test_a_thread_that_may_not_wait_takes_only_what_is_cached():
    held, cache = Held(), EmbeddingCache()
    held.free.set()
    limited = Limited(cache, 60)
    with without_waiting(), pytest.raises(WouldWait):
        limited.encode_query(held, "red fox")
    known = limited.encode_query(held, "red fox")
    with without_waiting():
        assert np.array_equal(limited.encode_query(held, "red fox"), known)


def test_without_a_limit_the_model_is_asked_on_the_callers_thread():
    held = Held()
    held.free.set()
    assert np.array_equal(Limited(EmbeddingCache()).encode_query(held, "red fox"), held.encode_query("red fox"))
