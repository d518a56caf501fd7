"""Behaviours of Zakira.Exchange and vipune without other tests; `tests/from_others` has the rest."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.choices import TYPES
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Mode, Recency, Thresholds
from muisti.core.model.spaces import SpaceSettings
from muisti.core.model.values import Draft
from muisti.core.query.evidence import Calibration, Entry
from muisti.core.query.filters import parse as parse_filter
from muisti.core.query.query import Query
from muisti.core.search.factors import decayed
from muisti.core.search.fusion import reciprocal_rank, summed, weights_of
from muisti.core.store.file.database import FileDatabase
from tests.core.fakes import SPACE, Clock, WordEncoder, add, open_engine

pytestmark = pytest.mark.one_store
MEDIUM, HIGH, CRITICAL = 1, 2, 3


def found(engine: Engine, query: Query, space: str = SPACE) -> list[str]:
    return [hit.memory.id for hit in engine.owner.read.search(space, query).hits]


@pytest.mark.parametrize(
    "text", ['"', "fox AND OR NOT", "content:fox", "NEAR(fox, 2)", "fox*", "^fox", "fox' --", "(", "+fox -fox", "{fox}"]
)
def test_no_query_is_syntax(engine: Engine, text: str):
    (fox,) = add(engine, "the fox")
    assert found(engine, Query(text=text, mode="keyword")) == ([fox] if "fox" in text else [])


def test_key_content_tags_and_reason_have_a_meaning_category_and_author_none(engine: Engine):
    engine.spaces.create("plain", SpaceSettings())
    draft = Draft(content="apple", category="banana", key="cherry", author="damson", tags=("elder",), reason="fig")
    (one,) = engine.owner.write.add("plain", [draft]).memories
    for word, has_meaning in {
        "apple": True, "cherry": True, "elder": True, "fig": True, "banana": False, "damson": False
    }.items():  # fmt: skip
        (hit,) = engine.owner.read.search("plain", Query(text=word, explain=True)).hits
        assert hit.memory.id == one.id and hit.explain is not None and hit.explain.cosine is not None
        assert (hit.explain.cosine > 0.3) == has_meaning, word


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize("text", ["bob", "Notes", "topic:ci", "bob fox"])
def test_a_query_whose_every_word_a_memory_has_is_never_without_evidence(tmp_path: Path, mode: Mode, text: str):
    thresholds = {mode: Thresholds(9.0, 10.0)}  # so high that the strength alone says none
    calibration = Calibration([Entry(generation=WordEncoder().identity, modes=thresholds)])
    with Engine(FileDatabase(tmp_path / "m.db"), WordEncoder(), Clock(), calibration=calibration) as engine:
        engine.spaces.create("plain", SpaceSettings())
        expected = {"category": "notes", "author": "Bob", "tags": ("topic:ci",)}
        engine.owner.write.add(
            "plain", [Draft(content=f"the fox {number}", **expected) for number in ("one", "two", "three")]
        )
        engine.owner.write.add("plain", [Draft(content="a bear", author="carl")])
        kept = Query(text=text, mode=mode, min_evidence="weak")
        assert len(engine.owner.read.search("plain", kept).hits) >= 3
        for more in (f"{text} zebra", "bear fox"):
            assert not engine.owner.read.search("plain", replace(kept, text=more)).hits, more
        elsewhere = replace(kept, filter=parse_filter({"author": "carl"}))
        assert not engine.owner.read.search("plain", elsewhere).hits


def test_reciprocal_ranks_are_those_of_the_formula():
    words, meaning = np.array([1, 2, 0]), np.array([3, 0, 1])
    theirs = np.array([1 / 61 + 1 / 63, 1 / 62, 1 / 61])
    ours = summed(reciprocal_rank(weights_of(0.5), {"lexical": words, "dense": meaning}))
    np.testing.assert_allclose(ours, theirs * 61 / 2)


def test_types_statuses_and_importance_have_their_defaults(engine: Engine):
    (memory,) = engine.owner.write.add(SPACE, [Draft(content="a text")]).memories
    assert (memory.type, memory.status, memory.importance) == ("fact", "active", "medium")
    choices = {
        "type": TYPES,
        "status": ("active", "candidate", "deprecated"),
        "importance": ("low", "medium", "high", "critical"),
    }
    for name, values in choices.items():
        for value in values:
            changed = engine.owner.write.update(SPACE, memory.id, {name: value}).memories[0]
            assert getattr(changed, name) == value


def test_a_new_memory_is_active_or_candidate_and_nobody_calls_one_superseded(engine: Engine):
    (memory_id,) = add(engine, "a text", status="candidate")
    draft = Draft(content="another", status="deprecated")
    for write in (
        lambda: engine.owner.write.add(SPACE, [draft]),
        lambda: engine.owner.write.supersede(SPACE, memory_id, draft),
        lambda: engine.owner.write.put(SPACE, replace(draft, category="c", key="k")),
    ):
        with pytest.raises(InvalidInput, match="candidate") as caught:
            write()
        assert [one.path for one in caught.value.problems] == ["$.status"]
    with pytest.raises(InvalidInput, match="superseded"):
        add(engine, "another", status="superseded")
    with pytest.raises(InvalidInput, match="superseded"):
        engine.owner.write.update(SPACE, memory_id, {"status": "superseded"})


def test_texts_and_questions_have_bounds(engine: Engine):
    for text in ("", "x" * 102_401):
        with pytest.raises(InvalidInput) as refused:
            add(engine, text)
        assert refused.value.problems[0].path.endswith(".content")
    add(engine, "y" * 100_000, "z")
    for mode in ("hybrid", "semantic", "keyword"):
        with pytest.raises(InvalidInput):
            engine.owner.read.search(SPACE, Query(text="", mode=mode))
    for mode in ("metadata", "recent"):
        assert len(found(engine, Query(text="", mode=mode))) == 2


def test_decay_has_their_forms_and_rates():
    days = np.array([0.0, 1.0, 8.0225])
    a_day = 86_400
    of_medium, of_high = np.full(3, MEDIUM, np.int8), np.full(3, HIGH, np.int8)
    exponential = Recency(function="exponential")
    np.testing.assert_allclose(decayed(exponential, days, of_medium), np.exp(-1e-6 * a_day * days))
    assert decayed(exponential, days, of_medium)[2] == pytest.approx(0.5, abs=1e-4)
    np.testing.assert_allclose(decayed(exponential, days, of_high), np.exp(-0.5e-6 * a_day * days))
    linear = Recency(function="linear", rate=0.2)
    np.testing.assert_allclose(decayed(linear, days, of_medium), [1.0, 0.8, 0.0])
    assert decayed(linear, days, np.full(3, CRITICAL, np.int8)).tolist() == [1.0, 1.0, 1.0]


def test_recency_counts_before_the_cut(engine: Engine, clock: Clock):
    """Of twenty old ones that fit a little better, none keeps the fresh one out of a list of one."""
    add(engine, *(f"tea tea tea number {n}" for n in range(20)))
    clock.pass_days(60)
    (fresh,) = add(engine, "tea and a word")
    weighed = Query(text="tea", mode="keyword", limit=1, recency=Recency(weight=0.9))
    assert found(engine, Query(text="tea", mode="keyword", limit=1)) != [fresh]
    assert found(engine, weighed) == [fresh]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_memory_of_which_nothing_is_said_scores_after_a_year(engine: Engine, clock: Clock, mode: Mode):
    (tea,) = add(engine, "tea")
    clock.pass_days(365)
    plain, weighed = (
        engine.owner.read.search(SPACE, Query(text="tea", mode=mode, recency=recency, explain=True)).hits[0]
        for recency in (None, Recency())
    )
    assert plain.memory.id == tea and plain.explain is not None and plain.explain.importance >= 0.9
    assert weighed.score >= 0.69 * plain.score > 0


def test_a_meaning_alone_finds(tmp_path: Path):
    with open_engine(tmp_path / "m.db", encoder=StaticEncoder()) as engine:
        (car,) = add(engine, "The automobile needs new tyres")
        add(engine, "Bread is baked in the morning", "The choir sings on Sundays")
        (best, *_) = engine.owner.read.search(SPACE, Query(text="car wheels", mode="semantic")).hits
        assert best.memory.id == car and best.score > 0 and "lexical" not in best.ranks
        assert engine.owner.read.search(SPACE, Query(text="car wheels", mode="keyword")).hits == ()
