"""A person confirms what clears or erases a space, where the client can ask one: exactly this, and now."""

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx
import mcp_types as types
import pytest
from litestar.testing import TestClient
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from muisti.core.engine import Engine
from muisti.core.model.choices import CLEAR_PHRASE
from muisti.service.app.app import create_app
from muisti.service.mcp import questions
from muisti.service.settings import Settings
from tests.service.app.test_server import serving
from tests.service.fakes import draft
from tests.service.keyed import administrator
from tests.service.mcp_client import ASKS, TASKS, answer, modern

MEMORIES = "/v1/spaces/default/memories"
CALLS: Mapping[str, dict[str, Any]] = {
    "purge": {"author": "Ann", "dry_run": False},
    "clear_all": {"confirm": CLEAR_PHRASE},
}
YES = {"action": "accept", "content": {"confirm": True}}
NO: list[Any] = [
    {"action": "accept", "content": {"confirm": False}}, {"action": "accept"}, {"action": "decline"},
    {"action": "cancel"}, {"action": "accept", "content": {"confirm": "true"}},
]  # fmt: skip


@pytest.fixture(autouse=True)
def stored(client: httpx.Client) -> None:
    for text in ("Ann likes tea", "Ann likes rain", "Bob sails"):
        client.post(MEMORIES, json=draft(text, author=text.split()[0])).raise_for_status()


def left(client: httpx.Client) -> int:
    return len(client.get(MEMORIES).json()["items"])


def ask(client: httpx.Client, tool: str, headers: Mapping[str, str] = {}, **arguments: Any) -> Any:
    return modern(client, "tools/call", ASKS, headers, name=tool, arguments={**CALLS[tool], **arguments})


def reply(
    client: httpx.Client,
    tool: str,
    state: str,
    given: Any = YES,
    headers: Mapping[str, str] = {},
    **arguments: Any,
) -> Any:
    asked = {"inputResponses": {"confirm": given}, "requestState": state}
    return modern(client, "tools/call", ASKS, headers, name=tool, arguments={**CALLS[tool], **arguments}, **asked)


@pytest.mark.parametrize(("tool", "many", "kept"), [("purge", "2 memories", 1), ("clear_all", "3 memories", 0)])
def test_a_person_is_asked_what_will_happen_and_it_happens(client: httpx.Client, tool: str, many: str, kept: int):
    found = ask(client, tool)
    assert found["resultType"] == "input_required" and left(client) == 3 and not {"content", "taskId"} & found.keys()
    form = found["inputRequests"]["confirm"]
    assert form["method"] == "elicitation/create" and many in form["params"]["message"]
    assert "default" in form["params"]["message"]
    assert form["params"]["requestedSchema"]["properties"].keys() == {"confirm"}
    done = reply(client, tool, found["requestState"])
    assert done["resultType"] == "complete" and not done["isError"], done
    while left(client) > kept:
        pass
    assert left(client) == kept


@pytest.mark.parametrize("given", NO)
@pytest.mark.parametrize("tool", CALLS)
def test_anything_but_a_yes_does_nothing(client: httpx.Client, tool: str, given: Any):
    found = reply(client, tool, ask(client, tool)["requestState"], given)
    assert found["isError"] and found["structuredContent"] == {"code": "declined"} and left(client) == 3


def test_a_dry_run_asks_nobody_and_a_wrong_phrase_is_refused_before(client: httpx.Client):
    for tool in CALLS:
        assert ask(client, tool, dry_run=True)["resultType"] == "complete"
    assert ask(client, "clear_all", confirm="yes")["structuredContent"]["code"] == "invalid_input"


def test_a_client_that_cannot_ask_gets_what_it_got(client: httpx.Client):
    for able in ({}, TASKS, {"sampling": {}}, {"elicitation": {"url": {}}}):
        found = modern(client, "tools/call", able, name="purge", arguments=CALLS["purge"])
        assert found["structuredContent"]["errors"][0]["path"] == "$.confirm"
    assert modern(client, "tools/call", {"elicitation": {}}, name="purge", arguments=CALLS["purge"])["inputRequests"]
    assert answer(client, "clear_all", confirm=CLEAR_PHRASE)["ended"] == 3


def test_an_answer_counts_for_this_call_of_this_caller_only(client: httpx.Client, engine: Engine):
    client.post("/v1/spaces", json={"name": "other"}).raise_for_status()
    state = ask(client, "purge")["requestState"]
    clear = ask(client, "clear_all")["requestState"]
    forged = base64.urlsafe_b64encode(json.dumps({"s": "default 1:3"}).encode()).decode()
    refusals = [
        reply(client, "purge", state, author="Bob"), reply(client, "purge", state, space="other"),
        reply(client, "purge", clear), reply(client, "clear_all", state), reply(client, "purge", forged),
        reply(client, "purge", state[:-2] + "AA"), reply(client, "purge", "x" * 10_000), reply(client, "purge", ""),
        reply(client, "purge", state, headers=administrator(engine).headers),
    ]  # fmt: skip
    assert {one.get("code") for one in refusals} == {types.INVALID_PARAMS} and left(client) == 3
    project = {"Muisti-Project": "other"}
    moved = reply(client, "purge", state, headers=project)
    assert moved["resultType"] == "input_required", "the space that is meant without a name is another one"
    assert left(client) == 3


