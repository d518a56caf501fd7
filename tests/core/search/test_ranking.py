"""The ranking agrees with outside oracles and with a plain pipeline, whatever is filtered."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.index.lexical import B, saturation
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Mode, Recency
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.search.default_score import LATE, ORDER
from muisti.core.text.terms import index_terms, query_terms
from tests.core import reference, twins
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, add, open_engine
from tests.examples import few

WORDS = ["fox", "dog", "tree", "lake", "sun", "moon", "river", "stone", "bird", "cloud"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
notes = st.lists(
    st.fixed_dictionaries({
        "content": sentences,
        "tags": st.lists(st.sampled_from("abc"), unique=True, max_size=2).map(tuple),
        "status": st.sampled_from(["active", "active", "active", "candidate"]),
        "expires_at": st.sampled_from([None, None, None, from_us(NOON + 86_400_000_000)]),
    }),
    min_size=1,
    max_size=40,
)  # fmt: skip
choices = st.sampled_from([
    (None, lambda m: m.status == "active"),
    ({"tags": "a"}, lambda m: m.status == "active" and "a" in m.tags),
    ({"not": {"tags": {"any": ["a", "b"]}}}, lambda m: m.status == "active" and not {"a", "b"} & set(m.tags)),
    ({"status": "candidate"}, lambda m: m.status == "candidate"),
    ({"or": [{"status": "candidate"}, {"tags": "c"}]}, lambda m: m.status == "candidate" or "c" in m.tags),
])  # fmt: skip


class OkapiWithOurIdf(BM25Okapi):
    """rank-bm25 with idf = ln(1 + (N - df + .5) / (df + .5))."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {w: np.log(1 + (self.corpus_size - df + 0.5) / (df + 0.5)) for w, df in nd.items()}


@few
@given(st.lists(sentences, min_size=2, max_size=40), sentences)
def test_bm25_equals_rank_bm25(tmp_path_factory: Any, texts: list[str], question: str):
    tokens = [index_terms(text) for text in texts]
    lengths = np.array([len(t) for t in tokens])
    oracle = OkapiWithOurIdf(tokens, k1=saturation(lengths.mean()), b=B)
    wanted = oracle.get_scores(query_terms(question))
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db") as engine:
        ids = add(engine, *texts)
        hits = engine.owner.read.search(SPACE, Query(text=question, mode="keyword", limit=50, explain=True)).hits
    found = {hit.memory.id: hit.explain.bm25 for hit in hits if hit.explain}
    assert found == {i: pytest.approx(s, rel=1e-5) for i, s in zip(ids, wanted, strict=True) if s > 0}


def test_cosine_equals_numpy_for_the_shipped_model(tmp_path: Path):
    texts = [f"{a} {b} {c}" for a in WORDS[:8] for b in WORDS[2:9] for c in ("at night", "in May", "again")]
    encoder = StaticEncoder()
    exact = encoder.encode(texts) @ encoder.encode_query("a dog by the river at night")
    with open_engine(tmp_path / "muisti.db", encoder=encoder) as engine:
        ids = add(engine, *texts)
        query = Query(text="a dog by the river at night", mode="semantic", limit=50, explain=True)
        hits = engine.owner.read.search(SPACE, query).hits
    wanted = dict(zip(ids, exact.tolist(), strict=True))
    assert [h.memory.id for h in hits[:10]] == sorted(wanted, key=lambda i: -wanted[i])[:10]
    for hit in hits:
        assert hit.explain is not None and hit.explain.cosine == pytest.approx(wanted[hit.memory.id], abs=1e-5)


