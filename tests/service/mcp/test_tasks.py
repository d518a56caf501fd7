"""Long work as tasks, for clients that declare the extension: on any process, for nobody who may not see them."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
import mcp_types as types
import pytest
from litestar.testing import TestClient
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.runtime.admission import SMALL
from muisti.service.settings import Settings
from tests.service.app.test_server import serving
from tests.service.fakes import draft
from tests.service.keyed import with_mode
from tests.service.mcp_client import MODERN, TASKS, answer, modern

MEMORIES = "/v1/spaces/default/memories"
PURGE: dict[str, Any] = {"author": "Ann", "dry_run": False, "confirm": "default"}
PARAMS: Mapping[str, dict[str, Any]] = {"tasks/get": {}, "tasks/update": {"inputResponses": {}}, "tasks/cancel": {}}
NO_SUCH = "default:0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11"


def purge(client: httpx.Client, able: Mapping[str, Any] = TASKS) -> Any:
    client.post(MEMORIES, json=draft("Ann likes tea", author="Ann"))
    return modern(client, "tools/call", able, name="purge", arguments=PURGE)


def ended(client: httpx.Client, task: str) -> Any:
    while (found := modern(client, "tasks/get", TASKS, taskId=task))["status"] == "working":
        pass
    return found


def test_a_task_is_the_result_of_long_work_and_has_at_last_what_the_tool_answers(client: httpx.Client):
    made = purge(client)
    assert (made["resultType"], made["status"], made["ttlMs"]) == ("task", "working", None)
    assert not {"content", "result", "structuredContent"} & made.keys()
    found = ended(client, made["taskId"])
    assert (found["resultType"], found["status"], found["taskId"]) == ("complete", "completed", made["taskId"])
    assert found["ttlMs"] > 0 and found["lastUpdatedAt"] >= found["createdAt"] == made["createdAt"]
    result = found["result"]
    assert not result["isError"] and result["structuredContent"]["result"]["report"]["complete"]
    assert "purge succeeded" in result["content"][0]["text"]


@pytest.mark.parametrize("able", [{}, {"extensions": {}}, {"extensions": {"io.modelcontextprotocol/ui": {}}}])
def test_a_client_that_does_not_declare_the_extension_gets_what_it_got(client: httpx.Client, able: dict[str, Any]):
    found = purge(client, able)
    assert found["resultType"] == "complete" and found["structuredContent"]["kind"] == "purge"
    name = f"default:{found['structuredContent']['id']}"
    for method, params in PARAMS.items():
        refused = modern(client, method, able, taskId=name, **params)
        assert refused["code"] == types.MISSING_REQUIRED_CLIENT_CAPABILITY
        assert refused["data"] == {"requiredCapabilities": TASKS}
    assert answer(client, "purge", **PURGE)["kind"] == "purge", "an older revision has no extensions"


def test_the_extension_is_declared_and_older_methods_are_gone(client: httpx.Client):
    able = modern(client, "server/discover", TASKS)["capabilities"]
    assert able["extensions"]["io.modelcontextprotocol/tasks"] == {} and "tasks" not in able
    for method in ("tasks/result", "tasks/list"):
        assert modern(client, method, TASKS, taskId=NO_SUCH)["code"] == types.METHOD_NOT_FOUND


@pytest.mark.parametrize("name", [NO_SUCH, "nowhere:x", "x", "", ":", "default:" + "x" * 10_000, "No Name:x"])
def test_an_unknown_task_is_an_error_of_its_parameters(client: httpx.Client, name: str):
    for method, params in PARAMS.items():
        assert modern(client, method, TASKS, taskId=name, **params)["code"] == types.INVALID_PARAMS


def test_nobody_sees_a_task_of_another_key(client: httpx.Client, engine: Engine):
    client.post("/v1/spaces", json={"name": "other"}).raise_for_status()
    name = purge(client)["taskId"]
    elsewhere, narrow = with_mode(engine, "full", "other"), with_mode(engine, "full", "default", category="c")
    for key in (elsewhere, narrow):
        for method, params in PARAMS.items():
            asked = [modern(client, method, TASKS, key.headers, taskId=one, **params) for one in (name, NO_SUCH)]
            assert asked[0] == asked[1] and asked[0]["code"] == types.INVALID_PARAMS
    reader = with_mode(engine, "read-only", "default")
    assert modern(client, "tasks/get", TASKS, reader.headers, taskId=name)["taskId"] == name
    assert modern(client, "tasks/cancel", TASKS, reader.headers, taskId=name)["code"] == types.INVALID_PARAMS


def test_a_task_is_cancelled_and_noted_as_often_as_one_likes(engine: Engine):
    with TestClient(create_app(Settings(tasks=0), engine=engine)) as idle:
        name = purge(idle)["taskId"]
        acknowledged = modern(idle, "tasks/update", TASKS, taskId=name, inputResponses={"x": {"action": "accept"}})
        assert acknowledged.keys() == {"resultType", "_meta"}
        assert modern(idle, "tasks/get", TASKS, taskId=name)["status"] == "working"
        for _ in range(2):
            assert modern(idle, "tasks/cancel", TASKS, taskId=name).keys() == {"resultType", "_meta"}
            found = modern(idle, "tasks/get", TASKS, taskId=name)
            assert found["status"] == "cancelled" and "result" not in found


@pytest.mark.file_only
def test_another_process_answers_for_the_task_of_one_that_was_killed(tmp_path: Path):
    with serving(tmp_path, MUISTI_TASKS="0") as (process, url), httpx.Client(base_url=url, timeout=60) as client:
        name = purge(client)["taskId"]
        process.kill()
    with serving(tmp_path) as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        assert ended(client, name)["result"]["structuredContent"]["state"] == "succeeded"
        assert modern(client, "tasks/cancel", TASKS, taskId=name)["resultType"] == "complete"
        assert ended(client, name)["status"] == "completed", "what is over stays as it is"


def test_the_header_must_name_the_task(client: httpx.Client):
    name = purge(client)["taskId"]
    refused = modern(client, "tasks/get", TASKS, {"Mcp-Name": "other"}, taskId=name)
    assert refused["code"] == types.HEADER_MISMATCH


def test_a_long_import_is_a_task_which_imports_all_or_says_why_not(client: httpx.Client):
    for number in range(400):
        client.post(MEMORIES, json=draft(f"Tea number {number} is green"))
    exported = client.get("/v1/spaces/default/export").text
    client.post("/v1/spaces", json={"name": "copy"}).raise_for_status()
    arguments = {"ndjson": exported, "space": "copy"}
    assert len(exported) > SMALL
    done = ended(client, modern(client, "tools/call", TASKS, name="import_memories", arguments=arguments)["taskId"])
    assert done["result"]["structuredContent"]["state"] == "succeeded"
    copied = client.get("/v1/spaces/copy/stats").json()["memories"]
    assert copied == 400
    small = {"ndjson": exported.splitlines()[0] + "\n", "space": "copy"}
    assert modern(client, "tools/call", TASKS, name="import_memories", arguments=small)["resultType"] == "complete"
    broken = {"ndjson": exported[:-50] + "\n", "space": "copy"}
    failed = ended(client, modern(client, "tools/call", TASKS, name="import_memories", arguments=broken)["taskId"])
    assert (failed["status"], failed["result"]["isError"]) == ("completed", True)
    assert failed["result"]["structuredContent"]["error"]["code"]


def test_a_second_model_is_built_as_a_task(client: httpx.Client):
    client.post(MEMORIES, json=draft("We deploy on Tuesdays"))
    arguments = {"step": "build", "model": "notes-static-512"}
    made = modern(client, "tools/call", TASKS, name="set_model", arguments=arguments)
    assert ended(client, made["taskId"])["result"]["structuredContent"]["kind"] == "embed"


def listen(client: httpx.Client, able: Any, names: Any) -> list[Any]:
    """Return the messages of a stream that follows tasks, up to one of a task that is over."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": able,
    }
    params = {"_meta": meta, "notifications": {"taskIds": names}}
    about = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN}
    about["Mcp-Method"] = "subscriptions/listen"
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    found: list[Any] = []
    with client.stream("POST", "/mcp", json=body, headers=about) as answer:
        for line in answer.iter_lines():
            if line.startswith(("data: ", "{")):
                found.append(json.loads(line.removeprefix("data: ")))
                if "error" in found[-1] or found[-1].get("params", {}).get("status") in ("completed", "cancelled"):
                    break
    return found