def test_what_has_changed_meanwhile_is_asked_again(client: httpx.Client):
    state = ask(client, "purge")["requestState"]
    client.post(MEMORIES, json=draft("Ann moved to Oslo", author="Ann")).raise_for_status()
    again = reply(client, "purge", state)
    assert "3 memories" in again["inputRequests"]["confirm"]["params"]["message"] and left(client) == 4
    assert not reply(client, "purge", again["requestState"])["isError"]
    while left(client) > 1:
        pass
    cleared = ask(client, "clear_all")["requestState"]
    assert not reply(client, "clear_all", cleared)["isError"]
    client.post(MEMORIES, json=draft("Bob is back")).raise_for_status()
    assert reply(client, "clear_all", cleared)["resultType"] == "input_required" and left(client) == 1


def test_an_old_answer_is_refused(client: httpx.Client, monkeypatch: pytest.MonkeyPatch, engine: Engine):
    monkeypatch.setattr(questions, "SECONDS", 1e-9)
    with TestClient(create_app(Settings(), engine=engine)) as other:
        state = ask(other, "purge")["requestState"]
        assert reply(other, "purge", state)["code"] == types.INVALID_PARAMS and left(other) == 3


def test_a_question_without_its_answer_is_asked_again(client: httpx.Client):
    state = ask(client, "purge")["requestState"]
    asked = modern(
        client, "tools/call", ASKS, name="purge", arguments=CALLS["purge"], requestState=state, inputResponses={}
    )
    assert asked["resultType"] == "input_required" and left(client) == 3


def test_a_person_is_asked_before_the_task_is_made(client: httpx.Client):
    both = {**ASKS, **TASKS}
    found = modern(client, "tools/call", both, name="purge", arguments=CALLS["purge"])
    assert found["resultType"] == "input_required"
    given = {"inputResponses": {"confirm": YES}, "requestState": found["requestState"]}
    made = modern(client, "tools/call", both, name="purge", arguments=CALLS["purge"], **given)
    assert made["resultType"] == "task" and not {"requestState", "inputRequests"} & made.keys()


def test_a_person_accepts_a_candidate_as_it_is(client: httpx.Client):
    made = client.post(MEMORIES, json=draft("Ann may like jazz", status="candidate")).json()["id"]
    arguments = {"id": made, "changes": {"status": "active"}}

    def accept(**given: Any) -> Any:
        return modern(client, "tools/call", ASKS, name="update_memory", arguments=arguments, **given)

    found = accept()
    assert "Ann may like jazz" in found["inputRequests"]["confirm"]["params"]["message"]
    given = {"inputResponses": {"confirm": YES}, "requestState": found["requestState"]}
    answer(client, "update_memory", id=made, changes={"content": "Ann likes jazz"})
    again = accept(**given)
    assert "Ann likes jazz" in again["inputRequests"]["confirm"]["params"]["message"], "that text was not confirmed"
    assert accept(**{**given, "requestState": again["requestState"]})["structuredContent"]["memory"]["id"] == made
    assert client.get(f"{MEMORIES}/{made}").json()["status"] == "active"
    assert accept()["resultType"] == "complete", "it is no candidate any more"
    other = modern(client, "tools/call", ASKS, name="update_memory", arguments={"id": made, "changes": {"tags": ["x"]}})
    assert other["resultType"] == "complete"


async def clear(transport: Any, seen: list[str]) -> dict[str, Any] | None:
    """Clear a space by the SDK's client, whose person says yes to what is noted in `seen`."""

    async def elicited(_: Any, params: Any) -> types.ElicitResult:
        seen.append(params.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    async with Client(transport, elicitation_callback=elicited) as mcp:
        await mcp.call_tool("remember", {"content": "Ann likes rain"})
        return (await mcp.call_tool("clear_all", CALLS["clear_all"])).structured_content


@pytest.mark.file_only
def test_another_process_takes_the_answer(tmp_path: Path):
    with (
        serving(tmp_path) as (_, one),
        serving(tmp_path) as (_, two),
        httpx.Client(base_url=one, timeout=60) as first,
        httpx.Client(base_url=two, timeout=60) as second,
    ):
        first.post(MEMORIES, json=draft("Ann likes tea", author="Ann")).raise_for_status()
        state = ask(first, "clear_all")["requestState"]
        assert not reply(second, "clear_all", state)["isError"]


@pytest.mark.file_only
@pytest.mark.parametrize("transport", ["HTTP", "stdio"])
def test_the_sdks_client_asks_its_person(tmp_path: Path, transport: str):
    seen: list[str] = []
    if transport == "HTTP":
        with serving(tmp_path) as (_, url):
            done = anyio.run(clear, streamable_http_client(f"{url}/mcp?tools=all"), seen)
    else:
        command = str(Path(sys.executable).with_name("muisti"))
        words = ["--database", f"{tmp_path}/m.db", "--space", "default", "mcp", "--tools", "all"]
        start = StdioServerParameters(command=command, args=words, env={"MUISTI_EMBEDDINGS": "off"})
        done = anyio.run(clear, stdio_client(start), seen)
    assert done is not None and done["ended"] == 1
    assert seen == ["Delete everything in the space default, 1 memory? A rollback brings it back."]
