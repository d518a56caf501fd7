"""MCP through the official client, in both eras: tools, resources, prompts, budgets; nothing that a key may not use."""

import asyncio
import json
import os
import re
import secrets
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import httpx2
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar.testing import TestClient
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from muisti.core.engine import Engine
from muisti.core.identity.grants import Grant
from muisti.core.model.chunks import Place
from muisti.core.model.hits import Answer, Hit, Timings
from muisti.core.model.ids import id_text
from muisti.core.model.values import Draft, Memory, Passage, Seq
from muisti.service.app.app import create_app
from muisti.service.auth.access import Access
from muisti.service.mcp.manager import told
from muisti.service.mcp.token_budget import packed, tokens
from muisti.service.mcp.tools import usable
from muisti.service.routes.keys import MODES
from muisti.service.settings import Settings
from tests.core.fakes import Clock
from tests.examples import examples
from tests.service.keyed import Caller, administrator, expired, revoked, with_mode
from tests.service.mcp.test_chatgpt import connected
from tests.service.mcp_client import answer as structured
from tests.service.mcp_client import message_of
from tests.stores import settings_at

pytestmark = pytest.mark.one_store

ERAS = ("legacy", "auto")
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
FULL = [
    "remember", "recall", "overview", "get_memory", "list_memories", "update_memory", "forget", "undo",
    "memory_history", "list_spaces",
]  # fmt: skip
READING = ["recall", "overview", "get_memory", "list_memories", "memory_history", "list_spaces"]
OF_MODE = {
    "read-only": READING,
    "append-only": ["remember", *READING],
    "no-delete": [name for name in FULL if name != "forget"],
    "full": FULL,
}
LINES = "\n".join(
    json.dumps(line)
    for line in (
        {"type": "muisti", "format": 1},
        {"type": "memory", "memory": {"id": "0190a0b0-0000-7000-8000-000000000001", "content": "New"}},
        {"type": "end", "lines": 2},
    )
)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "remember": {"content": "Something else entirely"}, "recall": {"query": "deploy"}, "overview": {}, "get_memory": {},
    "list_memories": {}, "update_memory": {"changes": {"reason": "why"}}, "memory_history": {}, "forget": {},
    "undo": {"version": 1}, "list_spaces": {}, "get_context": {"query": "deploy"},
    "add_exchanges": {"conversation": "c", "items": [{"author": "Ann", "content": "Hello"}]},
    "conversations": {"action": "list"}, "import_memories": {"ndjson": LINES}, "search": {"query": "deploy"},
}  # fmt: skip
PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "mcp.md").read_text("utf-8")
BY_ID = ("get_memory", "update_memory", "memory_history", "undo", "forget")

Work = Callable[[Client], Awaitable[Any]]


def talk(engine: Engine, work: Work, *, era: str = "auto", caller: Caller | None = None, tools: str = "memory") -> Any:
    """Return the result of `work` with the official client, connected to an application on this engine."""
    headers = dict(caller.headers) if caller else {}
    return connected(engine, work, Settings(), headers, f"?tools={tools}", era)


