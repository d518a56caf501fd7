"""Several contents of one call are stored or refused one by one; `undo` takes back changes."""

import json
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.errors import NotFound
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.keyed import administrator, with_mode
from tests.service.mcp_client import answer, call, text_of

pytestmark = pytest.mark.one_store

TEXTS = ["The cache is Redis", "The queue is NATS", "The office is in Bonn"]


def test_several_contents_share_the_other_arguments_and_have_an_outcome_each(engine: Engine, client: httpx.Client):
    found = answer(client, "remember", contents=TEXTS, category="facts", tags=["stack"])
    assert (found["succeeded"], found["failed"]) == (3, 0)
    assert [one["memory"]["content"] for one in found["results"]] == TEXTS
    stored = engine.owner.read.list("default").items
    assert {(one.content, one.category, one.tags) for one in stored} == {(text, "facts", ("stack",)) for text in TEXTS}


def test_each_outcome_of_several_is_that_of_the_single_call(client: httpx.Client):
    answer(client, "remember", content="The server listens on port 9000")
    texts = ["The server listens on port 9001", "the server listens on  port 9000", "The log rotates at noon", " "]
    found = call(client, "remember", contents=texts, dry_run=True)
    assert not found["isError"]
    for text, outcome in zip(texts, found["structuredContent"]["results"], strict=True):
        alone = call(client, "remember", content=text, dry_run=True)["structuredContent"]
        assert outcome.keys() == alone.keys() and outcome.get("code") == alone.get("code"), text
    codes = [one.get("code") for one in found["structuredContent"]["results"]]
    assert codes == ["contradiction", "duplicate", None, "invalid_input"]


def test_one_that_is_refused_is_told_and_the_others_are_stored(engine: Engine, client: httpx.Client):
    answer(client, "remember", content=TEXTS[0])
    found = call(client, "remember", contents=TEXTS)
    assert not found["isError"]
    assert (found["structuredContent"]["succeeded"], found["structuredContent"]["failed"]) == (2, 1)
    assert "1. duplicate: " in text_of(found) and "2 of 3 memories accepted, 1 refused." in text_of(found)
    assert engine.owner.read.stats("default").memories == 3
    all_refused = call(client, "remember", contents=TEXTS)
    assert all_refused["isError"] and all_refused["structuredContent"]["succeeded"] == 0


def test_two_contents_of_one_call_that_say_the_same_are_compared_too(client: httpx.Client):
    found = answer(client, "remember", contents=["We deploy on Fridays", "we deploy on fridays"])
    assert [one.get("code") for one in found["results"]] == [None, "duplicate"]


def test_a_repeated_call_stores_each_of_several_once(engine: Engine, client: httpx.Client):
    first, second = (answer(client, "remember", contents=TEXTS, idempotency_key="once") for _ in range(2))
    assert [one["memory"]["id"] for one in first["results"]] == [one["memory"]["id"] for one in second["results"]]
    assert all(one["replayed"] for one in second["results"]) and engine.owner.read.stats("default").memories == 3
    other = call(client, "remember", contents=TEXTS[::-1], idempotency_key="once")
    assert {one["code"] for one in other["structuredContent"]["results"]} == {"idempotency_key_reused"}
    alone = call(client, "remember", content="The log rotates at noon", idempotency_key="once")
    assert alone["structuredContent"]["code"] == "idempotency_key_reused"


