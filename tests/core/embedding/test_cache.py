"""The cache of vectors: equal answers, a bound, keys apart by model and role, and a rate of 1 for what is known."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.cache import _ENTRY, EmbeddingCache, key_of, normalised
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Floats
from muisti.core.model.errors import ModelUnavailable
from tests.core.fakes import SPACE, WordEncoder, add, open_engine
from tests.stores import Stores

texts = st.lists(st.sampled_from(["red fox", "blue", "red  fox", " blue\r\n", "caf\u00e9", "cafe\u0301"]), max_size=8)


class Slow(WordEncoder):
    """A deferred encoder, which notes the texts that it embeds."""

    deferred = True

    def __init__(self, seed: str = "", dimensions: int = 64) -> None:
        super().__init__(seed, dimensions)
        self.seen: list[str] = []
        self.is_down = False

    def encode(self, texts: Sequence[str]) -> Vectors:
        if self.is_down:
            raise ModelUnavailable("down")
        self.seen += texts
        return super().encode(texts)

    def encode_query(self, text: str) -> Floats:
        return self.encode([f"query: {text}"])[0]


@given(st.lists(texts, max_size=5))
def test_answers_are_those_of_the_model_and_no_text_is_embedded_twice(batches: list[list[str]]):
    slow, cache = Slow(), EmbeddingCache()
    for batch in batches:
        found = cache.encode(slow, batch)
        assert np.array_equal(found, WordEncoder().encode([normalised(text) for text in batch]))
    assert len(slow.seen) == len(set(slow.seen)) == len({normalised(text) for batch in batches for text in batch})
    use = cache.use
    assert use.hits + use.misses == sum(map(len, batches)) and use.entries == len(slow.seen)


def test_models_and_roles_have_keys_of_their_own():
    one, other, cache = Slow("a"), Slow("b"), EmbeddingCache()
    kept = [cache.encode(one, ["red fox"])[0], cache.encode(other, ["red fox"])[0], cache.encode_query(one, "red fox")]
    assert not any(np.array_equal(a, b) for n, a in enumerate(kept) for b in kept[:n])
    assert np.array_equal(cache.encode_query(one, "red fox"), kept[2]) and one.seen == ["red fox", "query: red fox"]
    assert len({key_of("x", "a", "passage"), key_of("x", "a", "query"), key_of("x", "b", "passage")}) == 3


def test_the_bound_holds_and_the_least_recently_used_goes_first():
    size = 64 * 4 + _ENTRY
    slow, cache = Slow(), EmbeddingCache(2 * size)
    cache.encode(slow, ["a", "b"])
    cache.encode(slow, ["a"])
    cache.encode(slow, ["c"])
    assert cache.use.nbytes == 2 * size
    cache.encode(slow, ["a", "c"])
    assert slow.seen == ["a", "b", "c"]
    cache.encode(slow, ["b"])
    assert slow.seen[-1] == "b" and cache.use.entries == 2


def test_a_static_model_is_not_cached():
    cache, static = EmbeddingCache(), WordEncoder()
    cache.encode(static, ["red fox"])
    cache.encode_query(static, "red fox")
    assert static.calls == 2 and cache.use.rate is None


def test_a_failure_is_not_kept():
    slow, cache = Slow(), EmbeddingCache()
    slow.is_down = True
    with pytest.raises(ModelUnavailable):
        cache.encode(slow, ["red fox"])
    slow.is_down = False
    assert cache.encode(slow, ["red fox"]).any() and cache.use.entries == 1


def test_storing_identical_texts_again_has_a_rate_of_one(stores: Stores):
    slow = Slow()
    with open_engine(stores(), encoder=slow) as engine:
        add(engine, *(f"note {n}" for n in range(50)))
        while any(engine.vectors.step(space) for space in engine.vectors.lagging()):
            pass
        first = engine.models.cache.use
        assert (first.hits, first.misses) == (0, 50)
        engine.spaces.create("again")
        add(engine, *(f"note {n}" for n in range(50)), space="again")
        while any(engine.vectors.step(space) for space in engine.vectors.lagging()):
            pass
        use = engine.models.cache.use
        assert (use.hits - first.hits) / (use.hits + use.misses - first.hits - first.misses) == 1.0
        assert len(slow.seen) == 50 and engine.owner.read.stats(SPACE).memories == 50
