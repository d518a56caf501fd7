"""An overview counts a space, and shows what is new, candidates and conflicts, as far as the key opens them."""

from typing import Any

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.service.mcp.reads import NAMED, NEW, SHOWN
from tests.service.mcp_client import answer, call, text_of

pytestmark = pytest.mark.one_store


def add(engine: Engine, content: str, **fields: Any) -> str:
    return engine.owner.write.add("default", [Draft(content=content, **fields)], on_conflict="keep").memories[0].id


def test_an_empty_space_has_an_overview(client: httpx.Client):
    found = call(client, "overview")
    assert found["structuredContent"]["memories"] == 0 and "0 memories" in text_of(found)
    assert "categories: none" in text_of(found)


def test_it_counts_by_category_type_and_tag(engine: Engine, client: httpx.Client):
    add(engine, "Never deploy on Fridays", type="guard", category="rules", tags=("topic:deploy",))
    add(engine, "Anna prefers tea", type="preference", category="people", tags=("topic:tea", "topic:deploy"))
    add(engine, "Anna lives in Bonn", category="people")
    found = answer(client, "overview")
    assert found["memories"] == 3 and found["types"] == {"guard": 1, "preference": 1, "fact": 1}
    assert found["categories"]["counts"] == {"people": 2, "rules": 1}
    assert found["tags"]["counts"] == {"topic:deploy": 2, "topic:tea": 1}
    assert "categories: people 2, rules 1" in text_of(call(client, "overview"))


def test_what_is_new_is_shown_since_a_week_or_a_given_time(engine: Engine, client: httpx.Client, clock: Any):
    old = add(engine, "The office is in Bonn")
    seen = answer(client, "overview")["now"]
    clock.pass_days(8)
    new = add(engine, f"The office is in Cologne {'and large ' * 60}")
    found = answer(client, "overview")["new"]
    assert [one["id"] for one in found["memories"]] == [new] and not found["more"]
    assert len(found["memories"][0]["content"]) == SHOWN
    assert [one["id"] for one in answer(client, "overview", since=seen)["new"]["memories"]] == [new, old]
    later = answer(client, "overview", since="2999-01-01")["new"]
    assert later == {"since": "2999-01-01", "memories": [], "more": False}


def test_candidates_and_open_conflicts_are_shown(engine: Engine, client: httpx.Client):
    first = add(engine, "The server listens on port 9000")
    second = answer(client, "remember", content="The server listens on port 9001", on_conflict="review")["memory"]["id"]
    waiting = add(engine, "The flaky test depends on the time zone", status="candidate")
    found = answer(client, "overview")
    assert found["candidates"]["count"] == 1
    assert [one["id"] for one in found["candidates"]["memories"]] == [waiting]
    (conflict,) = found["conflicts"]["open"]
    assert conflict["kind"] == "conflict" and not found["conflicts"]["more"]
    assert (conflict["existing"]["id"], conflict["new"]["id"]) == (first, second)
    text = text_of(call(client, "overview"))
    assert "Open conflicts: 1 shown." in text and "> The server listens on port 9001" in text


def test_long_lists_are_cut_and_say_so(engine: Engine, client: httpx.Client):
    for number in range(NAMED + 3):
        add(engine, f"Fact number {number}", category=f"c{number}")
    found = answer(client, "overview")
    assert len(found["categories"]["counts"]) == NAMED and found["categories"]["left_out"] == 3
    assert len(found["new"]["memories"]) == NEW and found["new"]["more"]
    text = text_of(call(client, "overview"))
    assert ", and 3 more" in text and "list_memories with changed_after" in text


def test_every_long_answer_is_bounded_and_says_what_it_leaves_out(engine: Engine, client: httpx.Client):
    for number in range(32):
        answer(
            client, "state_graph", action="relate", name=f"Person Number{number}", kind="knows", object="Ada Lovelace"
        )
        if number % 5 == 0:  # what is little is read while a question is answered
            answer(client, "graph", action="entities")
    many = range(400)
    answer(client, "add_document", path="m.py", content="\n".join(f"def f{number}(): f0()\n" for number in many))
    answer(client, "add_document", path="long.md", content="It rains in the north. " * 5_000)
    for number in range(21):
        answer(client, "add_document", path=f"d{number}.md", content=f"# Note {number}\n\nIt rains.\n")
        turns = [{"user": f"Hello number {number}", "at": "2026-01-01T00:00:00Z"}]
        answer(client, "add_exchanges", conversation=f"c{number}", items=turns)
    made = add(engine, "Version 0", category="rules", key="one")
    for number in range(1, 13):
        answer(client, "update_memory", id=made, changes={"content": f"Version {number}"})
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("documents", {"action": "list"}, "More: cursor"),
        ("documents", {"action": "chunks", "document": "long.md"}, "More: cursor"),
        ("conversations", {"action": "list"}, "More: cursor"),
        ("memory_history", {"id": made}, "More: cursor"),
        ("list_memories", {}, "More: cursor"),
        ("code", {"action": "outline", "name": "m.py"}, "100 more are not shown"),
        ("code", {"action": "callers", "name": "m.py:f0"}, "more are not shown"),
    ]
    of_graph: list[tuple[str, dict[str, Any], str]] = [
        ("graph", {"action": "entities"}, "more are not shown"),
        ("graph", {"action": "relations"}, "More are not shown"),
        ("graph", {"action": "entity", "name": "Ada Lovelace"}, "More are not shown"),
        ("graph", {"action": "neighbours", "name": "Ada Lovelace"}, "more are not shown"),
    ]
    for tool, arguments, said in (*of_graph, *asked):
        found = call(client, tool, **arguments)
        assert not found["isError"] and said in text_of(found), (tool, arguments, text_of(found)[-300:])
        assert len(str(found)) < 150_000, tool