def test_without_a_name_the_last_change_of_the_caller_is_undone(engine: Engine, client: httpx.Client):
    made = answer(client, "remember", content="We deploy on Fridays")["memory"]["id"]
    answer(client, "update_memory", id=made, changes={"content": "We deploy daily"})
    tried = answer(client, "undo", dry_run=True)
    assert tried["dry_run"] and tried["changes"]
    assert answer(client, "get_memory", id=made)["memory"]["content"] == "We deploy daily"
    back = answer(client, "undo")
    assert [one["content"] for one in back["memories"]] == ["We deploy on Fridays"] and back["ended"] == []
    new = answer(client, "remember", content="The queue is NATS")["memory"]["id"]
    gone = call(client, "undo")
    assert gone["structuredContent"]["ended"] == [new] and f"{new} is deleted again." in text_of(gone)
    assert text_of(gone).startswith("Took back 1 change (1 created).")
    with pytest.raises(NotFound):
        engine.owner.read.get("default", new)


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "several contents": ("remember", {"contents": TEXTS}),
    "exchanges": (
        "add_exchanges",
        {"conversation": "c", "items": [{"user": "I moved to Turku.", "system": "Noted!"}, {"user": "By the river."}]},
    ),
    "a document": ("add_document", {"path": "a.md", "content": "# Deploy\n\nOn Thursdays.\n\n# Queue\n\nNATS.\n"}),
    "a deleted document": ("documents", {"action": "delete", "document": "kept.md"}),
    "a deleted conversation": ("conversations", {"action": "delete", "conversation": "kept"}),
    "clear": ("clear_all", {"confirm": "DELETE ALL MEMORIES"}),
    "a statement": ("state_graph", {"action": "relate", "name": "Ann", "kind": "works_at", "text": "Acme"}),
}


@pytest.mark.parametrize("kind", CALLS)
def test_undo_takes_back_a_whole_call(engine: Engine, client: httpx.Client, kind: str):
    answer(client, "remember", contents=["Kept one", "Kept two, about rivers"])
    answer(client, "add_document", path="kept.md", content="# One\n\nText.\n")
    answer(client, "add_exchanges", conversation="kept", items=[{"user": "Hello."}, {"user": "I like tea."}])
    tool, arguments = CALLS[kind]

    def world() -> set[tuple[str, str]]:
        told = (json.loads(line) for line in client.get("/v1/spaces/default/export").text.splitlines())
        living = [one["memory"] for one in told if one["type"] == "version" and one["died"] is None]
        return {(one["id"], one["content"]) for one in living}

    before = world()
    answer(client, tool, **arguments)
    assert world() != before
    assert "Took back " in text_of(call(client, "undo"))
    assert world() == before


def test_several_changes_of_the_caller_are_undone_and_others_are_let_be(engine: Engine):
    administrator(engine)
    one, other = (with_mode(engine, "full", "default") for _ in range(2))
    with TestClient(create_app(Settings(), engine=engine)) as client:
        made = [answer(client, "remember", one.headers, content=text)["memory"]["id"] for text in TEXTS]
        kept = answer(client, "remember", other.headers, content="Nobody else is undone")["memory"]["id"]
        undone = answer(client, "undo", one.headers, last=2)
        assert {*undone["ended"]} == {*made[1:]}
    assert {memory.id for memory in engine.owner.read.list("default").items} == {made[0], kept}


def test_a_key_that_may_not_delete_undoes_one_memory_and_not_what_it_added(engine: Engine):
    administrator(engine)
    caller = with_mode(engine, "no-delete", "default")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        made = answer(client, "remember", caller.headers, content="We deploy on Fridays")["memory"]["id"]
        answer(client, "update_memory", caller.headers, id=made, changes={"content": "We deploy daily"})
        refused = call(client, "undo", caller.headers)["structuredContent"]
        assert refused["code"] == "forbidden"
        back = answer(client, "undo", caller.headers, id=made)
        assert back["memory"]["content"] == "We deploy on Fridays"


@pytest.mark.parametrize(("changes", "path"), [
    ({"importance": "huge"}, "$.changes.importance"), ({"colour": "red"}, "$.changes.colour"),
    ({"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2020-01-01T00:00:00Z"}, "$.changes.valid_to"),
    ({"status": "superseded"}, "$.changes.status"),
])  # fmt: skip
def test_a_refused_change_names_its_field_within_changes(client: httpx.Client, changes: dict[str, Any], path: str):
    made = answer(client, "remember", content="We deploy on Fridays")["memory"]["id"]
    found = call(client, "update_memory", id=made, changes=changes)
    assert [one["path"] for one in found["structuredContent"]["errors"]] == [path], found
