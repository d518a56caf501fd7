"""Groups of tools: which a client is offered, by setting or URL, and what a tool of another group answers."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import msgspec
import pytest
from click.testing import CliRunner
from litestar.testing import TestClient
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from muisti.core.engine import Engine
from muisti.core.identity.grants import Grant
from muisti.service.app.app import create_app
from muisti.service.auth.access import Access
from muisti.service.cli import main
from muisti.service.mcp import admin, tools, writes
from muisti.service.mcp.tools import offered
from muisti.service.routes.keys import MODES
from muisti.service.settings import Settings
from muisti.service.settings.tool_groups import GROUPS, USUAL, groups_in, in_order
from muisti.service.tools.arguments import InSpace, UndoChanges
from muisti.service.tools.session import Call, Outcome
from tests.service.keyed import with_mode
from tests.service.mcp_client import LONG, PLAIN, VERSION, message_of

pytestmark = pytest.mark.one_store

CODE, WRITER = "code_sizes", "code_writer"  # the functions below


async def code_sizes(call: Call, given: InSpace) -> Outcome:
    return await admin.get_stats.run(call, given)


async def code_writer(call: Call, given: UndoChanges) -> Outcome:
    return await writes.undo.run(call, given)


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tools as the group `code`, of which one writes, beside the tools of other groups."""
    (sizes,) = [tool for tool in tools.TOOLS if tool.name == "get_stats"]
    (writer,) = [tool for tool in tools.TOOLS if tool.name == "undo"]
    added = (
        msgspec.structs.replace(sizes, run=code_sizes, group="code"),
        msgspec.structs.replace(writer, run=code_writer, group="code"),
    )
    others = (tool for tool in tools.TOOLS if tool.group != "code")
    monkeypatch.setattr(tools, "TOOLS", (*others, *added))


@pytest.fixture
def client(engine: Engine, more: None) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def sent(client: httpx.Client, method: str, query: str = "", kind: str = PLAIN, **params: Any) -> httpx.Response:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": kind, "MCP-Protocol-Version": VERSION}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client.post(f"/mcp{query}", content=json.dumps(body), headers=headers)


def listed(client: httpx.Client, query: str = "") -> list[str]:
    return [tool["name"] for tool in message_of(sent(client, "tools/list", query))["result"]["tools"]]


def test_a_client_that_asks_for_nothing_is_offered_the_usual_group(client: httpx.Client):
    assert CODE not in listed(client) and "recall" in listed(client)
    assert CODE not in listed(client, "?other=code")


@pytest.mark.parametrize("query", ["?tools=code", "?tools=%63ode", "?tools=code,code"])
def test_the_url_chooses_the_groups_of_one_client(client: httpx.Client, query: str):
    assert listed(client, query) == [CODE, WRITER]


def test_groups_add_up_and_all_is_each(client: httpx.Client):
    usual = listed(client)
    for query in ("?tools=code,memory", "?tools=memory&tools=code", "?tools=all"):
        assert [*usual, CODE, WRITER] == [name for name in listed(client, query) if name in {*usual, CODE, WRITER}]
    assert {*usual, CODE} < {tool.name for tool in tools.TOOLS} | {WRITER}


@pytest.mark.parametrize("query", ["?tools=", "?tools=code,nothing", "?tools=,", "?tools=CODE"])
@pytest.mark.parametrize("kind", [PLAIN, LONG])
def test_a_name_that_is_no_group_is_refused_and_the_groups_are_named(client: httpx.Client, query: str, kind: str):
    answer = sent(client, "tools/call", query, kind, name="get_stats", arguments={})
    assert answer.status_code == 422 and answer.json()["code"] == "invalid_input"
    assert all(group in answer.json()["detail"] for group in GROUPS)


@pytest.mark.parametrize("kind", [PLAIN, LONG])
def test_a_tool_that_is_not_offered_says_how_to_have_it(client: httpx.Client, kind: str):
    refused = message_of(sent(client, "tools/call", "", kind, name=CODE, arguments={}))["result"]
    assert refused["isError"] and refused["structuredContent"]["code"] == "not_offered"
    (query,) = re.findall(r"/mcp(\?tools=\S+) or", refused["content"][0]["text"])
    assert CODE in listed(client, query) and "recall" in listed(client, query)
    done = message_of(sent(client, "tools/call", query, kind, name=CODE, arguments={}))["result"]
    assert not done["isError"] and done["structuredContent"]["memories"] == 0


def test_the_mode_of_a_key_still_decides(engine: Engine, more: None):
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        reader = with_mode(engine, "read-only", "default")
        opened.headers.update(reader.headers)
        assert listed(opened, "?tools=code") == [CODE]
        for query in ("", "?tools=code"):  # a tool that the key does not open is not there, offered or not
            failed = message_of(sent(opened, "tools/call", query, name=WRITER, arguments={}))
            assert failed["error"]["message"] == f"Unknown tool: {WRITER}"


def test_the_setting_chooses_for_clients_that_ask_for_nothing(engine: Engine, more: None):
    with TestClient(create_app(Settings(mcp_tools="memory,code"), engine=engine)) as opened:
        assert CODE in listed(opened) and "recall" in listed(opened)
        assert CODE not in listed(opened, "?tools=memory")


def test_a_client_on_standard_input_is_offered_the_groups_of_the_option(tmp_path: Path):
    def run(*options: str) -> list[str]:
        command = ["-c", "from muisti.service.cli import main; main()", "mcp", "--database", str(tmp_path / "m.db")]
        started = StdioServerParameters(
            command=sys.executable, args=[*command, *options], env={**os.environ, "MUISTI_EMBEDDINGS": "off"}
        )

        async def work() -> list[str]:
            async with Client(stdio_client(started)) as client:
                return [tool.name for tool in (await client.list_tools()).tools]

        return anyio.run(work)

    own = Access("x", Grant(frozenset(MODES["full"]), ("default",)))
    for options, groups in (((), groups_in(USUAL)), (("--tools", "code,admin"), groups_in("code,admin"))):
        assert run(*options) == [tool.name for tool in offered(own, groups)]


def test_names_of_groups_are_read_and_written_alike():
    assert in_order(groups_in(" code , memory ")) == "memory,code"
    assert groups_in("all") == frozenset(GROUPS)
    for wrong in ("", ",", "memory;code", "Memory"):
        with pytest.raises(ValueError):
            groups_in(wrong)


@pytest.mark.parametrize("command", ["mcp", "connect"])
def test_the_help_of_commands_names_every_group(command: str):
    told = " ".join(CliRunner().invoke(main, [command, "--help"]).output.split())
    assert f"as a,b: {', '.join(GROUPS)}, or all." in told