@few
@given(notes, choices, sentences, st.sampled_from(["hybrid", "keyword", "semantic"]), st.sampled_from([0, 2]))
def test_a_filtered_search_equals_a_plain_pipeline_over_the_rows_it_may_see(
    tmp_path_factory: Any, written: list[Any], choice: Any, question: str, mode: Mode, days: int
):
    """Statistics count default-visible rows, the filter comes before the ranking, so top-k is k of the wanted."""
    filter_json, wanted = choice
    encoder, clock = WordEncoder(), Clock()
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db", encoder=encoder, clock=clock) as engine:
        memories = engine.owner.write.add(SPACE, [Draft(**note) for note in written], on_conflict="keep").memories
        clock.pass_days(days)
        query = Query(text=question, mode=mode, limit=10, filter=None if filter_json is None else parse(filter_json))
        found = engine.owner.read.search(SPACE, query)
    unexpired = [m for m in memories if m.expires_at is None or days == 0]
    possible = reference.search(unexpired, lambda m: m.status == "active", wanted, encoder, question, mode)
    scores = {hit.memory.id: hit.score for hit in found.hits}
    expected = min(possible, key=lambda one: sum(abs(one[i] - score) for i, score in scores.items()))
    assert len(found.hits) == min(10, len(expected))
    for hit, score in zip(found.hits, sorted(expected.values(), reverse=True), strict=False):
        assert hit.score == pytest.approx(score, abs=2e-5)
        assert expected[hit.memory.id] == pytest.approx(hit.score, abs=2e-5)


def test_scores_stay_below_one_for_words_that_only_hidden_memories_have(engine: Engine):
    add(engine, "fox fox fox fox fox", status="candidate")
    add(engine, "dog dog")
    query = Query(text="fox", mode="keyword", filter=parse({"status": "candidate"}), explain=True)
    (hit,) = engine.owner.read.search(SPACE, query).hits
    assert hit.explain is not None and 0 < (hit.explain.lexical or 0) < 1


def test_a_filter_reaches_rows_that_no_pool_would_hold(engine: Engine):
    """500 better matches outside the filter do not crowd out the one inside."""
    add(engine, *(f"fox dog number {n}" for n in range(500)))
    (rare,) = add(engine, "a fox", tags=("rare",))
    for mode in ("hybrid", "keyword", "semantic", "metadata", "recent"):
        hits = engine.owner.read.search(SPACE, Query(text="fox", mode=mode, filter=parse({"tags": "rare"}))).hits
        assert [hit.memory.id for hit in hits] == [rare]


def test_a_lexical_only_match_is_still_found(engine: Engine):
    add(engine, *(f"the weather report of day {n}" for n in range(200)))
    add(engine, "ticket QX-991 is closed")
    assert engine.owner.read.search(SPACE, Query(text="QX-991")).hits[0].memory.content == "ticket QX-991 is closed"


def test_a_memory_is_found_first_by_its_own_text(engine: Engine):
    """Also where others have the same words, or more of them."""
    texts = [
        "bye Nate", "Nate, bye!", "thanks a lot, thanks, your help helps", "thanks for your help", "to be or not to be",
    ]  # fmt: skip
    add(engine, *texts)
    for text in texts:
        assert engine.owner.read.search(SPACE, Query(text=text.upper(), mode="keyword")).hits[0].memory.content == text


def test_equal_scores_come_in_the_order_of_ids(engine: Engine):
    ids = add(engine, *["same words here"] * 120)
    for mode in ("hybrid", "keyword", "semantic"):
        assert [
            h.memory.id for h in engine.owner.read.search(SPACE, Query(text="words", mode=mode, limit=100)).hits
        ] == ids[:100]


def test_a_hit_is_the_best_passage_of_its_memory(engine: Engine):
    long = " ".join(f"sentence {n} about the weather." for n in range(200)) + " The fox is in the tree."
    (wanted,) = add(engine, long)
    add(engine, "a short note on clouds")
    hits = engine.owner.read.search(SPACE, Query(text="fox tree", highlight=True)).hits
    assert [hit.memory.id for hit in hits].count(wanted) == 1
    assert hits[0].memory.id == wanted and hits[0].passage.number > 0
    assert "fox" in long[hits[0].passage.start : hits[0].passage.stop]
    assert hits[0].highlight is not None and "**fox**" in hits[0].highlight


