"""Models of a space: build a shadow, compare, switch, roll back, drop; on a file and on sqld."""

from collections.abc import Iterator
from contextlib import ExitStack

import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, Forbidden, InvalidInput, NotFound
from muisti.core.model.generations import Judged, ShadowIncomplete
from muisti.core.model.quality import Expectation
from muisti.core.model.tasks import Task
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from tests.core.fakes import SPACE, WordEncoder, add, open_engine
from tests.stores import Store

A, B, C = WordEncoder("a"), WordEncoder("b", dimensions=32), WordEncoder("c")


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    with both(store) as opened:
        add(opened, "red fox", "blue whale", "green tea", *(f"note {n}" for n in range(20)))
        yield opened


def both(store: Store) -> Engine:
    return open_engine(store, encoder=A, others=[B, C])


def work(engine: Engine) -> None:
    """Run the tasks of a database to their end."""
    runner = engine.runner(60, 2)
    while runner.run_one() is not None:
        pass


def built(engine: Engine, model: str = "words-b") -> Task:
    task = engine.generations.build(SPACE, model, OWNER)
    work(engine)
    return engine.tasks.get(SPACE, task.id, OWNER)


def roles(engine: Engine) -> dict[str, tuple[str, int]]:
    """The role of each model, and the passages that it lacks."""
    return {one.model: (one.role, one.missing) for one in engine.generations.list(SPACE, OWNER)}


def first(engine: Engine, text: str) -> str:
    """The content that a search by meaning finds first; nothing of the answer is degraded."""
    answer = engine.owner.read.search(SPACE, Query(text=text, mode="semantic"))
    assert answer.strategy == "semantic" and answer.degraded == ()
    return answer.hits[0].memory.content


def test_a_shadow_is_built_switched_to_and_rolled_back_without_embedding_again(engine: Engine):
    task = built(engine)
    assert (task.state, task.total, task.done) == ("succeeded", 23, 23)
    assert roles(engine) == {"words-a": ("current", 0), "words-b": ("shadow", 0)}
    before = engine.spaces.get(SPACE)
    assert engine.generations.switch(SPACE, OWNER).model == "words-b"
    assert engine.spaces.get(SPACE).generation == B.identity and engine.spaces.get(SPACE).seq == before.seq + 1
    assert first(engine, "fox") == "red fox"
    add(engine, "a late owl")
    calls = A.calls, B.calls
    assert engine.generations.roll_back(SPACE, OWNER).model == "words-a"
    assert (A.calls, B.calls) == calls
    assert first(engine, "owl") == "a late owl" and first(engine, "whale") == "blue whale"
    assert roles(engine) == {"words-a": ("current", 0), "words-b": ("shadow", 0)}


def test_what_is_written_during_the_build_and_after_it_is_embedded_by_both(engine: Engine):
    engine.generations.build(SPACE, "words-b", OWNER)
    (owl,) = add(engine, "a late owl")
    work(engine)
    engine.owner.write.update(SPACE, owl, {"content": "a late eagle"})
    engine.owner.write.update(SPACE, owl, {"importance": "high"})
    assert roles(engine) == {"words-a": ("current", 0), "words-b": ("shadow", 0)}
    engine.generations.switch(SPACE, OWNER)
    assert first(engine, "eagle") == "a late eagle"


def test_an_incomplete_shadow_is_refused_unless_forced_and_then_says_so(store: Store, engine: Engine):
    engine.generations.build(SPACE, "words-b", OWNER)
    with pytest.raises(ShadowIncomplete) as refused:
        engine.generations.switch(SPACE, OWNER)
    assert refused.value.missing == 23
    engine.generations.switch(SPACE, OWNER, force=True)
    answer = engine.owner.read.search(SPACE, Query(text="fox"))
    assert answer.hits[0].memory.content == "red fox" and any("23 passages" in told for told in answer.degraded)
    work(engine)
    assert roles(engine) == {"words-a": ("shadow", 0), "words-b": ("current", 0)}
    while engine.vectors.step(SPACE):
        pass
    engine.owner.read.search(SPACE, Query(text="fox"))
    assert first(engine, "fox") == "red fox"


def test_a_drop_deletes_the_vectors_and_ends_the_build(engine: Engine):
    task = engine.generations.build(SPACE, "words-b", OWNER)
    engine.generations.drop(SPACE, "words-b", OWNER)
    work(engine)
    assert engine.tasks.get(SPACE, task.id, OWNER).result == {
        "generation": B.identity, "embedded": 0, "dropped": True,
    }  # fmt: skip
    built(engine)
    with pytest.raises(Conflict):
        engine.generations.drop(SPACE, "words-a", OWNER)
    assert engine.generations.drop(SPACE, B.identity[:12], OWNER) == 23
    assert roles(engine) == {"words-a": ("current", 0)}
    with pytest.raises(NotFound):
        engine.generations.drop(SPACE, "words-b", OWNER)
    rows = engine._database.read([Statement("SELECT count(*) FROM embeddings")])
    assert rows == [[(23,)]] and first(engine, "fox") == "red fox"


