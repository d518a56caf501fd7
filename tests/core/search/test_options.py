"""Every option keeps the promises of a search: filter first, the limit, the same answer twice, scores that add up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, ModelMismatch, NotFound
from muisti.core.model.hits import Answer, Hit, Reasoned, Recency
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft, Memory
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import PRESETS, Options, Query
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, add, open_engine
from tests.examples import few

pytestmark = pytest.mark.one_store

DAY = 86_400_000_000
WORDS = ["fox", "dog", "tree", "lake", "sun", "moon", "river", "stone"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
tags = st.lists(st.sampled_from(["fox", "old lake", "c"]), unique=True, max_size=2).map(tuple)
notes = st.lists(
    st.fixed_dictionaries({
        "content": sentences,
        "tags": tags,
        "category": st.sampled_from(["Red", "blue", None]),
        "importance": st.sampled_from(["low", "medium", "critical"]),
        "event_at": st.integers(0, 90).map(lambda days: from_us(NOON - days * DAY)),
        "metadata": st.integers(1, 5).map(lambda turn: {"session": "s1", "turn": turn}),
    }),
    min_size=1,
    max_size=25,
)  # fmt: skip
options = st.sampled_from([
    Options(group_by="category"),
    Options(group_by="metadata.turn"),
    Options(group_by="importance", diversity=0.4),
    Options(diversity=0.7),
    Options(context_window=2),
    Options(min_score=0.3),
    Options(signals={"tag": 0.5, "position": 0.3, "recency": 0.4}),
    Options(signals={"tag": 0.2}, boost_tags={"C": 1.0}, tag_rule="sum", group_by="category"),
    Options(preset="tag-focused", boost_tags={"old lake": 0.7}, tag_rule="average"),
    Options(preset="balanced", diversity=0.3, context_window=1),
])  # fmt: skip
filters: st.SearchStrategy[tuple[Any, Callable[[Memory], bool]]] = st.sampled_from([
    (None, lambda m: True),
    ({"tags": "fox"}, lambda m: "fox" in m.tags),
    ({"not": {"importance": "low"}}, lambda m: m.importance != "low"),
    ({"category": "red"}, lambda m: m.category == "Red"),
])  # fmt: skip
modes = st.sampled_from(["hybrid", "semantic", "keyword", "metadata"])


def recomputed(hit: Hit | Reasoned) -> float:
    """The score of a hit, or of a memory that is none, from the factors that explain it."""
    why = hit.explain
    assert why is not None and hit.score == pytest.approx(sum(why.parts.values()), abs=1e-12)
    score = why.fused if why.composite is UNSET else why.composite
    score *= why.recency * why.importance * why.trust * why.feedback * (1.0 if why.time is None else why.time.factor)
    if why.signals is not UNSET and why.composite is UNSET:
        score *= float(np.prod([share.contribution for share in why.signals.values()]))
    if why.signals is not UNSET and why.composite is not UNSET:
        assert why.composite == pytest.approx(sum(share.contribution for share in why.signals.values()))
    return min(score * (1.0 if why.space_weight is UNSET else why.space_weight), 1.0)


@contextmanager
def holding(path: Path, drafts: list[dict[str, Any]], **opening: Any) -> Iterator[Engine]:
    with open_engine(path / "muisti.db", clock=Clock(), **opening) as engine:
        engine.owner.write.add(SPACE, [Draft(**draft) for draft in drafts], on_conflict="keep")
        yield engine


def ask(engine: Engine, caller: Caller | None = None, **asked: Any) -> Answer:
    memories = engine.owner if caller is None else engine.seen_by(caller)
    return memories.read.search(SPACE, Query(**{"text": "fox by the lake", "reference_time": NOON, **asked}))


def ids(answer: Answer) -> list[str]:
    return [hit.memory.id for hit in answer.hits]


@given(notes, options, filters, modes, st.integers(1, 8))
def test_each_option_keeps_filter_limit_order_and_explanation(
    tmp_path_factory: Any, drafts: Any, chosen: Options, narrow: Any, mode: Any, limit: int
):
    stated, passes = narrow
    filter = None if stated is None else parse(stated)
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        asked = {"mode": mode, "limit": limit, "filter": filter, "explain": True, "options": chosen}
        answer, again = ask(engine, **asked), ask(engine, **asked)
        plain = ask(engine, mode=mode, limit=limit, filter=filter)
    assert answer.hits == again.hits
    assert len(answer.hits) <= limit and len(set(ids(answer))) == len(answer.hits)
    assert all(passes(hit.memory) for hit in answer.hits)
    assert (answer.total, answer.evidence, answer.strength) == (plain.total, plain.evidence, plain.strength)
    assert all(hit.score == pytest.approx(recomputed(hit), abs=1e-12) for hit in answer.hits)
    assert all(hit.score >= chosen.min_score for hit in answer.hits)
    assert all(hit.explain is not None and hit.explain.sentence.endswith(".") for hit in answer.hits)
    if not chosen.diversity and not chosen.weighs and mode != "metadata":
        assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


@few
@given(notes, modes)
def test_options_that_change_nothing_give_the_plain_answer(tmp_path_factory: Any, drafts: Any, mode: Any):
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        plain = ask(engine, mode=mode, explain=True)
        assert ask(engine, mode=mode, explain=True, options=Options()).hits == plain.hits
        assert ids(ask(engine, mode=mode, options=Options(min_score=1e-9))) == ids(plain)


@few
@given(notes, st.integers(0, 24))
def test_similar_to_ranks_by_the_stored_vector_and_never_finds_the_memory_itself(
    tmp_path_factory: Any, drafts: Any, chosen: int
):
    encoder = WordEncoder()
    with holding(tmp_path_factory.mktemp("db"), drafts, encoder=encoder) as engine:
        stored = engine.owner.read.list(SPACE, limit=100).items
        like = stored[chosen % len(stored)]
        embedded = encoder.calls
        answer = ask(engine, text="", mode="semantic", limit=100, explain=True, options=Options(similar_to=like.id))
        assert encoder.calls == embedded
    others = [memory for memory in stored if memory.id != like.id]
    exact = encoder.encode([memory.content for memory in others]) @ encoder.encode_query(like.content) if others else ()
    wanted = {memory.id: cosine for memory, cosine in zip(others, exact, strict=True)}
    assert like.id not in ids(answer) and answer.total == len(others)
    for hit in answer.hits:
        assert hit.explain is not None and hit.explain.cosine == pytest.approx(wanted[hit.memory.id], abs=1e-3)


def test_similar_to_reads_quotes_times_and_names_of_a_memory_as_plain_words(engine: Engine):
    (like, *_) = add(engine, 'yesterday Ann said "red fox"', "a red fox slept", "Ann slept")
    answer = ask(engine, text="", explain=True, options=Options(similar_to=like))
    assert {hit.memory.content for hit in answer.hits} == {"a red fox slept", "Ann slept"}
    assert all(hit.explain is not None and hit.explain.time is None for hit in answer.hits)


@few
@given(notes, modes, st.sampled_from(["category", "importance", "metadata.turn", "author"]))
def test_a_group_has_its_best_hit_and_its_counts_add_up(tmp_path_factory: Any, drafts: Any, mode: Any, field: str):
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        plain = ask(engine, mode=mode, limit=100)
        grouped = ask(engine, mode=mode, limit=100, options=Options(group_by=field))

    def value(memory: Memory) -> Any:
        return memory.metadata["turn"] if field == "metadata.turn" else getattr(memory, field)

    best: dict[Any, str] = {}
    for hit in plain.hits:
        best.setdefault(value(hit.memory), hit.memory.id)
    assert ids(grouped) == [*best.values()]
    for hit in grouped.hits:
        assert hit.group is not None and hit.group.value == value(hit.memory)
        assert hit.group.ranked == sum(value(other.memory) == hit.group.value for other in plain.hits)
    counted = sum(hit.group.count for hit in grouped.hits if hit.group)
    if mode in ("keyword", "metadata"):  # elsewhere memories that are no candidates may form more groups
        assert counted == plain.total
    assert counted <= plain.total


def test_groups_beyond_the_usual_candidates_are_found(engine: Engine):
    add(engine, *(f"fox lake number {n}" for n in range(300)), category="many")
    add(engine, "a fox far from any water and from everything else here", category="one")
    hits = ask(engine, mode="keyword", options=Options(group_by="category")).hits
    assert [(hit.memory.category, hit.group.count if hit.group else 0) for hit in hits] == [("many", 300), ("one", 1)]


@few
@given(notes, st.sampled_from([0.2, 0.5, 0.9, 1.0]), st.integers(1, 6))
def test_diverse_hits_follow_maximal_marginal_relevance(
    tmp_path_factory: Any, drafts: Any, diversity: float, limit: int
):
    encoder = WordEncoder()
    with holding(tmp_path_factory.mktemp("db"), drafts, encoder=encoder) as engine:
        plain = ask(engine, mode="keyword", limit=100)
        chosen = ask(engine, mode="keyword", limit=limit, explain=True, options=Options(diversity=diversity))
    texts = {hit.memory.id: hit.memory.content for hit in plain.hits}
    vectors = dict(zip(texts, encoder.encode([*texts.values()]), strict=True)) if texts else {}
    best = plain.hits[0].score if plain.hits else 1.0
    relevance = {hit.memory.id: hit.score / best for hit in plain.hits}
    taken: list[str] = []
    for hit in chosen.hits:
        values = {
            one: (1 - diversity) * relevance[one]
            - diversity * max([0.0, *(float(vectors[one] @ vectors[two]) for two in taken)])
            for one in relevance
            if one not in taken
        }
        assert values[hit.memory.id] == pytest.approx(max(values.values()), abs=1e-3)
        assert hit.explain is not None and hit.explain.novelty is not UNSET
        assert hit.explain.novelty.value == pytest.approx(values[hit.memory.id], abs=1e-3)
        taken.append(hit.memory.id)
    assert len(taken) == min(limit, len(texts))


def test_without_vectors_nothing_is_diversified_and_the_answer_says_so(tmp_path: Path):
    with open_engine(tmp_path / "muisti.db", embeddings=False) as engine:
        add(engine, "fox lake", "fox lake again", "lake")
        answer = ask(engine, options=Options(diversity=0.5))
        assert ids(answer) == ids(ask(engine))
    assert any("not diversified" in told for told in answer.degraded)


@few
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 9), st.sampled_from(["active", "active", "candidate"])),
        min_size=1,
        max_size=15,
    ),
    st.integers(1, 3),
)
def test_neighbours_are_the_visible_turns_around_a_hit(tmp_path_factory: Any, turns: Any, reach: int):
    drafts = [
        {"content": f"fox {n}", "status": status, "metadata": {"session": session, "turn": turn}}
        for n, (session, turn, status) in enumerate(turns)
    ]
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        hits = ask(engine, text="fox", limit=100, options=Options(context_window=reach)).hits
    seen = [(session, turn, n) for n, (session, turn, status) in enumerate(turns) if status == "active"]
    for hit in hits:
        number = int(hit.memory.content.split()[1])
        session = [one for one in sorted(seen) if one[0] == turns[number][0]]
        place = [n for *_, n in session].index(number)
        around = hit.context
        assert around is not None
        assert [m.content for m in around.before] == [f"fox {n}" for *_, n in session[max(0, place - reach) : place]]
        assert [m.content for m in around.after] == [f"fox {n}" for *_, n in session[place + 1 : place + 1 + reach]]


def test_neighbours_of_a_passage_are_the_text_around_it(tmp_path: Path):
    text = " ".join(f"Sentence {n} is about stones and rivers." for n in range(200)).replace("Sentence 100", "A fox")
    with open_engine(tmp_path / "muisti.db") as engine:
        add(engine, text)
        (narrow,) = ask(engine, text="fox", mode="keyword").hits
        (wide,) = ask(engine, text="fox", mode="keyword", options=Options(context_window=1)).hits
    assert wide.context is not None and wide.passage == narrow.passage
    assert wide.context.start < narrow.passage.start and wide.context.stop > narrow.passage.stop
    assert "A fox" in text[wide.context.start : wide.context.stop]


def test_neighbours_that_the_caller_may_not_see_are_stepped_over(engine: Engine):
    for turn, category in enumerate(["mine", "theirs", "mine", "theirs"]):
        add(engine, f"fox {turn}", category=category, metadata={"session": "s", "turn": turn})
    (hit, *_) = ask(engine, Caller(category="mine"), text="fox 2", options=Options(context_window=3)).hits
    assert hit.context is not None
    assert [m.content for m in (*hit.context.before, *hit.context.after)] == ["fox 0"]


def test_a_caller_of_one_category_searches_by_no_other_memory(engine: Engine):
    (secret,) = add(engine, "the fox is at the lake", category="theirs")
    (own, _) = add(engine, "a fox", "a lake", category="mine")
    caller = Caller(category="mine")
    for unseen in (secret, "0197a3c0-5f4e-7000-8000-0123456789ab"):
        with pytest.raises(NotFound) as refused:
            ask(engine, caller, text="", options=Options(similar_to=unseen))
        assert unseen in str(refused.value)
    assert [hit.memory.content for hit in ask(engine, caller, text="", options=Options(similar_to=own)).hits] == [
        "a lake"
    ]
    groups = ask(engine, caller, options=Options(group_by="category")).hits
    assert [hit.group.count for hit in groups if hit.group] == [2]


@few
@given(notes, st.floats(0.01, 0.5))
def test_a_signal_takes_no_more_than_its_weight(tmp_path_factory: Any, drafts: Any, weight: float):
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        plain = {hit.memory.id: hit.score for hit in ask(engine, limit=100).hits}
        weighed = ask(engine, limit=100, options=Options(signals={"tag": weight, "position": weight})).hits
    for hit in weighed:
        assert (1 - weight) ** 2 * plain[hit.memory.id] - 1e-12 <= hit.score <= plain[hit.memory.id] + 1e-12


@few
@given(notes, st.sampled_from(sorted(PRESETS)), st.sampled_from(["max", "average", "sum"]))
def test_a_preset_is_hazinas_composite(tmp_path_factory: Any, drafts: Any, preset: Any, rule: Any):
    weights = PRESETS[preset]
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        plain = {hit.memory.id: hit for hit in ask(engine, mode="semantic", limit=100, explain=True).hits}
        hits = ask(engine, mode="semantic", limit=100, explain=True, options=Options(preset=preset, tag_rule=rule)).hits
    scores = {"fox": 1.0, "old lake": 0.5, "c": 0.0}
    spoken = any(scores[tag] for hit in hits for tag in hit.memory.tags)
    for hit in hits:
        own = [scores[tag] for tag in hit.memory.tags]
        tag = 0.5
        if own and spoken:
            tag = {"max": max(own), "average": sum(own) / len(own), "sum": min(1.0, sum(own))}[rule]
        why = hit.explain
        assert why is not None and why.age_days is not None
        same = plain.pop(hit.memory.id, None)
        cosine = 0.0 if same is None or same.explain is None else same.explain.fused  # without one, tags found it
        signals = {"similarity": cosine, "tag": tag, "recency": 0.5 ** (why.age_days / 30), "position": 1.0}
        assert why.composite == pytest.approx(sum(weights[name] * signals[name] for name in weights))
        assert hit.score == pytest.approx(recomputed(hit))
    assert not plain


def test_the_recency_of_a_composite_is_that_of_the_request(tmp_path: Path):
    with holding(tmp_path, [{"content": "fox", "event_at": from_us(NOON - 10 * DAY)}]) as engine:
        asked = {"recency": Recency(half_life_days=10), "options": Options(preset="balanced"), "explain": True}
        (hit,) = ask(engine, **asked).hits
    assert hit.explain is not None and hit.explain.signals is not UNSET
    assert hit.explain.signals["recency"].score == pytest.approx(0.5)
    assert hit.explain.recency == 1.0


@pytest.mark.parametrize(("fields", "path"), [
    ({"options": Options(similar_to="nonsense"), "text": ""}, "$.similar_to"),
    ({"options": Options(similar_to="0197a3c0-5f4e-7000-8000-0123456789ab")}, "$.query"),
    ({"options": Options(group_by="created_at")}, "$.group_by"),
    ({"options": Options(group_by="metadata.")}, "$.group_by"),
    ({"options": Options(diversity=1.1)}, "$.diversity"),
    ({"options": Options(context_window=11)}, "$.context_window"),
    ({"options": Options(min_score=-1)}, "$.min_score"),
    ({"options": Options(signals={"tag": 0.6})}, "$.signals.tag"),
    ({"options": Options(signals={"tag": 0.1}, preset="balanced")}, "$.preset"),
    ({"options": Options(boost_tags={"a": 1.0})}, "$.boost_tags"),
    ({"options": Options(signals={"tag": 0.1}, boost_tags={"a": 2.0})}, "$.boost_tags.a"),
    ({"options": Options(signals={"tag": 0.1}), "mode": "recent"}, "$.mode"),
])  # fmt: skip
def test_a_bad_option_is_named(engine: Engine, fields: dict[str, Any], path: str):
    with pytest.raises(InvalidInput) as refused:
        ask(engine, **fields)
    assert path in [problem.path for problem in refused.value.problems]


def test_options_work_in_the_past(engine: Engine):
    (like, other) = add(engine, "a fox at the lake", "a fox at the river", category="old")
    then = AsOf(number=engine.owner.read.list(SPACE).seq.number)
    engine.owner.write.delete(SPACE, like)
    add(engine, "a fox at the sea", category="new")
    found = ask(engine, text="", as_of=then, options=Options(similar_to=like))
    grouped = ask(engine, as_of=then, options=Options(group_by="category"))
    with pytest.raises(NotFound):
        ask(engine, text="", options=Options(similar_to=like))
    assert ids(found) == [other]
    assert [(hit.group.value, hit.group.count) for hit in grouped.hits if hit.group] == [("old", 2)]


@few
@given(notes)
def test_hits_encode_without_what_was_not_asked_for(tmp_path_factory: Any, drafts: Any):
    with holding(tmp_path_factory.mktemp("db"), drafts) as engine:
        hits = msgspec.to_builtins(ask(engine, explain=True).hits)
    for hit in hits:
        assert not {"group", "context"} & hit.keys()
        assert not {"signals", "composite", "novelty", "space_weight"} & hit["explain"].keys()


def test_a_space_of_another_model_is_ranked_by_keyword_only_unless_that_is_forbidden(tmp_path: Path):
    with open_engine(tmp_path / "muisti.db", encoder=WordEncoder("one")) as engine:
        add(engine, "fox lake", "a stone")
    with open_engine(tmp_path / "muisti.db", encoder=WordEncoder("two")) as engine:
        with pytest.raises(ModelMismatch):
            ask(engine, options=Options(fallback_to_keyword=False))
        answer = ask(engine, options=Options(min_score=0.01))
        assert answer.hits == ask(engine, mode="keyword").hits and len(answer.hits) == 1
    assert answer.strategy == "keyword" and any("does not have" in told for told in answer.degraded)


def test_a_composite_finds_memories_by_their_tags_alone_and_evidence_stays(engine: Engine):
    add(engine, *(f"fox {n}" for n in range(60)))
    (by_word, by_boost) = (add(engine, text, tags=(tag,))[0] for text, tag in (("a", "Old Lake"), ("b", "other")))
    plain = ask(engine, text="fox by the old lake", limit=100)
    asked = {"text": "fox by the old lake", "limit": 100, "explain": True}
    found = ask(engine, **asked, options=Options(preset="tag-focused", boost_tags={"OTHER": 0.9}))
    asked["limit"] = 10
    factors = ask(engine, **asked, options=Options(signals={"tag": 0.5}, boost_tags={"other": 0.9}))
    assert ids(found)[:2] == [by_word, by_boost]
    assert not {by_word, by_boost} & set(ids(factors)), "a factor lifts nothing"
    assert (found.total, found.evidence, found.strength) == (plain.total, plain.evidence, plain.strength)
    assert all(hit.score == pytest.approx(recomputed(hit)) for hit in found.hits)
