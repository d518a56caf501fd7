"""A limit of tasks that wait in a space: each way to make one refuses beyond it, and stores nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.tasks import NewItem
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.core.tasks.kinds import Remember
from tests.service.fakes import API
from tests.service.mcp_client import call
from tests.stores import at

pytestmark = pytest.mark.one_store


class Further(WordEncoder):
    """A second model."""

    identity = "b" * 64
    name = "further"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine that lets one task wait, and one that waits."""
    place = tmp_path_factory.mktemp("queue") / "a.db"
    with Engine(at(place).open(), WordEncoder(), Clock(), others=[Further()], task_queue=1) as engine:
        engine.tasks.register(Remember(engine))
        engine.tasks.submit("default", "remember", {}, OWNER, [NewItem("waits")])
        yield engine


@pytest.fixture
def client(engine: Engine, tmp_path: Path) -> Iterator[httpx.Client]:
    (tmp_path / "a.md").write_text("# A file of the server\n")
    settings = Settings(tasks=0, server_files=str(tmp_path), upload_at_once=10, mcp_tools="memory,documents,admin")
    with TestClient(create_app(settings, engine=engine)) as client:
        yield client


def two_files(client: httpx.Client) -> httpx.Response:
    files = [("file", (name, b"# A title\n\nA text.\n", "text/markdown")) for name in ("a.md", "b.md")]
    return client.post(f"{API}/documents", files=files)


def a_text(client: httpx.Client) -> httpx.Response:
    return client.put(f"{API}/documents/a.md", json={"content": "# A text that is no small one\n"})


def a_server_path(client: httpx.Client) -> httpx.Response:
    return client.post(f"{API}/documents", json={"server_path": "a.md"})


def an_import(client: httpx.Client) -> httpx.Response:
    headers = {"content-type": "application/x-ndjson"}
    return client.post(f"{API}/import?task=true", content=b'{"type": "muisti", "format": 2}\n', headers=headers)


def a_purge(client: httpx.Client) -> httpx.Response:
    return client.post(f"{API}/purge?task=true", json={"author": "ann"})


def a_model(client: httpx.Client) -> httpx.Response:
    return client.post(f"{API}/generations", json={"model": "further"})


def summaries(client: httpx.Client) -> httpx.Response:
    return client.post(f"{API}/summaries")


def a_graph(client: httpx.Client) -> httpx.Response:
    return client.post(f"{API}/graph/build", json={})


REQUESTS = {
    "addDocuments": [two_files, a_server_path], "putDocument": [a_text], "importMemories": [an_import],
    "purge": [a_purge], "buildGeneration": [a_model], "summariseSpace": [summaries], "buildGraph": [a_graph],
}  # fmt: skip


@pytest.mark.parametrize("submit", [one for ways in REQUESTS.values() for one in ways])
def test_a_further_task_is_refused(
    client: httpx.Client, engine: Engine, submit: Callable[[httpx.Client], httpx.Response]
):
    answer = submit(client)
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_tasks"), answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert "'default'" in answer.json()["detail"]
    unchanged(engine)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("add_document", {"server_path": "a.md"}), ("set_model", {"step": "build", "model": "further"})],
)
def test_so_it_is_over_mcp(client: httpx.Client, engine: Engine, tool: str, arguments: dict[str, Any]):
    assert call(client, tool, **arguments)["structuredContent"]["code"] == "too_many_tasks"
    unchanged(engine)


def unchanged(engine: Engine) -> None:
    """Check that the task that waits is all there is, and that no request has left anything."""
    assert [one.kind for one in engine.tasks.list("default", OWNER).items] == ["remember"]
    assert engine.owner.read.stats("default").memories == 0
    assert engine.spaces.get("default").shadow is None


def test_all_routes_that_answer_202_are_tried(client: httpx.Client):
    document = client.get("/openapi.json").json()
    accepting = {
        operation["operationId"]
        for path, operations in document["paths"].items()
        if "{space}" in path  # moves between databases wait in the directory, at most one for each bucket or space
        for operation in operations.values()
        if isinstance(operation, dict) and "202" in operation.get("responses", {})
    }
    assert accepting == REQUESTS.keys()