def post(client: httpx.Client, body: Any, **headers: str) -> httpx.Response:
    return client.post("/mcp", json=body, headers={**HEADERS, **headers})


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.parametrize("era", ERAS)
def test_a_memory_is_remembered_recalled_changed_and_forgotten(engine: Engine, era: str):
    async def work(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == FULL
        made = await client.call_tool(
            "remember", {"content": "We deploy on Fridays", "category": "rules", "key": "deploy"}
        )
        memory = made.structured_content["memory"]
        found = await client.call_tool("recall", {"query": "when do we deploy"})
        assert [one["id"] for one in found.structured_content["memories"]] == [memory["id"]]
        assert memory["id"] in text(found) and "> We deploy on Fridays" in text(found)
        changed = await client.call_tool(
            "update_memory", {"id": memory["id"], "changes": {"reason": "habit"}, "if_version": 1}
        )
        assert changed.structured_content["memory"]["version"] == 2
        noted = await client.call_tool("update_memory", {"id": memory["id"], "feedback": "useful"})
        assert noted.structured_content["memory"]["version"] == 2
        assert engine.owner.review.telemetry("default", memory["id"]).useful == 1
        for arguments in ({"id": memory["id"]}, {"category": "rules", "key": "deploy"}):
            read = await client.call_tool("get_memory", arguments)
            assert read.structured_content["memory"]["version"] == 2
        counted = await client.call_tool("overview", {})
        assert counted.structured_content["categories"] == {"counts": {"rules": 1}, "left_out": 0}
        assert counted.structured_content["memories"] == 1
        listed = await client.call_tool("list_memories", {"category": "rules"})
        assert len(listed.structured_content["memories"]) == 1
        forgot = await client.call_tool("forget", {"id": memory["id"]})
        assert forgot.structured_content == {"id": memory["id"], "deleted": True}
        gone = await client.call_tool("get_memory", {"id": memory["id"]})
        assert gone.is_error and gone.structured_content["code"] == "not_found"

    talk(engine, work, era=era)


def test_a_memory_is_superseded_restored_and_its_history_told(engine: Engine):
    async def work(client: Client) -> None:
        made = await client.call_tool("remember", {"content": "We deploy on Fridays"})
        old = made.structured_content["memory"]["id"]
        new = await client.call_tool("remember", {"content": "We deploy daily", "supersedes": old})
        assert f"supersedes {old}" in text(new)
        closest = {"content": "we deploy  DAILY", "on_conflict": "supersede"}
        last = (await client.call_tool("remember", closest)).structured_content["memory"]["id"]
        told = await client.call_tool("memory_history", {"id": old, "limit": 1})
        assert told.structured_content["chain"] == [old, new.structured_content["memory"]["id"], last]
        (version,) = told.structured_content["versions"]
        assert [change["field"] for change in version["changes"]] == ["status", "superseded_by"]
        cursor = told.structured_content["next_cursor"]
        assert f"More: cursor {cursor}" in text(told) and "\n> {" in text(told)
        rest = await client.call_tool("memory_history", {"id": old, "cursor": cursor})
        assert ([one["version"] for one in rest.structured_content["versions"]], cursor) == ([1], "2")
        assert rest.structured_content["next_cursor"] is None
        assert (await client.call_tool("memory_history", {"id": old, "cursor": "x"})).is_error
        await client.call_tool("forget", {"id": last})
        back = await client.call_tool("undo", {"id": last})
        assert back.structured_content["memory"]["content"] == "we deploy  DAILY"
        counted = (await client.call_tool("overview", {})).structured_content["memories"]
        assert counted == 1

    talk(engine, work)


def text(result: Any) -> str:
    return result.content[0].text


@pytest.mark.parametrize("era", ERAS)
def test_progress_is_told(engine: Engine, era: str):
    async def work(client: Client) -> list[float]:
        told: list[float] = []

        async def note(progress: float, *_: Any) -> None:
            told.append(progress)

        await client.call_tool("overview", {}, progress_callback=note)
        return told

    assert talk(engine, work, era=era) == [0, 2]


@pytest.mark.parametrize("era", ERAS)
def test_resources_prompts_and_completion(engine: Engine, era: str):
    made = engine.owner.write.add(
        "default", [Draft(content="Anna prefers tea", category="taste", tags=("people",))]
    ).memories[0]

    async def work(client: Client) -> None:
        uris = [one.uri for one in (await client.list_resources()).resources]
        assert uris == ["skill://muisti", "memory://default/categories"]
        skill = (await client.read_resource("skill://muisti")).contents[0]
        assert isinstance(skill, types.TextResourceContents) and skill.text.startswith("---\nname: muisti")
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "memory://{space}/{id}",
            "memory://{space}/categories",
            "memory://{space}/export",
        ]
        read = await client.read_resource(f"memory://default/{made.id}")
        assert json.loads(read.contents[0].text)["content"] == "Anna prefers tea"
        counted = await client.read_resource("memory://default/categories")
        assert json.loads(counted.contents[0].text) == {"categories": [{"name": "taste", "count": 1}]}
        for uri in ("memory://default/nothing", "memory://gone/categories", "file:///etc/passwd", "memory://../x"):
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            assert refusal.value.code == (-32002 if era == "legacy" else -32602)
        prompts = {one.name for one in (await client.list_prompts()).prompts}
        assert prompts == {"remember-session", "brief-me"}
        brief = await client.get_prompt("brief-me", {"topic": "what does Anna drink"})
        assert "> Anna prefers tea" in brief.messages[0].content.text
        kept = await client.get_prompt("remember-session", {"category": "notes"})
        assert "'notes'" in kept.messages[0].content.text
        for name, begun, values in (
            ("space", "de", ["default"]),
            ("category", "T", ["taste"]),
            ("tags", "", ["people"]),
        ):
            ref = types.ResourceTemplateReference(type="ref/resource", uri="memory://{space}/{id}")
            done = await client.complete(ref, {"name": name, "value": begun})
            assert done.completion.values == values

    talk(engine, work, era=era)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FULL)
