"""Everything stored can be read over MCP, in both forms, and within the requested token budget."""

import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.model.hits import Answer, Evidence, Hit, Timings
from muisti.core.model.ids import id_text
from muisti.core.model.values import Draft, Memory, Page, Passage, Seq
from muisti.service.mcp.token_budget import listed, packed, tokens
from muisti.service.tools.rendering import HIDDEN, quoted, shown
from tests.examples import examples
from tests.service.mcp_client import answer, call, text_of

pytestmark = pytest.mark.one_store

AT = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
UNUSUAL: dict[str, Any] = {
    "id": "0190a0b0-0000-7000-8000-000000000001", "space": "s", "version": 7, "kind": "exchange", "category": "rules",
    "key": "deploy", "content": "We deploy", "type": "guard", "status": "candidate", "importance": "critical",
    "author": "Ann", "reason": "because", "source": "a-page", "tags": ("blue", "red"), "metadata": {"team": "core"},
    "parent_id": "0190a0b0-0000-7000-8000-000000000002", "supersedes": "0190a0b0-0000-7000-8000-000000000003",
    "superseded_by": "0190a0b0-0000-7000-8000-000000000004", "source_class": "web", "trust": 20, "tokens": 2,
    "derived_from": ("0190a0b0-0000-7000-8000-000000000005",), "session": "s-1", "conversation": "c-42",
    "topic": "t1", "turn": 17, "document": "docs/a.md", "position": 4_096, "structure": {"reply_at": 11},
    "anchors": ({"path": "app.py", "symbol": "f", "state": "moved", "now": "lib.py:f"},),
} | {
    name: AT + timedelta(days=number)
    for number, name in enumerate(("created_at", "updated_at", "event_at", "valid_from", "valid_to", "expires_at"))
}  # fmt: skip
PLAIN = {name: None for name in UNUSUAL} | {
    "space": "s", "version": 1, "kind": "memory", "content": "We deploy", "type": "fact", "status": "active",
    "importance": "medium", "tags": (), "metadata": {}, "created_at": AT, "updated_at": AT, "source_class": "unknown",
    "derived_from": (), "trust": 50, "tokens": 2, "structure": {},
}  # fmt: skip


def a_memory(**fields: Any) -> Memory:
    return Memory(**(PLAIN | {"id": id_text(secrets.token_bytes(16))} | fields))


@pytest.mark.parametrize("name", [name for name in Memory.__struct_fields__ if name not in HIDDEN])
def test_every_field_of_a_memory_is_shown_in_both_forms(name: str):
    one = shown(Memory(**UNUSUAL), full=True)
    assert name in one
    values = one[name] if isinstance(one[name], (list, tuple)) else [one[name]]
    found = [v if isinstance(v, str) else json.dumps(v, separators=(",", ":")) for v in values]
    assert [value for value in found if value not in quoted(one)] == []


def test_what_says_nothing_is_left_out():
    assert shown(a_memory()).keys() == {"id", "version", "content", "type", "updated_at"}
    head, line = quoted(shown(a_memory(type="fact"))).split("\n")
    assert head.split(" ")[1:] == ["v1", "2026-05-01"] and line == "> We deploy"


def test_what_an_agent_stores_it_reads(client: httpx.Client):
    given = {
        "content": "We deploy on Fridays", "reason": "the team is there", "source": "minutes.md", "status": "candidate",
        "importance": "high", "type": "procedure", "metadata": {"k": "v"}, "expires_at": "2999-01-01T00:00:00Z",
    }  # fmt: skip
    made = answer(client, "remember", **given)["memory"]["id"]
    everything = {"filter": {"status": ["active", "candidate"]}, "full": True}
    for tool, arguments in (
        ("get_memory", {"id": made}),
        ("recall", {"query": "deploy", **everything}),
        ("list_memories", everything),
    ):
        found = call(client, tool, **arguments)
        structured = found["structuredContent"]
        memory = structured["memory"] if "memory" in structured else structured["memories"][0]
        assert given.items() <= memory.items() and memory["created_at"] == memory["updated_at"], tool
        for words in ("the team is there", "minutes.md", "candidate", "high", "procedure", '{"k":"v"}', "2999"):
            assert words in text_of(found), (tool, words)


