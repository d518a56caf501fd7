"""Why a memory is a hit or none: the reasons agree with the hits, and the ranks with a longer search."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Answer, Reasoned
from muisti.core.model.ids import id_text
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Options, Query
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, add, open_engine
from tests.core.search.test_options import filters, notes, recomputed

pytestmark = pytest.mark.one_store

DAY = 86_400_000_000
NOBODY = id_text(bytes(16))


def ask(engine: Engine, ids: list[str], caller: Caller | None = None, **asked: Any) -> Answer:
    memories = engine.owner if caller is None else engine.seen_by(caller)
    options = replace(asked.pop("options", Options()), explain_ids=(*ids,))
    return memories.read.search(SPACE, Query(**{"text": "fox by the lake", "options": options, **asked}))


def why(engine: Engine, memory_id: str, caller: Caller | None = None, **asked: Any) -> Reasoned:
    (one,) = ask(engine, [memory_id], caller, **asked).explained
    return one


@given(
    notes,
    st.sampled_from(["hybrid", "semantic", "keyword", "metadata", "recent"]),
    filters,
    st.integers(1, 6),
    st.sampled_from(["absolute", "rrf", "convex"]),
)
def test_each_memory_is_a_hit_or_has_its_reason(
    tmp_path_factory: Any, drafts: Any, mode: Any, narrow: Any, limit: int, fusion: Any
):
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db", clock=Clock(), encoder=WordEncoder()) as engine:
        written = engine.owner.write.add(SPACE, [Draft(**draft) for draft in drafts], on_conflict="keep")
        memories = {one.id: one for one in written.memories}
        asked = {"mode": mode, "fusion": fusion, "filter": None if narrow[0] is None else parse(narrow[0])}
        plain = engine.owner.read.search(SPACE, Query(text="fox by the lake", limit=limit, **asked))
        every = ask(engine, [], limit=100, **asked)
        order = {hit.memory.id: rank for rank, hit in enumerate(every.hits, start=1)}
        scores = {hit.memory.id: hit.score for hit in every.hits}
        ranks = {hit.memory.id: hit.ranks for hit in every.hits}
        for memory_id, memory in [*memories.items()][:10]:
            answer = ask(engine, [memory_id], limit=limit, **asked)
            assert [hit.memory.id for hit in answer.hits] == [hit.memory.id for hit in plain.hits]
            assert [hit.score for hit in answer.hits] == pytest.approx([hit.score for hit in plain.hits], rel=1e-9)
            (one,) = answer.explained
            assert (one.reason == "filter") == (not narrow[1](memory))
            assert (one.reason == "found") == (memory_id in [hit.memory.id for hit in plain.hits])
            if memory_id in order:
                assert (one.rank, one.score) == (order[memory_id], pytest.approx(scores[memory_id]))
                assert one.reason == ("found" if order[memory_id] <= limit else "limit")
                assert {**one.ranks, **ranks[memory_id]} == one.ranks
                assert one.explain is not None
            else:
                assert one.reason in ("filter", "no_match")


def test_ranks_go_beyond_what_the_rankings_propose(engine: Engine):
    ids = add(engine, *(f"fox {'dog ' * number}" for number in range(80)))
    for mode in ("keyword", "hybrid"):
        last = why(engine, ids[-1], text="fox", mode=mode, limit=3)
        assert (last.reason, last.ranks["lexical"]) == ("not_proposed", 80)
        assert last.rank is not None and last.score is not None and last.last_score is not None
        assert last.rank > 50 and last.score < last.last_score
        found = engine.owner.read.search(SPACE, Query(text="fox", mode=mode, limit=100, explain=True))
        own = next(hit for hit in found.hits if hit.memory.id == ids[-1])
        assert last.score == pytest.approx(own.score)
        assert last.explain is not None and own.explain is not None
        assert last.explain.fused == pytest.approx(own.explain.fused)


def test_states_are_told_before_ranks(engine: Engine, clock: Clock):
    write = engine.owner.write
    plain, old, gone = add(engine, "a fox", "an old fox", "a gone fox")
    (short,) = add(engine, "a short fox", expires_at=from_us(NOON + DAY))
    (waiting,) = add(engine, "a waiting fox", status="candidate")
    new = write.supersede(SPACE, old, Draft(content="a new fox")).memories[0]
    before = engine.spaces.get(SPACE).seq
    write.delete(SPACE, gone)
    clock.pass_days(2)
    (late,) = add(engine, "a late fox")
    reasons = {
        one.id: one.reason for one in ask(engine, [plain, old, gone, short, waiting, new.id, late, NOBODY]).explained
    }
    assert [*reasons.values()] == [
        "found", "superseded", "deleted", "expired", "status", "found", "found", "unknown",
    ]  # fmt: skip
    assert why(engine, old).superseded_by == new.id
    then = AsOf(number=before)
    assert why(engine, gone, as_of=then).reason == "found"
    assert why(engine, late, as_of=then).reason == "not_yet"
    assert why(engine, waiting, filter=parse({"status": "candidate"})).reason == "found"
    seeking = why(engine, plain, filter=parse({"status": "superseded"}))
    assert (seeking.reason, seeking.conditions) == ("filter", ("status",))


def test_the_conditions_that_exclude_are_named(engine: Engine):
    (red,) = add(engine, "a red fox", category="red", tags=("x",))
    asked = parse({"category": "blue", "tags": "x", "not": {"importance": "medium"}})
    assert why(engine, red, filter=asked).conditions == ("category", "importance")
    assert why(engine, red, text="fox lake", match="all").conditions == ("lake",)
    assert why(engine, red, text='fox "red dog"', match="all").conditions == ("dog", '"red dog"')
    assert why(engine, red, text='fox "red dog"').reason == "found"
    assert why(engine, red, text="", options=Options(similar_to=red)).reason == "query"
    assert why(engine, red, text="moon", mode="keyword").reason == "no_match"
    with pytest.raises(InvalidInput, match="no memory id"):
        ask(engine, ["x"])
    with pytest.raises(InvalidInput, match="at most 10"):
        ask(engine, [NOBODY] * 11)


def test_options_are_told_that_leave_a_candidate_out(engine: Engine):
    best, second = add(engine, "fox by the lake", "fox by the lake and the moon", category="a")
    (other,) = add(engine, "a lake", category="b")
    assert why(engine, second, options=Options(group_by="category")).reason == "group"
    assert why(engine, best, options=Options(group_by="category")).reason == "found"
    assert why(engine, other, options=Options(min_score=0.9)).reason == "min_score"
    assert why(engine, second, options=Options(diversity=1.0), limit=2).reason == "diversity"
    asked: dict[str, Any] = {"text": "fox zebra quark prism", "mode": "keyword", "min_evidence": "strong"}
    assert ask(engine, [], **asked).hits == ()
    unsure = why(engine, best, **asked)
    assert (unsure.reason, unsure.rank in (1, 2)) == ("evidence", True)


def test_a_caller_learns_nothing_of_what_it_does_not_see(engine: Engine):
    (red,) = add(engine, "a red fox", category="red")
    blue, gone = add(engine, "a blue fox", "another blue fox", category="blue")
    engine.owner.write.delete(SPACE, gone)
    caller = Caller("someone", category="red")
    unknown = why(engine, NOBODY, caller)
    for hidden in (blue, gone):
        one = why(engine, hidden, caller)
        assert (one.reason, one.sentence, one.rank) == (unknown.reason, unknown.sentence, None)
    assert why(engine, red, caller, filter=parse({"tags": "x"})).conditions == ("tags",)


def test_the_score_follows_from_the_factors(engine: Engine):
    ids = add(engine, *(f"fox {'dog ' * number}" for number in range(60)), event_at=from_us(NOON - 9 * DAY))
    for one in ask(engine, ids[::7], text="fox", limit=2).explained:
        assert one.explain is not None and one.score is not None
        assert recomputed(one) == pytest.approx(one.score)