@pytest.mark.parametrize("fusion", ["absolute", "convex", "rrf", "dbsf"])
def test_the_score_follows_from_the_factors_that_explain_it(engine: Engine, fusion: Any):
    add(engine, *(f"{a} {b}" for a in WORDS for b in WORDS[:5]), importance="high")
    recency = Recency(weight=0.5, half_life_days=7)
    query = Query(text="fox lake", fusion=fusion, explain=True, recency=recency, reference_time=NOON + 10**12, limit=50)
    for hit in engine.owner.read.search(SPACE, query).hits:
        explain = hit.explain
        assert explain is not None
        assert 0 <= explain.fused <= 1 and 0 <= hit.score <= 1
        assert explain.time is None and hit.score == pytest.approx(explain.fused * explain.recency * explain.importance)
        assert explain.bm25 == pytest.approx(sum(explain.terms.values()), abs=1e-5)
        if fusion == "absolute" and explain.lexical is not None and explain.cosine is not None:
            parts = explain.blend
            assert parts is not None
            told = explain.lexical + parts["around"] + parts["related"] - LATE * parts["late"] + ORDER * parts["order"]
            meaning = explain.cosine + parts["context"] + parts["expansion"]
            total = parts["level"] * (4 / 7 * parts["scale"] * told + 3 / 7 * meaning)
            total *= parts["brevity"] * (1 + parts["speaker"])
            assert explain.fused == pytest.approx(twins.softened(np.array([total]))[0], abs=1e-6)


def test_nothing_fresh_but_irrelevant_rises_above_what_fits(engine: Engine, clock: Clock):
    (old,) = add(engine, "the fox sleeps in the tree", event_at=from_us(NOON - 10 * 365 * 86_400_000_000))
    add(engine, *(f"cloud number {n}" for n in range(20)))
    hits = engine.owner.read.search(SPACE, Query(text="fox tree", recency=Recency())).hits
    assert hits[0].memory.id == old


@few
@given(
    st.floats(0, 1), st.sampled_from(["exponential", "linear", "half_life"]), st.lists(st.integers(0, 3000), min_size=2)
)
def test_older_never_scores_more_and_never_less_than_the_bound(
    tmp_path_factory: Any, weight: float, function: Any, days: list[int]
):
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db") as engine:
        drafts = [Draft(content="fox", event_at=from_us(NOON - day * 86_400_000_000)) for day in days[:20]]
        engine.owner.write.add(SPACE, drafts, on_conflict="keep")
        recency = Recency(weight=weight, function=function)
        query = Query(text="fox", mode="keyword", recency=recency, explain=True, reference_time=NOON, limit=50)
        hits = engine.owner.read.search(SPACE, query).hits
    ages = [hit.explain.age_days for hit in hits if hit.explain and hit.explain.age_days is not None]
    factors = [hit.explain.recency for hit in hits if hit.explain]
    assert all(1 - weight - 1e-9 <= factor <= 1 for factor in factors)
    by_age = [factor for _, factor in sorted(zip(ages, factors, strict=True), key=lambda pair: pair[0])]
    assert by_age == sorted(by_age, reverse=True)


def test_a_grace_period_costs_nothing_and_critical_memories_do_not_age(engine: Engine):
    day = 86_400_000_000
    add(engine, "fox one", event_at=from_us(NOON - 5 * day))
    add(engine, "fox two", event_at=from_us(NOON - 500 * day), importance="critical")
    query = Query(text="fox", recency=Recency(weight=1, grace_days=7), reference_time=NOON, explain=True)
    assert {hit.explain.recency for hit in engine.owner.read.search(SPACE, query).hits if hit.explain} == {1.0}


def contents(engine: Engine, **query: Any) -> list[str]:
    return [hit.memory.content for hit in engine.owner.read.search(SPACE, Query(**query)).hits]


def test_match_all_and_phrase_are_demands_on_every_mode(engine: Engine):
    add(engine, "red house", "house that is red", "red car")
    for mode in ("hybrid", "keyword", "semantic", "recent", "metadata"):
        assert set(contents(engine, text="red house", mode=mode, match="all")) == {"red house", "house that is red"}
        assert contents(engine, text="red house", mode=mode, match="phrase") == ["red house"]
        assert contents(engine, text='"red house"', mode=mode, match="all") == ["red house"]


def test_match_all_counts_the_words_of_a_whole_memory(engine: Engine):
    long = "The zebra was seen first. " + " ".join(f"Then came line {n}." for n in range(200)) + " The yak was last."
    add(engine, long, "a zebra alone", "a yak alone")
    assert contents(engine, text="zebra yak", match="all") == [long]


def test_recent_is_newest_first_and_needs_no_query(engine: Engine, clock: Clock):
    for text in ("first", "second", "third"):
        add(engine, text)
        clock.pass_days(1)
    assert contents(engine, mode="recent") == ["third", "second", "first"]
    scores = [hit.score for hit in engine.owner.read.search(SPACE, Query(mode="recent")).hits]
    assert scores == sorted(scores, reverse=True) and all(0 < score <= 1 for score in scores)


