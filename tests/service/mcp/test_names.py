"""A memory is named by its id, or by its category and key, in every tool that is about one memory."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.keyed import administrator, with_mode
from tests.service.mcp_client import answer, call, schemas, text_of

pytestmark = pytest.mark.one_store

ADDRESS = {"category": "rules", "key": "deploy"}
ABOUT_ONE: dict[str, dict[str, Any]] = {
    "get_memory": {}, "update_memory": {"changes": {"author": "Ann"}}, "memory_history": {}, "undo": {"version": 1},
    "forget": {},
}  # fmt: skip


def remember(client: httpx.Client, headers: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return answer(client, "remember", headers or {}, content="We deploy on Fridays", key="deploy", **more)["memory"]


def test_every_tool_that_takes_an_id_takes_an_address(client: httpx.Client):
    found = {name for name, schema in schemas(client).items() if "id" in schema["properties"]} - {"fetch"}
    assert found == ABOUT_ONE.keys()
    for name in found:
        assert {"category", "key"} <= schemas(client)[name]["properties"].keys()


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("tool", ABOUT_ONE)
def test_an_address_names_what_the_id_names(engine: Engine, tool: str, bound: bool):
    administrator(engine)
    caller = with_mode(engine, "full", "default", category="Rules" if bound else None)
    named = {"key": "deploy"} if bound else {"category": "RULES", "key": "deploy"}
    with TestClient(create_app(Settings(), engine=engine)) as client:
        made = remember(client, caller.headers, **({} if bound else {"category": "Rules"}))
        preview = {} if tool in ("get_memory", "memory_history") else {"dry_run": True}
        by_id, by_address = (
            answer(client, tool, caller.headers, **name, **ABOUT_ONE[tool], **preview)
            for name in ({"id": made["id"]}, named)
        )
        assert by_id == by_address and made["id"] in str(by_address)
        for wrong in ({}, {"key": "nothing"}, {"category": "vault", "key": "deploy"}, {"category": "Rules"}):
            found = call(client, tool, caller.headers, **wrong, **ABOUT_ONE[tool])
            assert found["isError"] and made["id"] not in str(found), wrong


@pytest.mark.parametrize("tool", [*ABOUT_ONE])
def test_two_names_are_refused(client: httpx.Client, tool: str):
    made = remember(client, category="rules")
    found = call(client, tool, id=made["id"], **ADDRESS)
    assert found["structuredContent"]["errors"][0]["path"] == "$.id"
    assert answer(client, "get_memory", **ADDRESS)["memory"]["version"] == 1


def test_an_update_moves_the_memory(client: httpx.Client):
    made = remember(client, category="rules")
    moved = answer(client, "update_memory", id=made["id"], changes={"category": "habits"})["memory"]
    assert (moved["category"], moved["key"]) == ("habits", "deploy")
    assert call(client, "get_memory", **ADDRESS)["isError"]


def test_a_version_is_expected_of_an_address_too(client: httpx.Client):
    made = remember(client, category="rules")
    assert answer(client, "update_memory", **ADDRESS, changes={"author": "Ann"}, if_version=1)["memory"]["version"] == 2
    for tool in ("update_memory", "undo", "forget"):
        arguments = {name: value for name, value in ABOUT_ONE[tool].items() if name != "version"}
        for name in ({"id": made["id"]}, ADDRESS):
            found = call(client, tool, **name, **arguments, if_version=1)
            assert found["structuredContent"]["code"] == "stale_version", (tool, name)
    assert answer(client, "forget", **ADDRESS, if_version=2)["deleted"]


def test_a_repeated_call_by_address_is_done_once(client: httpx.Client):
    made = remember(client, category="rules")
    for tool, arguments in (("update_memory", {"changes": {"author": "Ann"}}), ("forget", {})):
        once = {**ADDRESS, **arguments, "idempotency_key": tool}
        first, second = call(client, tool, **once), call(client, tool, **once)
        assert not first["isError"] and first == second
    assert call(client, "get_memory", **ADDRESS)["isError"]
    history = answer(client, "memory_history", **ADDRESS)
    assert [one["version"] for one in history["versions"]] == [2, 1] and history["id"] == made["id"]
    once = {**ADDRESS, "idempotency_key": "back"}
    assert call(client, "undo", **once) == call(client, "undo", **once)
    assert answer(client, "get_memory", **ADDRESS)["memory"]["version"] == 3


def test_feedback_is_given_by_address(engine: Engine, client: httpx.Client):
    made = remember(client, category="rules")
    tried = call(client, "update_memory", **ADDRESS, feedback="useful", dry_run=True)
    assert "nothing was noted" in text_of(tried) and engine.owner.review.telemetry("default", made["id"]).useful == 0
    answer(client, "update_memory", **ADDRESS, feedback="useful")
    assert engine.owner.review.telemetry("default", made["id"]).useful == 1


def test_a_dry_run_stores_nothing_and_tells_what_would_come(engine: Engine, client: httpx.Client):
    made = remember(client, category="rules")
    before = engine.owner.read.stats("default").changes
    for tool, arguments, change in (
        ("remember", {"content": "Anna prefers tea"}, "created"),
        ("remember", {"content": "We deploy daily", "replace": True, **ADDRESS}, "updated"),
        ("remember", {"content": "We deploy daily", "supersedes": made["id"]}, "superseded"),
        ("update_memory", {**ADDRESS, "changes": {"author": "Ann"}}, "updated"),
        ("forget", ADDRESS, "deleted"),
    ):
        found = answer(client, tool, dry_run=True, **arguments)
        assert found["dry_run"] and found["changes"][0]["change"] == change, found
    refused = call(client, "remember", content="we deploy on fridays", dry_run=True)
    assert refused["structuredContent"]["code"] == "duplicate"
    assert engine.owner.read.stats("default").changes == before


def test_what_was_is_read_and_listed(engine: Engine, client: httpx.Client):
    made = remember(client, category="rules")
    seq = engine.owner.read.get("default", made["id"], no_touch=True).seq
    at = str(seq)
    answer(client, "forget", **ADDRESS)
    for point in (at, str(seq.number), seq.number):
        assert answer(client, "get_memory", **ADDRESS, as_of=point)["memory"]["id"] == made["id"]
        assert len(answer(client, "recall", query="when do we deploy", as_of=point)["memories"]) == 1
    assert [one["id"] for one in answer(client, "list_memories", as_of=at)["memories"]] == [made["id"]]
    assert not answer(client, "list_memories")["memories"]


def test_spaces_are_listed_and_a_wrong_one_is_answered_with_how_to_find_the_right_one(engine: Engine):
    administrator(engine)
    for name in ("acme.web", "other"):
        engine.spaces.create(name)
    several, one = with_mode(engine, "full", "acme.*", "default"), with_mode(engine, "full", "gone")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        assert answer(client, "list_spaces", several.headers) == {
            "spaces": ["acme.web", "default"],
            "default": "default",
        }
        wrong = call(client, "recall", several.headers, query="x", space="acme.wbe")["structuredContent"]
        assert wrong["code"] == "not_found" and "list_spaces" in wrong["next"]
        assert "list_spaces" not in schemas(client, one.headers)
        wrong = call(client, "recall", one.headers, query="x")["structuredContent"]
        assert wrong["code"] == "not_found" and "list_spaces" not in wrong["next"]