def an_answer(memories: list[Memory], evidence: Evidence = "strong", total: int = 10**9) -> Answer:
    hits = (Hit(memory=one, score=0.5, ranks={}, passage=Passage(0, 0, len(one.content))) for one in memories)
    return Answer(
        hits=tuple(hits), total=total, evidence=evidence, strength=1.0, strategy="hybrid", degraded=(),
        seq=Seq("e", 1), timings=Timings(),
    )  # fmt: skip


@pytest.mark.parametrize(("evidence", "applies", "number", "begins"), [
    ("strong", 0.9, 1, "1 memory, evidence: strong."), ("strong", None, 2, "2 memories, evidence: strong."),
    ("weak", 0.9, 1, "Possibly related: 1 memory, evidence: weak."),
    ("none", 0.6, 1, "Possibly related: 1 memory, evidence: none."),
    ("none", 0.1, 3, "Probably unrelated: 3 memories, evidence: none."),
    ("none", 0.1, 0, "Nothing found (evidence: none)."),
    ("uncalibrated", None, 1, "1 memory, evidence: uncalibrated."),
])  # fmt: skip
def test_an_answer_is_headed_by_how_sure_it_is(evidence: Evidence, applies: float | None, number: int, begins: str):
    found = replace(an_answer([a_memory() for _ in range(number)], evidence), applies=applies)
    assert packed(found, 2000)[1].startswith(begins)


def test_memories_that_probably_do_not_answer_are_counted_and_the_nearest_is_named_where_there_is_no_other():
    found = an_answer([a_memory(content="tea\nand cake")])
    structured, text = packed(replace(found, left_out=2), 2000)
    assert structured["doubtful"] == 2 and "2 more memories were found that probably don't answer this" in text
    structured, text = packed(replace(found, hits=(), left_out=1, nearest=found.hits[0]), 2000)
    assert structured["memories"] == [] and structured["doubtful"] == 1
    assert text.startswith("Nothing stored answers this (evidence: strong).") and text.endswith("tea\\u000aand cake")


def test_without_evidence_nothing_is_shown_and_nothing_counts_as_used(engine: Engine, client: httpx.Client):
    made = engine.owner.write.add("default", [Draft(content="Anna prefers tea to coffee")]).memories[0].id
    query = {"query": "tea with zebras, lions, elephants and giraffes in Kenya", "mode": "keyword"}
    held = answer(client, "recall", **query)
    engine.flush_retrievals()
    assert (held["evidence"], held["memories"]) == ("none", [])
    assert engine.owner.review.telemetry("default", made).retrieval_count == 0
    assert [one["id"] for one in answer(client, "recall", **query, min_evidence="none")["memories"]] == [made]
    found = call(client, "recall", query="x", min_evidence="some")["structuredContent"]
    assert found["errors"][0]["path"] == "$.min_evidence"


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=200)
NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
MEMORIES = st.builds(
    lambda content, category, key, reason: a_memory(content=content, category=category, key=key, reason=reason),
    WORDS, NAMES, NAMES, NAMES,
)  # fmt: skip


@examples(40)
@given(MEMORIES, st.integers(200, 400), st.booleans())
def test_a_memory_that_fits_is_whole_and_another_keeps_its_address(memory: Memory, budget: int, full: bool):
    for structured, text in (
        packed(an_answer([memory]), budget, full=full),
        listed(Page(items=(memory,), next_cursor=None, seq=Seq("e", 1)), 0, budget, full=full),
    ):
        assert max(tokens(json.dumps(structured, ensure_ascii=False, separators=(",", ":"))), tokens(text)) <= budget
        (one,) = structured["memories"]
        whole = {**structured, "memories": [{**shown(memory), "score": 0.5}]}
        size = tokens(json.dumps(whole, ensure_ascii=False, separators=(",", ":")))
        assert "cut" not in one or size + 30 > budget  # 30: by which its text may be longer
        assert one["version"] == 1
        if "cut" in one and all(name is None or len(name) <= 8 for name in (memory.category, memory.key)):
            assert [one.get(name) for name in ("category", "key")] == [memory.category, memory.key]