def test_metadata_and_keyword_modes_never_embed(tmp_path: Path):
    encoder = WordEncoder()
    with open_engine(tmp_path / "muisti.db", encoder=encoder) as engine:
        add(engine, "fox", metadata={"team": "core"})
        calls = encoder.calls
        assert contents(engine, mode="metadata", filter=parse({"metadata.team": "core"})) == ["fox"]
        assert contents(engine, text="fox", mode="keyword") == ["fox"]
        assert encoder.calls == calls


def test_without_embeddings_search_works_by_keyword_and_says_so(tmp_path: Path):
    with open_engine(tmp_path / "muisti.db", embeddings=False) as engine:
        add(engine, "the fox", "the dog")
        answer = engine.owner.read.search(SPACE, Query(text="fox", mode="hybrid"))
        assert [hit.memory.content for hit in answer.hits] == ["the fox"]
        assert answer.strategy == "keyword" and "embeddings are off" in answer.degraded[0]


def test_memories_written_without_embeddings_are_named_as_missing(tmp_path: Path):
    with open_engine(tmp_path / "muisti.db") as engine:
        add(engine, "the fox")
    with open_engine(tmp_path / "muisti.db", embeddings=False) as engine:
        add(engine, "the dog")
    with open_engine(tmp_path / "muisti.db") as engine:
        answer = engine.owner.read.search(SPACE, Query(text="dog"))
        assert answer.hits[0].memory.content == "the dog"
        assert answer.strategy == "hybrid" and answer.degraded[0].startswith("1 passages have no embedding")
        engine.reembed(SPACE, lambda done, total: None)
        assert engine.owner.read.search(SPACE, Query(text="dog")).degraded == ()


def test_what_has_nothing_in_common_with_the_query_is_no_hit(engine: Engine):
    add(engine, *(f"{a} {b}" for a in WORDS for b in WORDS))
    assert engine.owner.read.search(SPACE, Query(text="... !?", mode="keyword")).hits == ()
    for mode in ("hybrid", "keyword", "semantic"):
        for word in (*WORDS, "zebra", "yak"):
            hits = engine.owner.read.search(SPACE, Query(text=word, mode=mode, limit=100)).hits
            assert all(hit.score > 0 for hit in hits)


def test_total_counts_what_could_have_been_a_hit(engine: Engine):
    add(engine, *(f"fox {n}" for n in range(30)), tags=("a",))
    add(engine, *(f"dog {n}" for n in range(20)))
    assert engine.owner.read.search(SPACE, Query(text="fox", limit=3)).total == 50
    assert engine.owner.read.search(SPACE, Query(text="fox", limit=3, mode="keyword")).total == 30
    assert engine.owner.read.search(SPACE, Query(text="dog", limit=3, filter=parse({"tags": "a"}))).total == 30


@pytest.mark.parametrize(("query", "path"), [
    (Query(text=""), "$.query"),
    (Query(text="a" * 10_001), "$.query"),
    (Query(text="a\0"), "$.query"),
    (Query(text="a", limit=0), "$.limit"),
    (Query(text="a", limit=101), "$.limit"),
    (Query(text="a", alpha=1.5), "$.alpha"),
    (Query(text="a", recency=Recency(weight=2)), "$.recency.weight"),
    (Query(text="a", recency=Recency(half_life_days=0)), "$.recency.half_life_days"),
    (Query(text="a", recency=Recency(rate=float("nan"))), "$.recency.lambda"),
])  # fmt: skip
def test_a_bad_query_is_refused_by_the_name_of_its_field(engine: Engine, query: Query, path: str):
    with pytest.raises(InvalidInput) as refused:
        engine.owner.read.search(SPACE, query)
    assert [problem.path for problem in refused.value.problems] == [path]


def test_fields_count_by_the_weights_of_the_space(engine: Engine):
    engine.spaces.create("fields")
    drafts = [Draft(content="a note", author="Melanie"), Draft(content="other note", reason="asked by Melanie")]
    engine.owner.write.add("fields", drafts)
    engine.owner.write.add(SPACE, drafts)
    query = Query(text="melanie", mode="keyword")
    assert len(engine.owner.read.search("fields", query).hits) == 2
    assert engine.owner.read.search(SPACE, query).hits == ()  # content only
