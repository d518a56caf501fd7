"""The parts of a score add up to it, in every mode, fusion and with every factor, and are those of the formula."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.model.choices import Fusion, Mode
from muisti.core.model.hits import Hit, Recency
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.query import Options, Part, Query
from tests.core.fakes import NOON, SPACE, add, open_engine

DAY = 86_400_000_000
WORDS = ["fox", "dog", "tree", "lake", "sun", "moon", "river", "stone"]
said = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
notes = st.lists(
    st.fixed_dictionaries({
        "content": said,
        "author": st.sampled_from(["Ann", "Bob", None]),
        "tags": st.lists(st.sampled_from(WORDS), unique=True, max_size=2).map(tuple),
        "importance": st.sampled_from(["low", "medium", "high", "critical"]),
        "source_class": st.sampled_from(["user", "web", "unknown"]),
        "event_at": st.integers(0, 90).map(lambda days: from_us(NOON - days * DAY)),
        "metadata": st.integers(1, 5).map(lambda turn: {"session": "s1", "turn": turn}),
    }),
    min_size=1,
    max_size=12,
)  # fmt: skip
asked = st.fixed_dictionaries({
    "text": st.one_of(said, said.map("{} last week".format), said.map("what did Ann say of {}?".format)),
    "mode": st.sampled_from(get_args(Mode)),
    "fusion": st.sampled_from(get_args(Fusion)),
    "alpha": st.sampled_from([None, 0.0, 0.3, 1.0]),
    "recency": st.sampled_from([None, Recency(weight=0.5, half_life_days=7), Recency(weight=1.0)]),
    "trust_weight": st.sampled_from([0.0, 0.5]),
})  # fmt: skip
options = st.sampled_from([
    None, Options(diversity=0.5), Options(signals={"tag": 0.5, "position": 0.3}), Options(preset="balanced"),
    Options(preset="similarity-only"),
])  # fmt: skip


def parts(hit: Hit) -> dict[str, float]:
    assert hit.explain is not None and 0.0 not in hit.explain.parts.values()
    return dict(hit.explain.parts)


@given(notes, asked, options)
def test_the_parts_of_every_search_add_up_to_the_score(
    tmp_path_factory: Any, drafts: list[dict[str, Any]], asked: dict[str, Any], options: Options | None
):
    if asked["mode"] == "recent" and options is not None:
        options = None
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db") as engine:
        added = engine.owner.write.add(SPACE, [Draft(**draft) for draft in drafts], on_conflict="keep").memories
        engine.owner.review.give_feedback(SPACE, added[0].id, "useful")
        query = Query(explain=True, reference_time=NOON, limit=20, options=options, **asked)
        hits = engine.owner.read.search(SPACE, query).hits
        joint = engine.owner.read.search_spaces([Part(SPACE, 0.7)], query).hits if asked["mode"] != "recent" else ()
    for hit in (*hits, *joint):
        assert sum(parts(hit).values()) == pytest.approx(hit.score, abs=1e-12)


def test_parts_say_what_brings_a_score_and_what_takes_from_it(engine: Engine):
    add(engine, "the fox sleeps in the tree", importance="low", event_at=from_us(NOON - 60 * DAY))
    (hit,) = engine.owner.read.search(SPACE, Query(text="fox tree", explain=True, recency=Recency())).hits
    found = parts(hit)
    assert found["lexical"] > 0 and found["cosine"] > 0
    assert found["importance"] < 0 and found["recency"] < 0 and "trust" not in found
    assert hit.explain is not None
    before = sum(value for name, value in found.items() if name not in ("importance", "recency"))
    assert before == pytest.approx(hit.explain.fused)
    assert found["importance"] == pytest.approx(before * (hit.explain.importance - 1))


@pytest.mark.parametrize("fusion", ["convex", "dbsf", "rrf"])
def test_other_fusions_have_a_part_for_each_ranking(engine: Engine, fusion: Any):
    add(engine, "fox in the tree", "a lake at noon", "the tree")
    hits = engine.owner.read.search(SPACE, Query(text="fox tree", fusion=fusion, explain=True)).hits
    assert hits[0].explain is not None and {"lexical", "cosine"} <= hits[0].explain.parts.keys()
    weighted = Query(text="fox tree", fusion=fusion, alpha=1.0, explain=True)
    assert "lexical" not in parts(engine.owner.read.search(SPACE, weighted).hits[0])
