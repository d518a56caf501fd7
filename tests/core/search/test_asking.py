"""A search in several spaces is that of one space with all their memories, up to the statistics of words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from muisti.core.assembly.parts import shared
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.hits import JointAnswer
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Options, Part, Query
from muisti.core.search.asking import CANDIDATES_MAX
from tests.core.assembly.given import given_of
from tests.core.fakes import NOON, Clock, WordEncoder, add, open_engine
from tests.core.search.test_options import ids, recomputed
from tests.examples import few
from tests.stores import at

pytestmark = pytest.mark.one_store

DAY = 86_400_000_000
SPACES = ("s", "t", "u")
ALL = "all"
notes = st.lists(
    st.fixed_dictionaries({
        "content": st.lists(st.sampled_from(["fox", "dog", "lake", "sun", "moon"]), min_size=1, max_size=5).map(
            " ".join
        ),
        "category": st.sampled_from(["red", "blue", None]),
        "importance": st.sampled_from(["low", "medium", "critical"]),
        "event_at": st.integers(0, 60).map(lambda days: from_us(NOON - days * DAY)),
    }),
    min_size=3,
    max_size=15,
    unique_by=lambda draft: draft["event_at"],
)  # fmt: skip


def fill(engine: Engine, drafts: Sequence[dict[str, Any]]) -> None:
    """Store every memory in the space `all`, and each in one of three others in turn."""
    made = [Draft(**draft) for draft in drafts]
    for number, space in enumerate((*SPACES, ALL)):
        if space != SPACES[0]:
            engine.spaces.create(space, CONTENT_ONLY)
        own = made if space == ALL else made[number::3]
        engine.owner.write.add(space, own, on_conflict="keep")


def ask(engine: Engine, *parts: Part, caller: Caller | None = None, **asked: Any) -> JointAnswer:
    memories = engine.owner if caller is None else engine.seen_by(caller)
    query = Query(**{"text": "fox by the lake", "reference_time": NOON, **asked})
    return memories.read.search_spaces(parts or [Part(space) for space in SPACES], query)


@few
@given(
    notes,
    st.sampled_from(["semantic", "metadata", "recent"]),
    st.integers(1, 12),
    st.sampled_from([None, {"category": "red"}, {"not": {"importance": "low"}}]),
    st.sampled_from([None, Options(group_by="category"), Options(group_by="importance"), Options(min_score=0.2)]),
)
def test_without_statistics_of_words_several_spaces_answer_as_one(
    tmp_path_factory: Any, drafts: Any, mode: Any, limit: int, narrow: Any, options: Options | None
):
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db", clock=Clock()) as engine:
        fill(engine, drafts)
        filter = None if narrow is None else parse(narrow)
        asked = {"mode": mode, "limit": limit, "filter": filter, "options": options}
        joint = ask(engine, **asked)
        single = engine.owner.read.search(ALL, Query(text="fox by the lake", reference_time=NOON, **asked))
    scores = [hit.score for hit in single.hits]
    assert [hit.score for hit in joint.hits] == pytest.approx(scores, abs=1e-9)
    if len({round(score, 9) for score in scores}) == len(scores):  # equal scores are ordered by space and id
        assert [hit.memory.content for hit in joint.hits] == [hit.memory.content for hit in single.hits]
    if options is not None and options.group_by:
        assert {(str(h.group.value), h.group.count, h.group.ranked) for h in joint.hits if h.group} == {
            (str(h.group.value), h.group.count, h.group.ranked) for h in single.hits if h.group
        } or len(scores) == limit
    assert joint.total == single.total


@few
@given(notes, st.sampled_from(["hybrid", "keyword"]))
def test_the_same_memories_in_each_space_have_the_scores_of_one(tmp_path_factory: Any, drafts: Any, mode: Any):
    """Spaces with equal memories have equal statistics, so their scores are those of one space."""
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db", clock=Clock()) as engine:
        engine.spaces.create("t", CONTENT_ONLY)
        for space in ("s", "t"):
            engine.owner.write.add(space, [Draft(**draft) for draft in drafts], on_conflict="keep")
        single = engine.owner.read.search("s", Query(text="fox by the lake", mode=mode, limit=20, reference_time=NOON))
        joint = ask(engine, Part("s"), Part("t"), mode=mode, limit=40)
    wanted = sorted((score for hit in single.hits for score in (hit.score, hit.score)), reverse=True)
    assert [hit.score for hit in joint.hits] == pytest.approx(wanted)
    assert joint.strength == single.strength and joint.evidence == single.evidence


@few
@given(notes, st.sampled_from([None, Options(diversity=0.6), Options(preset="balanced"), Options(context_window=1)]))
def test_weights_multiply_ties_go_by_space_and_explanations_add_up(tmp_path_factory: Any, drafts: Any, options: Any):
    parts = (Part("s", 0.5), Part("t"), Part("u", 0.25))
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db", clock=Clock()) as engine:
        fill(engine, drafts)
        joint, again = (ask(engine, *parts, limit=30, explain=True, options=options) for _ in range(2))
    assert joint.hits == again.hits
    weights = {part.space: part.weight for part in parts}
    for hit in joint.hits:
        assert hit.explain is not None and hit.explain.space_weight == weights[hit.memory.space]
        assert hit.score == pytest.approx(recomputed(hit))
    if options is None:
        order = [(-hit.score, SPACES.index(hit.memory.space), hit.memory.id) for hit in joint.hits]
        assert order == sorted(order)


def test_the_answer_tells_the_part_of_each_space_where_its_hits_count_as_retrieved(engine: Engine):
    engine.spaces.create("t", CONTENT_ONLY)
    (one, _) = add(engine, "a fox by the lake", "a dog")
    (two,) = add(engine, "the stock market by the lake", space="t")
    answer = ask(engine, Part("s"), Part("t", 0.5))
    seqs = {space: engine.owner.read.list(space).seq for space in ("s", "t")}
    engine.flush_retrievals()
    counts = [engine.owner.review.telemetry("s", one), engine.owner.review.telemetry("t", two)]
    with pytest.raises(NotFound, match="missing"):
        ask(engine, Part("s"), Part("missing"))
    assert [(part.name, part.weight, part.total) for part in answer.spaces] == [("s", 1.0, 2), ("t", 0.5, 1)]
    assert {part.name: part.seq for part in answer.spaces} == seqs
    assert answer.strength == max(part.strength for part in answer.spaces)
    assert [count.retrieval_count for count in counts] == [1, 1]


def test_what_one_space_cannot_do_is_said_of_that_space(tmp_path: Path):
    with open_engine(tmp_path / "muisti.db", embeddings=False) as engine:
        engine.spaces.create("t", CONTENT_ONLY)
        add(engine, "a fox")
    with open_engine(tmp_path / "muisti.db", encoder=WordEncoder()) as engine:
        add(engine, "a lake", space="t")
        answer = ask(engine, Part("s"), Part("t"))
    assert answer.strategy == "hybrid" and [part.strategy for part in answer.spaces] == ["keyword", "hybrid"]
    assert [told.split(":")[0] for told in answer.degraded] == ["s"]


@pytest.mark.parametrize(("parts", "asked", "path"), [
    ((Part("s"), Part("s")), {}, "$.spaces"),
    (tuple(Part(f"s{n}") for n in range(21)), {}, "$.spaces"),
    ((Part("s", 0.0),), {}, "$.spaces[0].weight"),
    ((Part("s"), Part("t", 1.5)), {}, "$.spaces[1].weight"),
    ((Part("s"), Part("t")), {"fusion": "rrf"}, "$.fusion"),
    ((Part("s"), Part("t")), {"as_of": AsOf(number=1)}, "$.as_of"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(engine: Engine, parts: Any, asked: dict[str, Any], path: str):
    with pytest.raises(InvalidInput) as refused:
        ask(engine, *parts, **asked)
    assert refused.value.problems[0].path == path


def test_similar_to_finds_its_memory_in_any_of_the_spaces_and_only_there_it_is_left_out(engine: Engine):
    engine.spaces.create("t", CONTENT_ONLY)
    add(engine, "a fox by the lake", category="mine")
    (like,) = add(engine, "a fox at the lake", space="t", category="theirs")
    answer = ask(engine, Part("s"), Part("t"), text="", options=Options(similar_to=like))
    assert ids_of(answer, "s") and not ids_of(answer, "t")
    with pytest.raises(NotFound):
        ask(engine, Part("s"), text="", options=Options(similar_to=like))
    with pytest.raises(NotFound):
        caller = Caller(category="mine")
        ask(engine, Part("s"), Part("t"), caller=caller, text="", options=Options(similar_to=like))


def test_more_evidence_than_there_is_holds_all_hits_back(tmp_path: Path):
    with open_engine(tmp_path / "muisti.db", embeddings=False) as engine:
        engine.spaces.create("t", CONTENT_ONLY)
        add(engine, "a fox by the lake", "a dog", "a sun")
        add(engine, "the stock market", space="t")
        answer = ask(engine, Part("s"), Part("t"), text="who repaired the engine?", min_evidence="weak")
    assert answer.evidence == "none" and not answer.hits and answer.total == 0


def test_a_program_in_the_process_may_ask_for_more_hits_than_a_request(tmp_path: Path):
    database, encoder = at(tmp_path / "muisti.db").open(), WordEncoder()
    with Engine(database, encoder, Clock()) as engine:
        engine.spaces.create("s")
        add(engine, *(f"fox {n}" for n in range(250)))
        asking = shared(given_of(database, engine)).asking
        query = Query(text="fox", limit=CANDIDATES_MAX)
        one = asking.one("s", query, Caller(), NOON)
        several = asking.several([Part("s")], query, Caller(), NOON)
    assert len(one.hits) == CANDIDATES_MAX
    assert [hit.memory.id for hit in one.hits] == [hit.memory.id for hit in several.hits]


def test_a_metadata_intent_embeds_nothing_and_is_applied_only_when_asked(tmp_path: Path):
    encoder = WordEncoder()
    with open_engine(tmp_path / "muisti.db", encoder=encoder, clock=Clock()) as engine:
        (tagged,) = add(engine, "tokens last an hour", tags=("auth",), event_at=from_us(NOON - 5 * DAY))
        add(engine, "old tokens", tags=("auth",), event_at=from_us(NOON - 50 * DAY))
        add(engine, "documents tagged auth from last week")
        text, embedded = "documents tagged auth from last week", encoder.calls
        applied = engine.owner.read.search("s", Query(text=text, options=Options(intent="applied")))
        joint = ask(engine, Part("s"), text=text, options=Options(intent="applied"))
        assert encoder.calls == embedded
        told = engine.owner.read.search("s", Query(text=text, options=Options(intent="told")))
        plain = engine.owner.read.search("s", Query(text=text))
    assert ids(applied) == [tagged] and applied.strategy == "metadata"
    assert [hit.memory.id for hit in joint.hits] == [tagged] and joint.intent == applied.intent
    assert applied.intent is not None and applied.intent.applied and applied.intent.kind == "metadata"
    assert told.intent is not None and not told.intent.applied and told.intent.sentence == applied.intent.sentence
    assert told.hits == plain.hits and plain.intent is None


def test_a_similar_intent_searches_by_the_memory_that_it_names(engine: Engine):
    (like, other) = add(engine, "a fox by the lake", "a fox")
    text = f"memories similar to {like}"
    found = engine.owner.read.search("s", Query(text=text, explain=True, options=Options(intent="applied")))
    assert ids(found)[:1] == [other] and like not in ids(found)
    assert found.hits[0].explain is not None and found.hits[0].explain.signals is UNSET


def ids_of(answer: JointAnswer, space: str) -> list[str]:
    return [hit.memory.id for hit in answer.hits if hit.memory.space == space]
