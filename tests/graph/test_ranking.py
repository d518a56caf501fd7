"""The ranking by the graph: asked for, explained, what it lifts, and what it says when it cannot take part."""

from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Answer, SignalShare
from muisti.core.model.values import Draft
from muisti.core.query.query import Options, Part, Query
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.graph.plain import toy_reader
from tests.stores import Stores

WEIGHT = 0.5


@pytest.fixture
def engine(stores: Stores, clock: Clock) -> Iterator[Engine]:
    with open_engine(stores(), clock=clock, graph_reader=toy_reader) as opened:
        yield opened


def search(engine: Engine, text: str, weight: float = WEIGHT, caller: Caller | None = None, **asked: object) -> Answer:
    view = engine.owner if caller is None else engine.seen_by(caller)
    options = Options(rankings={"graph": weight})
    return view.read.search(SPACE, Query(text=text, options=options, explain=True, **asked))  # pyright: ignore[reportArgumentType]


def order(answer: Answer) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


def test_memories_near_to_the_named_are_lifted_and_the_factor_is_explained(engine: Engine):
    chain = ["Ann met Bob", "Bob bought Turku house", "Eve bought Oslo house", "Kim slept"]
    add(engine, *chain)
    plain = engine.owner.read.search(SPACE, Query(text="Ann house", explain=True))
    answer = search(engine, "Ann house")
    before = {hit.memory.content: hit for hit in plain.hits}
    assert answer.degraded == plain.degraded
    factors = {}
    for hit in answer.hits:
        share = hit.explain and hit.explain.graph
        assert isinstance(share, SignalShare) and share.weight == WEIGHT
        assert share.contribution == pytest.approx(1 + WEIGHT * share.score)
        assert hit.score == pytest.approx(min(1.0, before[hit.memory.content].score * share.contribution))
        factors[hit.memory.content] = share.score
    assert factors["Ann met Bob"] == 1.0 > factors["Bob bought Turku house"] > 0.0
    assert factors["Eve bought Oslo house"] == 0.0
    ranks = {hit.memory.content: hit.ranks.get("graph") for hit in answer.hits}
    assert (ranks["Ann met Bob"], ranks["Bob bought Turku house"]) == (1, 2)
    assert ranks["Eve bought Oslo house"] is None
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
@pytest.mark.parametrize("fusion", ["absolute", "rrf"])
def test_a_weight_of_nothing_and_a_question_without_names_change_nothing(engine: Engine, mode: str, fusion: str):
    add(engine, "Ann met Bob", "Bob bought a house", "the house is red")
    for text, weight in (("Ann house", 0.0), ("red house", WEIGHT), ("Zoe house", WEIGHT)):
        plain = engine.owner.read.search(SPACE, Query(text=text, mode=mode, fusion=fusion))  # pyright: ignore[reportArgumentType]
        answer = search(engine, text, weight, mode=mode, fusion=fusion)
        assert order(answer) == order(plain)
        assert [hit.score for hit in answer.hits] == pytest.approx([hit.score for hit in plain.hits])


def test_the_ranking_follows_changes_and_the_point_that_is_read(engine: Engine):
    one, _ = add(engine, "Ann met Bob", "Bob bought a house")
    assert search(engine, "Ann").hits[0].explain is not None
    engine.owner.write.update(SPACE, one, {"content": "Ann met Kim"})
    share = {hit.memory.content: hit.explain for hit in search(engine, "Ann house", limit=5).hits}
    told = share["Bob bought a house"]
    assert told is not None and (not isinstance(told.graph, SignalShare) or told.graph.score == 0.0)


def test_a_caller_walks_only_over_what_that_caller_sees(engine: Engine):
    drafts = [
        Draft(content="Ann met Bob", category="a"),
        Draft(content="Bob bought a house", category="b"),
        Draft(content="Ann has a house", category="b"),
    ]
    engine.owner.write.add(SPACE, drafts, on_conflict="keep")
    seen = {
        hit.memory.content: hit.explain for hit in search(engine, "Ann house", caller=Caller("b", category="b")).hits
    }
    assert seen.keys() == {"Bob bought a house", "Ann has a house"}
    told = seen["Bob bought a house"]
    assert told is not None and isinstance(told.graph, SignalShare) and told.graph.score == 0.0
    every = {hit.memory.content: hit.explain for hit in search(engine, "Ann house").hits}
    told = every["Bob bought a house"]
    assert told is not None and isinstance(told.graph, SignalShare) and told.graph.score > 0.0


def test_a_graph_that_is_off_behind_or_too_large_degrades_and_refuses_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    add(engine, "Ann met Bob", "Ann has a house")
    with monkeypatch.context() as patch:
        patch.setattr("muisti.core.graph.indexing.CATCH_UP", 1)
        assert any("not in the graph yet" in one for one in search(engine, "Ann house").degraded)
    with monkeypatch.context() as patch:
        patch.setattr("muisti.core.graph.pagerank.MOST", 1)
        assert any("too large" in one for one in search(engine, "Ann house").degraded)
    engine.spaces.set_policy(SPACE, {"graph": "off"})
    answer = search(engine, "Ann house")
    assert any("is off" in one for one in answer.degraded) and len(answer.hits) == 2


def test_several_spaces_are_ranked_each_by_its_own_graph(engine: Engine):
    engine.spaces.create("other")
    add(engine, "Ann met Bob", "Bob bought a house")
    engine.owner.write.add("other", [Draft(content="Bob bought a house")])
    parts = [Part(SPACE), Part("other")]
    query = Query(text="Ann house", options=Options(rankings={"graph": WEIGHT}))
    plain = {hit.memory.id: hit.score for hit in engine.owner.read.search_spaces(parts, Query(text="Ann house")).hits}
    ratios: dict[str, float] = {}
    for hit in engine.owner.read.search_spaces(parts, query).hits:
        ratios[hit.memory.space] = max(ratios.get(hit.memory.space, 0.0), hit.score / plain[hit.memory.id])
    assert ratios[SPACE] == pytest.approx(1 + WEIGHT) and ratios["other"] == pytest.approx(1.0)


@pytest.mark.parametrize(("rankings", "mode", "said"), [
    ({"graph": 2.0}, "hybrid", "between 0 and 1"),
    ({"moon": 0.1}, "hybrid", "no such ranking"),
    ({"graph": 0.1}, "recent", "ranks no text"),
])  # fmt: skip
def test_bad_weights_are_refused(engine: Engine, rankings: dict[str, float], mode: str, said: str):
    add(engine, "Ann")
    with pytest.raises(InvalidInput, match=said):
        engine.owner.read.search(SPACE, Query(text="Ann", mode=mode, options=Options(rankings=rankings)))  # pyright: ignore[reportArgumentType]