def test_the_least_budget_holds_a_short_memory_whole(client: httpx.Client):
    answer(client, "remember", content="The quick brown fox jumps", category="animals", key="fox", tags=["a"])
    for tool, arguments in (("recall", {"query": "fox"}), ("list_memories", {})):
        (one,) = answer(client, tool, **arguments, max_tokens=200)["memories"]
        assert "cut" not in one
        assert (one["category"], one["key"], one["version"]) == ("animals", "fox", 1)


def test_the_short_forms_narrow_and_match_and_recency_rank(engine: Engine, client: httpx.Client, clock: Any):
    def made(content: str, **more: Any) -> str:
        return engine.owner.write.add("default", [Draft(content=content, **more)], on_conflict="keep").memories[0].id

    old = made("we deploy the blue service", author="Ann", category="rules", tags=("a",))
    clock.pass_days(40)
    new = made("we deploy the blue service today", author="Bob", tags=("b",))
    now = datetime.fromtimestamp(clock() / 1e6, UTC)
    yesterday = (now - timedelta(days=1)).isoformat()

    def ids(tool: str, **arguments: Any) -> list[str]:
        query = {"query": "deploy blue service"} if tool == "recall" else {}
        return [one["id"] for one in answer(client, tool, **query, **arguments)["memories"]]

    for tool in ("recall", "list_memories"):
        assert sorted(ids(tool)) == sorted([old, new])
        assert ids(tool, author="ann") == ids(tool, changed_before=yesterday) == ids(tool, tags=["a"]) == [old]
        assert ids(tool, changed_after=yesterday) == ids(tool, author="BOB") == ids(tool, filter={"tags": "b"}) == [new]
        assert ids(tool, author="ann", changed_after=yesterday) == []
        assert ids(tool, category="Rules", author="ann", tags=["a", "x"], filter={"type": "fact"}) == [old]
        for name in ("changed_after", "changed_before"):
            query = {"query": "x"} if tool == "recall" else {}
            found = call(client, tool, **query, **{name: "soon"})["structuredContent"]
            assert found["errors"][0]["path"] == f"$.{name}"
    assert ids("recall")[0] == old
    assert ids("recall", recency_weight=0.9, half_life_days=5)[0] == new
    assert ids("recall", match="all") == [old, new] and ids("recall", match="phrase") == []
    assert [one["id"] for one in answer(client, "recall", query="blue today", match="all")["memories"]] == [new]
    for name, value in (("recency_weight", 2), ("half_life_days", 0)):
        found = call(client, "recall", query="x", **{name: value})["structuredContent"]
        assert found["errors"][0]["path"] == f"$.{name}" and found["detail"].startswith(f"{name}: ")


def test_a_list_is_sorted_by_creation_or_by_change_on_every_page(engine: Engine, client: httpx.Client, clock: Any):
    made: list[str] = []
    for number in range(5):
        clock.pass_days(1)
        made.append(
            engine.owner.write.add("default", [Draft(content=f"Fact number {number}")], on_conflict="keep")
            .memories[0]
            .id
        )
    clock.pass_days(1)
    engine.owner.write.update("default", made[0], {"reason": "late"})
    changed = [*made[1:], made[0]]
    for sort, wanted in (
        (None, made[::-1]), ("created_at", made), ("-created_at", made[::-1]), ("updated_at", changed),
        ("-updated_at", changed[::-1]),
    ):  # fmt: skip
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = answer(client, "list_memories", limit=2, **({"sort": sort} if sort else {}), **cursor)
            found += [one["id"] for one in page["memories"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert found == wanted, sort
    refused = call(client, "list_memories", sort="size")["structuredContent"]
    assert refused["errors"][0]["path"] == "$.sort"