def test_a_tool_that_a_mode_forbids_is_not_there_and_calling_it_is_an_error(engine: Engine, name: str, mode: str):
    administrator(engine)
    for space in ("acme.own", "other"):
        engine.spaces.create(space)
    own = engine.owner.write.add("acme.own", [Draft(content="We deploy")]).memories[0].id
    other = engine.owner.write.add("other", [Draft(content="We deploy elsewhere")]).memories[0].id

    async def work(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == OF_MODE[mode]
        for space, memory in (("acme.own", own), ("other", other), ("gone", other)):
            arguments = {**ARGUMENTS[name], "space": space} | ({"id": memory} if name in BY_ID else {})
            if name == "list_spaces":
                arguments.pop("space")
                space = "acme.own"  # which is all that it names
            if name not in OF_MODE[mode]:
                with pytest.raises(MCPError, match="Unknown tool"):
                    await client.call_tool(name, arguments)
                continue
            answer = await client.call_tool(name, arguments)
            assert bool(answer.is_error) == (space != "acme.own"), answer
            assert space == "acme.own" or answer.structured_content["code"] == "not_found"

    talk(engine, work, caller=with_mode(engine, mode, "acme.*"))


@pytest.mark.parametrize("who", ["no key", "expired", "revoked", "unknown"])
@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call", "resources/read", "server/discover"])
def test_strangers_get_nothing(engine: Engine, clock: Clock, method: str, who: str):
    administrator(engine)
    made = {
        "no key": lambda: {},
        "expired": lambda: expired(engine).headers,
        "revoked": lambda: revoked(engine).headers,
        "unknown": lambda: {"Authorization": f"Bearer mk_{'0' * 12}_{'x' * 43}"},
    }[who]()
    clock.pass_days(0.001)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        answer = post(client, request(method), **made)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_key_of_one_space_and_category_has_no_arguments_for_them(engine: Engine):
    key = with_mode(engine, "full", "default", category="Notes")
    hidden = engine.owner.write.add("default", [Draft(content="The launch code is 4711", category="vault")]).memories[0]

    async def work(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert not {"space", "category"} & set(tool.input_schema["properties"]), tool.name
        made = await client.call_tool("remember", {"content": "We deploy", "key": "k"})
        assert made.structured_content["memory"]["category"] == "Notes"
        put = await client.call_tool("remember", {"content": "We deploy daily", "key": "k", "replace": True})
        assert put.structured_content["memory"]["version"] == 2
        for arguments in ({"content": "x", "category": "vault"}, {"content": "x", "space": "default"}):
            answer = await client.call_tool("remember", arguments)
            assert answer.is_error and answer.structured_content["code"] == "forbidden"
        assert (await client.call_tool("get_memory", {"id": hidden.id})).is_error
        for tool, arguments in (("recall", {"query": "launch code"}), ("list_memories", {}), ("overview", {})):
            assert "vault" not in str(await client.call_tool(tool, arguments))

    talk(engine, work, caller=key)


def test_a_key_that_may_not_replace_has_no_argument_for_it(engine: Engine):
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "replace" not in tools["remember"].input_schema["properties"]
        answer = await client.call_tool("remember", {"content": "x", "category": "a", "key": "b", "replace": True})
        assert answer.is_error and answer.structured_content["code"] == "forbidden"

    talk(engine, work, caller=with_mode(engine, "append-only", "default"))


def test_a_small_space_goes_out_and_comes_in(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    for space in ("source", "target"):
        engine.spaces.create(space)
    made = engine.owner.write.add(
        "source", [Draft(content=f"We deploy on day {day}") for day in range(3)], on_conflict="keep"
    )
    engine.owner.write.update("source", made.memories[0].id, {"content": "We deploy on Fridays"})

    async def work(client: Client) -> None:
        lines = (await client.read_resource("memory://source/export")).contents[0].text
        engine.spaces.delete("source")
        torn = await client.call_tool("import_memories", {"space": "target", "ndjson": lines[:-20]})
        assert torn.is_error and engine.owner.read.stats("target").memories == 0
        for how, created in (({"dry_run": True}, 3), ({}, 3), ({}, 0)):
            done = await client.call_tool("import_memories", {"space": "target", "ndjson": lines, **how})
            assert done.structured_content["created"] == created, done
        back = (await client.read_resource("memory://target/export")).contents[0].text
        assert back.splitlines()[1:] == lines.splitlines()[1:]
        monkeypatch.setattr("muisti.service.mcp.resources.EXPORT_MAX", 100)
        with pytest.raises(MCPError, match="larger than 100 bytes"):
            await client.read_resource("memory://target/export")

    talk(engine, work, tools="all")


def test_recall_says_how_it_read_a_query_and_keeps_its_budget(engine: Engine):
    async def work(client: Client) -> None:
        await client.call_tool("remember", {"content": "Tokens last an hour. " * 100, "tags": ["auth"]})
        asked = {"query": f"notes tagged auth or {'x' * 400}", "mode": "auto", "max_tokens": 200}
        found = await client.call_tool("recall", asked)
        structured = found.structured_content
        assert structured["intent"].startswith('Asks for memories with the tag "auth"') and structured["memories"]
        assert text(found).startswith(structured["intent"])
        assert tokens(text(found)) <= 200
        assert tokens(json.dumps(structured, ensure_ascii=False, separators=(",", ":"))) <= 200

    talk(engine, work)


def listed(scopes: tuple[str, ...], *spaces: str, category: str | None = None) -> int:
    access = Access("x", Grant(frozenset(scopes), spaces, category))  # pyright: ignore[reportArgumentType]
    tools = [
        told(tool, access).model_dump(by_alias=True, exclude_none=True)
        for tool in usable(access)
        if tool.group == "memory"
    ]
    return tokens(json.dumps(tools, separators=(",", ":")))


def test_the_list_of_tools_is_small():
    assert listed(MODES["full"], "*") <= 2000
    assert listed(MODES["full"], "acme", category="notes") <= 1750
    assert listed(MODES["read-only"], "*") <= 950
    assert listed(MODES["read-only"], "acme.*") <= 980


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=600)


@examples(15)
@given(st.lists(WORDS, min_size=1, max_size=8), st.integers(200, 1500))
def test_recall_keeps_its_budget(contents: list[str], budget: int):
    hits = tuple(hit(f"memory {number} {content}") for number, content in enumerate(contents))
    structured, said = packed(answer(hits), budget)
    assert tokens(json.dumps(structured, ensure_ascii=False, separators=(",", ":"))) <= budget
    assert tokens(said) <= budget
    kept = [one["id"] for one in structured["memories"]]
    assert kept[0] == hits[0].memory.id
    assert kept == [one.memory.id for one in hits if one.memory.id in kept]  # those that fit, in their order
    assert structured["left_out"]["count"] == len(hits) - len(kept)


def hit(content: str) -> Hit:
    raw = {"id": id_text(secrets.token_bytes(16)), "space": "s", "version": 1, "kind": "memory", "content": content}
    at = datetime(2026, 5, 1, tzinfo=UTC)
    rest = dict.fromkeys(("author", "reason", "source", "expires_at", "supersedes", "parent_id"))
    rest |= dict.fromkeys(("event_at", "valid_from", "valid_to"))
    fixed: dict[str, Any] = {"type": "fact", "status": "active", "importance": "medium", "tags": ("a b", "c")}
    memory = Memory(
        **raw, **rest, **fixed, category="some category", key="k", metadata={"team": "core"}, created_at=at,
        updated_at=at, superseded_by=None, tokens=1, source_class="unknown", derived_from=(), trust=50,
    )  # fmt: skip
    place = Place(
        document=memory.id, path="docs/a b.md", start=1_000, stop=1_000 + len(content), overlap=0, first_line=20,
        last_line=40, page=3, headings=("Deploy", content[:200]), language=None, symbol="a.B",
    )  # fmt: skip
    inside = place if len(content) % 2 else None
    return Hit(memory=memory, score=0.5, ranks={}, passage=Passage(0, 0, len(content)), place=inside)


def answer(hits: tuple[Hit, ...]) -> Answer:
    return Answer(
        hits=hits, total=10**9, evidence="uncalibrated", strength=1.0, strategy="hybrid",
        degraded=("embeddings are off",), seq=Seq("e", 1), timings=Timings(),
    )  # fmt: skip


def test_a_list_keeps_its_budget_says_what_was_left_out_and_pages_on_to_all(engine: Engine):
    made = [
        engine.owner.write.add("default", [Draft(content=f"{number} {'on Fridays ' * 40}")], on_conflict="keep")
        .memories[0]
        .id
        for number in range(7)
    ]
    long = engine.owner.write.add("default", [Draft(content="long " * 5_000)]).memories[0].id
    made.append(long)

    async def work(client: Client) -> None:
        found: list[str] = []
        cursor: str | None = None
        while cursor is not None or not found:
            page = await client.call_tool("list_memories", {"max_tokens": 500} | ({"cursor": cursor} if cursor else {}))
            structured = page.structured_content
            assert tokens(text(page)) <= 500 and tokens(json.dumps(structured, separators=(",", ":"))) <= 500
            memories, cursor = structured["memories"], structured["next_cursor"]
            assert [one["id"] for one in memories if "cut" in one] == ([long] if not found else [])
            found += [one["id"] for one in memories]
            assert structured["left_out"] == len(made) - len(found)
            assert cursor is None or f"{structured['left_out']} more of those asked for did not fit" in text(page)
        assert found == made[::-1]
        whole = await client.call_tool("list_memories", {"max_tokens": 20_000})
        assert [one["id"] for one in whole.structured_content["memories"]] == found
        assert (whole.structured_content["left_out"], whole.structured_content["next_cursor"]) == (0, None)

    talk(engine, work)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_only_post_is_taken(client: httpx.Client, method: str):
    answer = client.request(method, "/mcp", headers=HEADERS)
    assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")


def test_only_listed_names_are_answered_to(engine: Engine):
    with TestClient(create_app(Settings(hosts="memory.example"), engine=engine)) as client:
        for host, status in (("memory.example:443", 200), ("evil.example", 421)):
            assert post(client, request("ping"), Host=host).status_code == status


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_revision_that_begins_with_initialize_is_spoken(client: httpx.Client, version: str):
    about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = message_of(post(client, request("initialize", **about)))["result"]
    assert (answer["protocolVersion"], answer["serverInfo"]["name"]) == (version, "muisti")
    listed = message_of(post(client, request("tools/list"), **{"MCP-Protocol-Version": version}))["result"]["tools"]
    assert [tool["name"] for tool in listed] == FULL


def test_requests_that_come_while_it_loads_are_answered_and_it_is_loaded_once(engine: Engine):
    async def work() -> None:
        app = create_app(Settings(), engine=engine)
        transport = httpx2.ASGITransport(app=cast(Any, app))
        for _ in range(2):  # an application that is started again loads it again
            async with app.lifespan(), httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                early = [http.post("/mcp", json=request("tools/list"), headers=HEADERS) for _ in range(8)]
                assert [answer.status_code for answer in await asyncio.gather(*early)] == [200] * 8
                assert sum(task.get_name().endswith("McpApp._manage") for task in asyncio.all_tasks()) == 1

    asyncio.run(work())


def test_standard_input_and_output_serve_a_client(tmp_path: Path):
    run = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from muisti.service.cli import main; main()", "mcp", "--space", "mine", "--mode", "append-only"],
        env={**os.environ, **settings_at(tmp_path / "m.db"), "MUISTI_EMBEDDINGS": "off"},
    )

    async def work() -> None:
        async with Client(stdio_client(run)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                name for name in OF_MODE["append-only"] if name != "list_spaces"
            ]
            await client.call_tool("remember", {"content": "We deploy on Fridays"})
            found = await client.call_tool("recall", {"query": "deploy"})
            assert "> We deploy on Fridays" in text(found)

    anyio.run(work)


def test_the_page_about_it_names_every_prompt_and_resource():
    for name in ("remember-session", "brief-me", "memory://{space}/{id}", "memory://{space}/categories"):
        assert f"|`{name}`|" in PAGE


def test_the_page_about_it_names_the_fields_of_answers_which_no_schema_declares(client: httpx.Client):
    made = structured(client, "remember", content="We deploy on Fridays")["memory"]["id"]
    for name, arguments in ARGUMENTS.items():
        (row,) = re.findall(rf"^\|`{name}`\|([^|]+)\|$", PAGE, re.M)
        fields = set(re.findall(r"`(\w+)`", row.split(";")[0]))  # those after it are there at times
        found = structured(client, name, **arguments, **({"id": made} if name in BY_ID else {}))
        assert fields and fields == found.keys() - {"notice"}, name
