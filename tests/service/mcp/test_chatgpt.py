"""`search` and `fetch` keep OpenAI's contract, through the official client; URLs follow the setting."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app, open_engine
from muisti.service.pages.app import handlers
from muisti.service.settings import Settings
from muisti.service.tools.session import CONSOLE, RESOURCE, citation_of
from tests.service.keyed import administrator, with_mode

pytestmark = pytest.mark.one_store

PUBLIC = "https://memory.example"


def connected(
    engine: Engine,
    work: Callable[[Client], Awaitable[Any]],
    settings: Settings,
    headers: dict[str, str] | None = None,
    query: str = "",
    era: str = "auto",
) -> Any:
    """Return the result of `work` with a client of a server that has these settings."""

    async def run() -> Any:
        app = create_app(settings, engine=engine)
        transport = httpx2.ASGITransport(app=cast(Any, app))
        async with (
            app.lifespan(),
            httpx2.AsyncClient(transport=transport, headers=headers or {}) as http,
            Client(streamable_http_client(f"http://localhost/mcp{query}", http_client=http), mode=era) as client,
        ):
            return await work(client)

    return anyio.run(run)


def both(result: Any) -> Any:
    """Return the answer of a tool, after a look that its text is the same in JSON and its only part."""
    (part,) = result.content
    assert not result.is_error and part.type == "text"
    assert json.loads(part.text) == result.structured_content
    return result.structured_content


def test_a_memory_is_found_and_read_as_the_contract_says(engine: Engine):
    made = engine.owner.write.add(
        "default", [Draft(content="We deploy on Fridays", category="rules", key="deploy", reason="habit", tags=("a",))]
    ).memories[0]

    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {"search", "fetch"}
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())
        for name, argument in (("search", "query"), ("fetch", "id")):
            schema = tools[name].input_schema
            assert [*schema["properties"]] == schema["required"] == [argument]
            assert schema["properties"][argument]["type"] == "string"
        found = both(await client.call_tool("search", {"query": "when do we deploy?"}))
        url = f"{PUBLIC}/console/spaces/default/memories/{made.id}"
        assert found == {"results": [{"id": made.id, "title": "rules/deploy", "url": url}]}
        read = both(await client.call_tool("fetch", {"id": made.id}))
        assert read.keys() == {"id", "title", "text", "url", "metadata"}
        assert (read["id"], read["title"], read["url"]) == (made.id, "rules/deploy", url)
        assert read["text"] == "We deploy on Fridays"
        assert read["metadata"]["reason"] == "habit" and read["metadata"]["tags"] == ["a"]
        assert "not instructions" in read["metadata"]["notice"]

    connected(engine, work, Settings(mcp_tools="chatgpt", public_url=PUBLIC))


def test_without_evidence_there_are_no_results(tmp_path: Path):
    with open_engine(Settings(database_url=f"file:{tmp_path}/m.db")) as engine:
        engine.owner.write.add("default", [Draft(content="Anna prefers tea to coffee")])
        connected(engine, finds_nothing, Settings(), query="?tools=chatgpt")


async def finds_nothing(client: Client) -> None:
    (found,) = both(await client.call_tool("search", {"query": "what does Anna drink?"}))["results"]
    assert found["title"] == "Anna prefers tea to coffee"
    assert both(await client.call_tool("search", {"query": "the capital of Peru"})) == {"results": []}


def test_a_bad_call_is_refused_as_by_other_tools(engine: Engine):
    async def work(client: Client) -> None:
        for arguments in ({}, {"query": "tea", "limit": 3}, {"query": ""}):
            refused = await client.call_tool("search", arguments)
            assert refused.is_error and refused.structured_content["code"] == "invalid_input"
        gone = await client.call_tool("fetch", {"id": "0190a0b0-0000-7000-8000-000000000001"})
        assert gone.is_error and gone.structured_content["code"] == "not_found"

    connected(engine, work, Settings(), query="?tools=chatgpt")


def test_a_key_finds_and_reads_in_its_only_space_and_category(engine: Engine):
    administrator(engine)
    for space in ("own", "other"):
        engine.spaces.create(space)
    own, hidden = (
        engine.owner.write.add(
            "own", [Draft(content=f"The launch code is {number}", category=name)], on_conflict="keep"
        )
        .memories[0]
        .id
        for name, number in (("notes", 4711), ("vault", 815))
    )
    other = engine.owner.write.add("other", [Draft(content="The launch code is 42")]).memories[0].id
    caller = with_mode(engine, "read-only", "own", category="notes")

    async def work(client: Client) -> None:
        found = both(await client.call_tool("search", {"query": "launch code"}))
        assert [one["id"] for one in found["results"]] == [own]
        assert found["results"][0]["url"] == f"https://notes.example/own?id={own}"
        for forbidden in (hidden, other):
            assert (await client.call_tool("fetch", {"id": forbidden})).structured_content["code"] == "not_found"

    settings = Settings(mcp_citations="https://notes.example/{space}?id={id}")
    connected(engine, work, settings, dict(caller.headers), "?tools=chatgpt")


def test_a_key_of_several_spaces_is_told_that_it_needs_one(engine: Engine):
    administrator(engine)
    for space in ("acme.a", "acme.b"):
        engine.spaces.create(space)

    async def work(client: Client) -> None:
        for tool, arguments in (("search", {"query": "x"}), ("fetch", {"id": "x"})):
            refused = await client.call_tool(tool, arguments)
            assert refused.is_error and refused.structured_content["code"] == "forbidden"
            assert "several spaces" in refused.structured_content["detail"]

    connected(engine, work, Settings(), dict(with_mode(engine, "full", "acme.*").headers), "?tools=chatgpt")


def test_a_title_is_one_line_of_bounded_length(engine: Engine):
    engine.owner.write.add("default", [Draft(content=f"Deploys\u2028are on\nFridays {'and so on ' * 30}")])

    async def work(client: Client) -> None:
        (one,) = both(await client.call_tool("search", {"query": "when are deploys?"}))["results"]
        assert one["title"].startswith("Deploys are on Fridays") and len(one["title"]) == 80
        assert one["url"] == f"memory://default/{one['id']}"

    connected(engine, work, Settings(), query="?tools=chatgpt")


def test_the_url_of_a_memory_is_the_setting_or_its_page_or_its_resource():
    assert citation_of(Settings()) == RESOURCE
    assert citation_of(Settings(public_url=PUBLIC)) == PUBLIC + CONSOLE
    assert citation_of(Settings(public_url=PUBLIC, console=False)) == RESOURCE
    assert citation_of(Settings(public_url=PUBLIC, mcp_citations="https://x.example/{id}")) == "https://x.example/{id}"
    path = CONSOLE.replace("{space}", "{space:str}").replace("{id}", "{memory_id:str}")
    assert any(path in one.paths for one in handlers())
