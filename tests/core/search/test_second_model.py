"""Searches of a space with a second model: what they find, explain and say, and that evidence stays as it is."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import Engine
from muisti.core.model.choices import Mode, SecondQuery
from muisti.core.model.hits import Hit, SecondCosine
from muisti.core.model.spaces import CONTENT_ONLY, Policy
from muisti.core.query.query import Query
from muisti.core.search.candidates import WITH_SECOND
from muisti.core.search.fusion import ALPHAS
from muisti.core.search.query_vectors import SHARE
from tests.core.embedding.test_cache import Slow
from tests.core.fakes import SPACE, Clock, WordEncoder, add, at, migrated

MEANT = {"automobile": "car", "vehicle": "car", "pond": "lake"}


class Synonyms(Slow):
    """A deferred encoder that takes some words for others."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        return super().encode([" ".join(MEANT.get(word, word) for word in text.lower().split()) for text in texts])


def opened(path: Path, way: SecondQuery = "transformer", second: str = "synonyms") -> Engine:
    seconds, policy = {"synonyms": Synonyms("second", 48)}, Policy(second_model=second)
    engine = Engine(migrated(at(path)), WordEncoder(), Clock(), seconds=seconds, policy=policy, second_query=way)
    engine.spaces.create(SPACE, CONTENT_ONLY)
    return engine


def follow(engine: Engine) -> None:
    """Let the background give the second vectors."""
    while any(engine.second_vectors.step(space) for space in engine.second_vectors.lagging()):
        pass


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with opened(tmp_path / "muisti.db") as engine:
        add(engine, "the red car stands outside", "a deep lake near the road", "bread and butter")
        follow(engine)
        yield engine


def hits(engine: Engine, text: str, way: SecondQuery | None = None, mode: Mode = "hybrid") -> Sequence[Hit]:
    return engine.owner.read.search(SPACE, Query(text=text, mode=mode, second_query=way, explain=True)).hits


def second_of(hit: Hit) -> SecondCosine:
    assert hit.explain is not None and isinstance(hit.explain.second, SecondCosine)
    return hit.explain.second


def test_by_meaning_a_memory_is_found_that_only_the_second_model_is_near_to(engine: Engine):
    mode: Mode = "semantic"
    found = hits(engine, "automobile", mode=mode)
    assert found[0].memory.content == "the red car stands outside"
    assert second_of(found[0]).second > 0.3 > second_of(found[0]).own
    assert all(hit.memory.content != found[0].memory.content for hit in hits(engine, "automobile", "off", mode)[:1])


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_explanations_have_both_cosines_and_their_parts_add_up(engine: Engine, mode: Mode):
    for hit in hits(engine, "a red vehicle near the pond", mode=mode):
        second, explain = second_of(hit), hit.explain
        assert explain is not None and explain.cosine is not None
        assert explain.cosine == pytest.approx((1 - second.share) * second.own + second.share * second.second)
        assert second.share == SHARE and not second.mapped
        assert sum(explain.parts.values()) == pytest.approx(hit.score, abs=1e-9)
        if mode == "hybrid" and second.second > 0.01:
            assert explain.parts["second"] == pytest.approx(WITH_SECOND * SHARE * second.second)


def test_off_is_the_search_of_a_space_without_a_second_model(engine: Engine, tmp_path: Path):
    with opened(tmp_path / "other.db", second="off") as other:
        add(other, "the red car stands outside", "a deep lake near the road", "bread and butter")
        plain = [(hit.memory.content, hit.score) for hit in hits(other, "red car near the lake")]
    assert [(hit.memory.content, hit.score) for hit in hits(engine, "red car near the lake", "off")] == plain


def test_a_memory_without_a_second_vector_keeps_the_cosine_of_the_first(engine: Engine):
    add(engine, "a blue car waits")
    late = next(hit for hit in hits(engine, "blue car") if hit.memory.content == "a blue car waits")
    assert second_of(late).share == 0 and late.explain is not None
    assert late.explain.cosine == second_of(late).own > 0
    follow(engine)
    late = next(hit for hit in hits(engine, "blue car") if hit.memory.content == "a blue car waits")
    assert second_of(late).share == SHARE


def test_the_cosine_weighs_more_with_a_second_model_but_not_in_dialogues_nor_against_the_callers_word(engine: Engine):
    def alpha(stated: float | None = None, way: SecondQuery | None = None) -> float | None:
        query = Query(text="red car", alpha=stated, second_query=way, explain=True)
        explain = engine.owner.read.search(SPACE, query).hits[0].explain
        return None if explain is None else explain.alpha

    assert (alpha(), alpha(0.2), alpha(way="off")) == (WITH_SECOND, 0.2, ALPHAS["absolute"])
    for turn in range(4):
        add(engine, f"turn {turn} of the talk", metadata={"session": "one", "turn": turn})
    assert alpha() == ALPHAS["absolute"]


def test_evidence_is_judged_by_the_first_model(engine: Engine):
    def strength(text: str, way: SecondQuery) -> float:
        return engine.owner.read.search(SPACE, Query(text=text, second_query=way)).strength

    for text in ("red car", "automobile", "nothing of this kind"):
        assert strength(text, "transformer") == pytest.approx(strength(text, "off"))
