"""Vectors that come after their passages: writes wait for no model, and the index takes the vectors in."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pytest

from muisti.core.embedding.models import PROBES, Hosted, Sighting, recognise
from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.kernels import Floats
from muisti.core.model.collisions import Contradiction, Duplicate
from muisti.core.model.errors import ModelUnavailable
from muisti.core.model.hits import Answer
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from tests.core.fakes import SPACE, WordEncoder, add, open_engine
from tests.stores import Store

TEXTS = [f"text number {number} about {topic}" for number, topic in enumerate(["rivers", "stones", "lamps"] * 60)]


class Afar(Hosted):
    """An encoder whose model is elsewhere: it can be out of reach, and can change."""

    def __init__(self, seed: str = "", configuration: str = "c" * 16) -> None:
        self.model = WordEncoder(seed)
        self.reachable = True
        self.calls: list[int] = []
        self._configuration = configuration

    @property
    def name(self) -> str:
        return "words@afar"

    @property
    def configuration(self) -> str:
        return self._configuration

    @property
    def dimensions(self) -> int:
        return self.model.dimensions

    @property
    def deferred(self) -> bool:
        return True

    def probe(self) -> Vectors:
        self._reach()
        return self.model.encode(PROBES)

    def encode(self, texts: Sequence[str]) -> Vectors:
        self._reach()
        self.calls.append(len(texts))
        return self.model.encode(texts)

    def encode_query(self, text: str) -> Floats:
        self._reach()
        return self.model.encode_query(text)

    def stop(self) -> None:
        self.reachable = False

    def close(self) -> None:
        self.stop()

    def _reach(self) -> None:
        if not self.reachable:
            raise ModelUnavailable("the embedding model words@afar did not answer")


@pytest.fixture
def afar() -> Afar:
    return Afar()


@pytest.fixture
def engine(store: Store, afar: Afar) -> Iterator[Engine]:
    with open_engine(store, encoder=afar) as engine:
        yield engine


def search(engine: Engine, text: str, **values: object) -> Answer:
    return engine.owner.read.search(SPACE, Query(text=text, **values))  # pyright: ignore[reportArgumentType]


def ids(answer: Answer) -> list[str]:
    return [hit.memory.id for hit in answer.hits]


def embed_all(engine: Engine, space: str = SPACE) -> int:
    steps = 1
    while engine.vectors.step(space):
        steps += 1
    return steps


def test_a_write_waits_for_no_model_and_is_found_by_keyword_at_once(engine: Engine, afar: Afar):
    afar.reachable = False
    written = engine.owner.write.add(SPACE, [Draft(content="the otter swims in the river")])
    assert written.degraded == ("found by keyword only until its vectors follow",)
    answer = search(engine, "otter")
    assert ids(answer) == [written.memories[0].id]
    assert answer.strategy == "keyword"
    assert "no memory of this space is embedded" in answer.degraded[0]
    assert afar.calls == []


def test_vectors_follow_and_the_open_index_takes_them_in(engine: Engine):
    wanted = engine.owner.write.add(SPACE, [Draft(content="otter holt")]).memories[0].id
    search(engine, "otter")  # opens the index
    engine.recognition.check()
    assert SPACE in engine.vectors.lagging()
    embed_all(engine)
    assert SPACE not in engine.vectors.lagging()
    answer = search(engine, "otter", mode="semantic", explain=True)
    assert answer.strategy == "semantic" and answer.degraded == ()
    assert ids(answer) == [wanted]
    cosine = answer.hits[0].explain and answer.hits[0].explain.cosine
    model = WordEncoder()
    assert cosine == pytest.approx(float(model.encode_query("otter") @ model.encode(["otter holt"])[0]), abs=1e-4)


def test_answers_are_those_of_a_model_that_embeds_at_once(engine: Engine, store: Store):
    """Vectors that come in many steps, between searches, between writes and after changes, give the same ranking."""
    engine.recognition.check()
    engine.spaces.create("whole", engine.spaces.get(SPACE).settings)
    for start in range(0, len(TEXTS), 60):
        add(engine, *TEXTS[start : start + 60])
        search(engine, "rivers")
        engine.vectors.step(SPACE)
        search(engine, "stones")
    memories = engine.owner.read.list(SPACE, limit=10).items
    for memory in memories[:3]:
        engine.owner.write.update(SPACE, memory.id, {"content": f"{memory.content} changed"})
    engine.owner.write.delete(SPACE, memories[3].id)
    embed_all(engine)
    late = search(engine, "about lamps and stones number 7", limit=20)
    assert late.degraded == () and late.strategy == "hybrid"
    engine._indexes.drop(SPACE)  # a load reads all together
    anew = search(engine, "about lamps and stones number 7", limit=20)
    assert ids(late) == ids(anew)
    assert [hit.score for hit in late.hits] == pytest.approx([hit.score for hit in anew.hits])


def test_while_some_vectors_are_missing_an_answer_says_how_many(engine: Engine):
    engine.recognition.check()
    add(engine, *TEXTS)
    assert engine.vectors.step(SPACE)
    answer = search(engine, "rivers")
    assert answer.strategy == "hybrid"
    assert answer.degraded == ("52 passages have no embedding and rank by keyword only; the vectors will follow",)
    embed_all(engine)
    assert search(engine, "rivers").degraded == ()


def test_a_model_that_fails_leaves_searches_by_keyword_and_comes_back(engine: Engine, afar: Afar):
    engine.recognition.check()
    (first,) = add(engine, "an otter in the river")
    embed_all(engine)
    assert search(engine, "otter").strategy == "hybrid"
    afar.reachable = False
    (second,) = add(engine, "another otter in the lake")
    answer = search(engine, "otters")  # the vector of the query before is remembered
    assert {*ids(answer)} == {first, second}
    assert answer.strategy == "keyword"
    assert answer.degraded == ("the embedding model words@afar did not answer: ranked by keyword only",)
    with pytest.raises(ModelUnavailable):
        engine.vectors.step(SPACE)
    afar.reachable = True
    embed_all(engine)
    answer = search(engine, "otter")
    assert (answer.strategy, answer.degraded) == ("hybrid", ())
    assert {*ids(answer)} == {first, second}


def test_a_restart_without_the_model_remembers_which_one_it_is(store: Store, afar: Afar):
    with open_engine(store, encoder=afar) as engine:
        engine.recognition.check()
        (kept,) = add(engine, "an otter in the river")
        embed_all(engine)
        identity = afar.identity
    silent = Afar()
    silent.reachable = False
    with open_engine(store, encoder=silent) as engine:
        assert silent.identity == identity == engine.generation
        answer = search(engine, "otter")
        assert ids(answer) == [kept] and answer.strategy == "keyword"


def test_a_model_that_has_changed_is_noticed_and_its_return_too(engine: Engine, afar: Afar):
    assert engine.recognition.check()
    assert not engine.recognition.check()
    (kept,) = add(engine, "an otter in the river")
    embed_all(engine)
    before = afar.identity
    afar.model = WordEncoder("another")
    assert engine.recognition.check()
    assert afar.identity != before and afar.identity[:16] == before[:16]
    answer = search(engine, "otter")
    assert ids(answer) == [kept] and answer.strategy == "keyword"
    assert "embedded by model" in answer.degraded[0]
    assert SPACE not in engine.vectors.lagging()
    afar.model = WordEncoder()
    assert engine.recognition.check()
    assert afar.identity == before
    assert search(engine, "otter").strategy == "hybrid"


def test_two_processes_embed_the_same_passages_once(store: Store, engine: Engine):
    engine.recognition.check()
    add(engine, *TEXTS[:20])
    with open_engine(store, encoder=Afar()) as other:
        other.recognition.check()
        embed_all(other)
        assert not engine.vectors.step(SPACE)
        assert ids(search(other, "rivers", mode="semantic")) == ids(search(engine, "rivers", mode="semantic"))


def test_another_process_sees_vectors_that_came_later(store: Store, engine: Engine):
    engine.recognition.check()
    add(engine, *TEXTS[:20])
    embed_all(engine)
    (late,) = add(engine, "an otter")
    with open_engine(store, encoder=Afar()) as other:
        other.recognition.check()
        assert "1 passages have no embedding" in search(other, "otter").degraded[0]
        embed_all(engine)
        answer = search(other, "otter", mode="semantic")
        assert answer.degraded == () and ids(answer)[0] == late


def test_conflicts_are_found_without_vectors(engine: Engine, afar: Afar):
    afar.reachable = False
    add(
        engine,
        *TEXTS[:30],
        "The deploy runs on Tuesdays at nine.",
        "The staging database runs on port 5433.",
        "My choir is in Lyon.",
    )
    with pytest.raises(Duplicate):
        engine.owner.write.add(SPACE, [Draft(content="The deploy runs on Tuesdays, at nine.")], on_conflict="reject")
    for text in ("The staging database runs on port 5434.", "My choir is in Porto."):
        with pytest.raises(Contradiction):
            engine.owner.write.add(SPACE, [Draft(content=text)], on_conflict="reject")
    both = [Draft(content="Invoices go out on the first."), Draft(content="Invoices go out on the first!")]
    with pytest.raises(Duplicate):
        engine.owner.write.add(SPACE, both, on_conflict="reject")
    kept = engine.owner.write.add(SPACE, [Draft(content="Otters are mammals.")], on_conflict="reject")
    assert kept.similar == () and kept.checked_at is not None
    assert afar.calls == []


def test_a_text_without_a_vector_does_not_stop_the_others(engine: Engine, afar: Afar):
    engine.recognition.check()
    afar.model.encode = lambda texts: np.zeros((len(texts), 64), np.float32)
    add(engine, "refused")
    embed_all(engine)
    afar.model = WordEncoder()
    (kept,) = add(engine, "an otter")
    embed_all(engine)
    assert ids(search(engine, "otter", mode="semantic")) == [kept]
    assert search(engine, "otter").degraded == ()


def test_evidence_of_a_model_without_thresholds_is_uncalibrated(engine: Engine, afar: Afar):
    engine.recognition.check()
    add(engine, "an otter in the river")
    embed_all(engine)
    assert search(engine, "otter").evidence == "uncalibrated"
    afar.reachable = False
    assert search(engine, "otters").evidence in ("weak", "strong")  # by the thresholds of keyword search


def test_a_model_that_has_never_answered_is_built_for_no_space(engine: Engine, afar: Afar):
    with pytest.raises(ModelUnavailable, match="has not answered yet"):
        engine.generations.build(SPACE, afar.name, Caller())
    with pytest.raises(ModelUnavailable, match="has not answered yet"):
        engine.generations.embed_again(SPACE, lambda done, total: None, Caller())
    assert engine.spaces.get(SPACE).generation is None


class Restless(Afar):
    """A model that answers for the first time, or is exchanged, just before the look number `at` at which one it is."""

    def __init__(self, at: int, then: str, first: str | None) -> None:
        super().__init__(then)
        self.looks, self._at = 0, at
        self._seen = [None if first is None else sighting_of(first), sighting_of(then)]

    @property
    def sighting(self) -> Sighting | None:  # pyright: ignore[reportIncompatibleVariableOverride]  # counts looks
        self.looks += 1
        return self._seen[self.looks >= self._at]

    def settle(self, sighting: Sighting) -> None:
        pass


def sighting_of(seed: str) -> Sighting:
    return recognise("c" * 16, WordEncoder(seed).encode(PROBES), ())


@pytest.mark.parametrize("first", [None, "old"])
@pytest.mark.parametrize("at", range(1, 14))
def test_whenever_another_model_takes_its_place_no_vector_gets_a_wrong_name(store: Store, at: int, first: str | None):
    """The sweeps of vectors and that which looks for the model are threads: any look can be the first of a new one."""
    afar = Restless(at, "new", first)
    with open_engine(store, encoder=afar) as engine:
        wanted = engine.owner.write.add(SPACE, [Draft(content="an otter in the river")]).memories[0].id
        for _ in range(at + 8):
            with suppress(ModelUnavailable):
                engine.vectors.step(SPACE)
        assert afar.looks >= at
        (rows,) = engine._database.read([Statement("SELECT hash FROM generations")])
        assert {str(name) for (name,) in rows} <= {one.identity for one in afar._seen if one is not None}
        space = engine.spaces.get(SPACE)
        if space.generation == afar.identity:  # else it was embedded by the first model, and says so
            answer = search(engine, "otter")
            assert (answer.strategy, answer.degraded, ids(answer)) == ("hybrid", (), [wanted])
        else:
            assert first is not None and space.generation == sighting_of(first).identity