@pytest.mark.file_only
def test_a_stream_tells_of_the_tasks_that_the_caller_sees(tmp_path: Path):
    with serving(tmp_path) as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        name = purge(client)["taskId"]
        acknowledged, *changes = listen(client, TASKS, [name, NO_SUCH])
        assert acknowledged["params"]["notifications"] == {"taskIds": [name]}
        assert {one["method"] for one in changes} == {"notifications/tasks"}
        last = {key: value for key, value in changes[-1]["params"].items() if key != "_meta"}
        asked = ended(client, name)
        assert last == {key: asked[key] for key in last} and last["status"] == "completed"
        (refused,) = listen(client, {}, [name])
        assert refused["error"]["code"] == types.MISSING_REQUIRED_CLIENT_CAPABILITY
        for names in ("x", [1], ["x"] * 101):
            assert listen(client, TASKS, names)[0]["error"]["code"] == types.INVALID_PARAMS


class _Made(types.Result):
    result_type: Literal["task"]
    task_id: str


class _Name(types.RequestParams):
    task_id: str


class _Task(types.Result):
    status: str
    result: dict[str, Any] | None = None


class _Get(types.Request[_Name, Literal["tasks/get"]]):
    name_param = "taskId"
    method: Literal["tasks/get"] = "tasks/get"


class TaskExtension(ClientExtension):
    """The extension on the side of a client: polls until the task is over."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=_Made, resolve=self._resolve)]

    async def _resolve(self, made: _Made, context: ClaimContext) -> types.CallToolResult:
        while True:
            found = await context.session.send_request(_Get(params=_Name(task_id=made.task_id)), _Task)
            self.seen.append(found.status)
            if found.status != "working":
                return types.CallToolResult.model_validate(found.result)


@pytest.mark.file_only
def test_the_sdks_client_follows_a_task_on_standard_input(tmp_path: Path):
    extension = TaskExtension()
    start = StdioServerParameters(
        command=str(Path(sys.executable).with_name("muisti")),
        args=["--database", f"{tmp_path}/m.db", "--space", "default", "mcp", "--tools", "all"],
        env={"MUISTI_EMBEDDINGS": "off"},
    )

    async def work() -> types.CallToolResult:
        async with Client(stdio_client(start), extensions=[extension]) as client:
            for number in range(60):
                await client.call_tool("remember", {"content": f"Tea {number} is green", "on_conflict": "keep"})
            exported = (await client.read_resource("memory://default/export")).contents[0]
            return await client.call_tool("import_memories", {"ndjson": getattr(exported, "text", "")})

    found = anyio.run(work)
    assert found.structured_content and found.structured_content["state"] == "succeeded", found
    assert found.structured_content["result"]["skipped"] == {"exists": 60}
    assert extension.seen[-1] == "completed"
