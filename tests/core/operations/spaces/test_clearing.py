"""Clearing a space: everything ends, in steps, and a rollback brings it back."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import CLEAR_PHRASE
from muisti.core.model.errors import Forbidden, InvalidInput
from muisti.core.operations.spaces import checkpoints
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, add


def found(engine: Engine) -> set[str]:
    return {one.content for one in engine.owner.read.list(SPACE, limit=100).items}


@pytest.mark.parametrize("most", [50_000, 3])
def test_all_memories_end_and_a_rollback_brings_them_back(engine: Engine, monkeypatch: pytest.MonkeyPatch, most: int):
    monkeypatch.setattr(checkpoints, "CLEARED", most)
    texts = [f"{word} walrus" for word in ("red", "blue", "green", "grey", "white", "black", "pink")]
    add(engine, *texts)
    engine.owner.write.delete(SPACE, add(engine, "gone already")[0])
    done = engine.owner.timeline.clear(SPACE, CLEAR_PHRASE)
    assert done.ended == len(texts) and found(engine) == set()
    assert engine.spaces.get(SPACE).seq == done.written.seq.number == done.before.number + len(texts)
    assert engine.owner.read.search(SPACE, Query(text="walrus")).hits == ()
    engine.owner.timeline.roll_back(SPACE, str(done.before))
    assert found(engine) == set(texts)
    assert len(engine.owner.read.search(SPACE, Query(text="walrus")).hits) == len(texts)
    assert "memories_cleared" in {one.action for one in engine.audit().items}


def test_without_the_phrase_or_the_whole_space_nothing_ends(engine: Engine):
    add(engine, "red walrus", category="c")
    for phrase in ("", "delete all memories", SPACE):
        with pytest.raises(InvalidInput, match="DELETE ALL MEMORIES"):
            engine.owner.timeline.clear(SPACE, phrase)
    with pytest.raises(Forbidden):
        engine.seen_by(Caller(category="c")).timeline.clear(SPACE, CLEAR_PHRASE)
    assert engine.seen_by(Caller(), dry_run=True).timeline.clear(SPACE, CLEAR_PHRASE).ended == 1
    assert found(engine) == {"red walrus"}
