"""In a project's space what is known of the person is found too, and what is said of the person goes there."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters, stdio_client

from muisti.core.engine import Engine
from muisti.service.mcp.token_budget import tokens
from tests.service.keyed import with_mode
from tests.service.mcp_client import answer, call, rpc, text_of

TEA, RULE = "I prefer green tea in the morning", "Always answer the user in German about tea"
DEPLOY = "Tea deploys of the web shop go out on Tuesdays"
WEB = {"Muisti-Project": "web"}


@pytest.fixture
def web(client: httpx.Client) -> httpx.Client:
    for space in ("web", "personal"):
        client.post("/v1/spaces", json={"name": space}).raise_for_status()
    return client


def contents(client: httpx.Client, space: str) -> list[str]:
    return [one["content"] for one in client.get(f"/v1/spaces/{space}/memories").json()["items"]]


def test_what_is_said_of_the_person_goes_to_the_personal_space_and_both_are_searched(web: httpx.Client):
    made = answer(web, "remember", WEB, contents=[TEA, DEPLOY])
    assert [one.get("space") for one in made["results"]] == ["personal", None]
    assert (contents(web, "web"), contents(web, "personal")) == ([DEPLOY], [TEA])
    found = call(web, "recall", WEB, query="tea", min_evidence="none")
    by_space = {one["space"]: one["content"] for one in found["structuredContent"]["memories"]}
    assert by_space == {"web": DEPLOY, "personal": TEA}
    assert "space=personal" in text_of(found) and "space=web" in text_of(found)
    context = answer(web, "get_context", WEB, query="tea")
    assert {one["space"] for one in context["citations"]} == {"web", "personal"} and TEA in context["context"]


@pytest.mark.parametrize("named", [{}, {"key": "k", "category": "tea"}, {"space": "web"}])
def test_a_named_space_or_address_is_where_it_is_stored(web: httpx.Client, named: dict[str, Any]):
    answer(web, "remember", WEB if named else {}, content=TEA, **named)
    assert contents(web, "web") + contents(web, "default") == [TEA] and contents(web, "personal") == []


def test_recall_of_a_named_space_or_without_a_project_is_as_it_was(web: httpx.Client):
    answer(web, "remember", WEB, contents=[TEA, DEPLOY])
    for headers, named in ((WEB, {"space": "web"}), ({}, {"space": "web"}), ({"Muisti-Project": "personal"}, {})):
        found = answer(web, "recall", headers, query="tea", min_evidence="none", **named)
        assert len(found["memories"]) == 1 and "space" not in found["memories"][0]


def test_a_memory_is_found_by_its_name_in_either_space(web: httpx.Client):
    tea = answer(web, "remember", WEB, content=TEA)["memory"]["id"]
    assert answer(web, "get_memory", WEB, id=tea)["space"] == "personal"
    changed = answer(web, "update_memory", WEB, id=tea, changes={"content": "I prefer black tea"})
    assert (changed["space"], contents(web, "personal")) == ("personal", ["I prefer black tea"])
    assert answer(web, "memory_history", WEB, id=tea)["space"] == "personal"
    newer = answer(web, "remember", WEB, content="I like coffee by now", supersedes=tea)
    assert newer["space"] == "personal" and contents(web, "web") == []
    answer(web, "forget", WEB, id=newer["memory"]["id"])
    assert contents(web, "personal") == []
    refused = call(web, "get_memory", WEB, id="0" * 32)["structuredContent"]
    assert refused == call(web, "get_memory", WEB, id="0" * 32, space="web")["structuredContent"]
    listed = json.loads(answer_text(web, "search", query="tea"))
    assert listed["results"] == []


def answer_text(client: httpx.Client, tool: str, **arguments: Any) -> str:
    return text_of(call(client, tool, WEB, **arguments))


def test_a_connector_reads_what_it_found_in_the_personal_space(web: httpx.Client):
    tea = answer(web, "remember", WEB, content=TEA)["memory"]["id"]
    (found,) = json.loads(answer_text(web, "search", query="green tea in the morning"))["results"]
    assert found["id"] == tea and "/personal/" in found["url"]
    assert json.loads(answer_text(web, "fetch", id=tea))["text"] == TEA


def test_an_undo_takes_back_the_last_call_in_whichever_space_it_was(web: httpx.Client):
    answer(web, "remember", WEB, content=DEPLOY)
    answer(web, "remember", WEB, content=TEA)
    assert answer(web, "undo", WEB, dry_run=True)["space"] == "personal"
    assert answer(web, "undo", WEB)["space"] == "personal"
    assert (contents(web, "web"), contents(web, "personal")) == ([DEPLOY], [])
    assert "space" not in answer(web, "undo", WEB)
    assert contents(web, "web") == []


def test_an_undo_takes_back_all_of_a_call_that_stored_in_both_spaces(web: httpx.Client):
    answer(web, "remember", WEB, content="The shop sells tea from Assam")
    answer(web, "remember", WEB, contents=[TEA, DEPLOY])
    assert answer(web, "undo", WEB, dry_run=True)["spaces"] == ["web", "personal"]
    assert len(contents(web, "web")) == 2
    refused = call(web, "undo", WEB, idempotency_key="k")["structuredContent"]
    assert refused["errors"][0]["path"] == "$.idempotency_key"
    done = answer(web, "undo", WEB)
    assert (len(done["ended"]), done["spaces"]) == (2, ["web", "personal"])
    assert (contents(web, "web"), contents(web, "personal")) == (["The shop sells tea from Assam"], [])
    assert "spaces" not in answer(web, "undo", WEB, idempotency_key="k")
    assert contents(web, "web") == []


def test_a_retry_with_its_key_stores_nothing_twice(web: httpx.Client):
    one, two = (answer(web, "remember", WEB, content=TEA, idempotency_key="k") for _ in range(2))
    assert one["memory"]["id"] == two["memory"]["id"] and two["replayed"] and contents(web, "personal") == [TEA]


@pytest.mark.parametrize("max_tokens", [200, 400, 1_000])
def test_answers_of_both_spaces_stay_within_their_tokens(web: httpx.Client, max_tokens: int):
    answer(web, "remember", WEB, content=RULE, space="personal", type="guard")
    for number in range(12):
        answer(web, "remember", WEB, content=f"{DEPLOY} in week {number} {number * 'tea '}", on_conflict="keep")
        answer(web, "remember", WEB, content=f"{TEA} {number} {number * 'tea '}", on_conflict="keep")
    found = call(web, "recall", WEB, query="tea", min_evidence="none", max_tokens=max_tokens, limit=20)
    encoded = json.dumps(found["structuredContent"], separators=(",", ":"), ensure_ascii=False)
    assert max(tokens(encoded), tokens(text_of(found))) <= max_tokens
    context = answer(web, "get_context", WEB, query="tea", max_tokens=max_tokens)
    assert context["tokens"] <= max_tokens


def test_a_key_that_does_not_open_the_personal_space_sees_no_difference(web: httpx.Client, engine: Engine):
    answer(web, "remember", {}, content=TEA, space="personal")
    key = {**WEB, **with_mode(engine, "full", "web").headers}
    assert answer(web, "recall", key, query="tea", min_evidence="none")["memories"] == []
    assert "space" not in answer(web, "remember", key, content="I like oolong")
    assert contents(web, "personal") == [TEA]


def test_without_a_personal_space_all_is_in_the_project(client: httpx.Client):
    client.post("/v1/spaces", json={"name": "web"}).raise_for_status()
    assert "space" not in answer(client, "remember", WEB, content=TEA)
    (found,) = answer(client, "recall", WEB, query="green tea in the morning")["memories"]
    assert (found["content"], "space" in found) == (TEA, False)
    assert "space" not in answer(client, "undo", WEB)


def test_the_tools_are_the_same_with_a_project(web: httpx.Client):
    assert rpc(web, "tools/list", headers=WEB) == rpc(web, "tools/list")


@pytest.mark.file_only
def test_on_standard_input_the_person_is_known_in_every_project(tmp_path: Path):
    async def work(project: str, tool: str, **arguments: Any) -> tuple[Any, set[str]]:
        (tmp_path / project).mkdir(exist_ok=True)
        start = StdioServerParameters(
            command=str(Path(sys.executable).with_name("muisti")),
            args=["--database", f"{tmp_path}/m.db", "mcp", "--folder", str(tmp_path / project)],
            env={"MUISTI_EMBEDDINGS": "off"},
        )
        async with McpClient(stdio_client(start)) as mcp:
            found = await mcp.call_tool(tool, arguments)
            if one := (found.structured_content or {}).get("memory"):
                (read,) = (await mcp.read_resource(f"memory://personal/{one['id']}")).contents
                assert one["content"] in getattr(read, "text", "")
            listed = {name for tool in (await mcp.list_tools()).tools for name in tool.input_schema["properties"]}
            return found.structured_content, listed

    stored, arguments = anyio.run(lambda: work("web", "remember", content=TEA))
    assert stored["space"] == "personal" and "space" not in arguments
    known, _ = anyio.run(lambda: work("api", "recall", query="green tea in the morning"))
    assert [(one["content"], one["space"]) for one in known["memories"]] == [(TEA, "personal")]