def test_a_space_has_one_shadow_and_an_unknown_model_is_refused(engine: Engine):
    built(engine)
    with pytest.raises(Conflict):
        engine.generations.build(SPACE, "words-c", OWNER)
    with pytest.raises(InvalidInput):
        engine.generations.build(SPACE, "words-d", OWNER)
    with pytest.raises(Forbidden):
        engine.generations.list(SPACE, Caller("key", category="rules"))
    again = engine.generations.build(SPACE, "words-b", OWNER)
    work(engine)
    assert engine.tasks.get(SPACE, again.id, OWNER).state == "succeeded"


def test_a_comparison_tells_overlap_recall_and_ndcg(engine: Engine):
    with pytest.raises(Conflict):
        engine.generations.compare(SPACE, Judged(), OWNER)
    built(engine)
    (fox,) = [hit.memory.id for hit in engine.owner.read.search(SPACE, Query(text="fox")).hits[:1]]
    engine.probes.add(SPACE, Expectation(query="red fox", memory_id=fox, k=1), OWNER, engine.now())
    judged = Judged(k=3, queries=("whale",), qrels={"fox": {fox: 2}})
    found = engine.generations.compare(SPACE, judged, OWNER)
    assert (found.questions, found.probes, found.judged, found.missing) == (3, 1, 1, 0)
    assert found.current.recall == found.shadow.recall == found.current.ndcg == found.shadow.ndcg == 1.0
    assert found.overlap is not None and 1 / 3 <= found.overlap <= 1
    assert engine.spaces.get(SPACE).generation == A.identity  # nothing has changed
    with pytest.raises(InvalidInput):
        engine.generations.compare(SPACE, Judged(qrels={"fox": {fox: 0}}), OWNER)


def test_two_processes_see_the_switch_with_their_next_search(store: Store, engine: Engine):
    with both(store) as other:
        assert first(other, "fox") == "red fox"
        built(engine)
        add(other, "a late owl")  # by a process that knew the space without a shadow
        assert roles(engine)["words-b"] == ("shadow", 0)
        engine.generations.switch(SPACE, OWNER)
        calls = B.calls
        assert first(other, "owl") == "a late owl" and B.calls > calls
        other.generations.roll_back(SPACE, OWNER)
        calls = B.calls
        assert first(engine, "owl") == "a late owl" and B.calls == calls


def test_spaces_of_two_models_are_served_side_by_side(store: Store):
    with ExitStack() as stack:
        for encoder, name in ((A, "one"), (B, "two")):
            with open_engine(store, encoder=encoder) as opened:
                opened.spaces.create(name)
                add(opened, "red fox", "blue whale", space=name)
        engine = stack.enter_context(open_engine(store, encoder=C, others=[A, B]))
        add(engine, "green tea")
        for name in ("one", "two"):
            answer = engine.owner.read.search(name, Query(text="whale", mode="semantic"))
            assert answer.hits[0].memory.content == "blue whale" and answer.degraded == ()
            add(engine, "a late owl", space=name)
        by = {space.name: space.generation for space in engine.spaces.list()}
        assert by == {"default": None, "one": A.identity, "two": B.identity, SPACE: C.identity}


def test_a_fork_keeps_the_vectors_of_both_and_an_import_those_of_its_models(engine: Engine):
    built(engine)
    engine.owner.timeline.fork(SPACE, "fork")
    assert {one.model: (one.role, one.missing) for one in engine.generations.list("fork", OWNER)} == {
        "words-a": ("current", 0), "words-b": ("left", 0),
    }  # fmt: skip
    calls = B.calls
    engine.generations.build("fork", "words-b", OWNER)
    work(engine)
    engine.generations.switch("fork", OWNER)
    assert B.calls == calls
    lines = [line for page in engine.owner.read.export("fork", "test").pages() for line in page]
    engine.spaces.create("copy")
    coming = engine.owner.write.begin_import("copy")
    coming.take([msgspec.json.encode(line) for line in lines])
    report = coming.finish()
    assert (report.vectors_kept, report.vectors_embedded) == (23, 0) and B.calls == calls
    assert engine.spaces.get("copy").generation == B.identity


def test_passages_that_a_process_without_the_model_stored_are_embedded_by_one_that_has_it(store: Store):
    whale = Query(text="whale", mode="semantic")
    with open_engine(store, encoder=A) as engine:
        add(engine, "red fox")
    with open_engine(store, encoder=B) as engine:
        add(engine, "a blue whale")
        assert engine.owner.read.search(SPACE, whale).strategy == "keyword" and engine.vectors.lagging() == []
    with open_engine(store, encoder=B, others=[A]) as engine:
        assert engine.owner.read.search(SPACE, whale).degraded != ()
        assert engine.vectors.lagging() == [SPACE]
        while engine.vectors.step(SPACE):
            pass
        engine.owner.read.search(SPACE, whale)
        assert first(engine, "whale") == "a blue whale"
