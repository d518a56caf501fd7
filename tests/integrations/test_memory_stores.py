"""Anthropic's SDK, unchanged, on a server: what it writes is in Muisti, and it raises its own errors."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

pytest.importorskip("anthropic.resources.beta.memory_stores", reason="make integrations-test")

import anthropic
from anthropic import Anthropic, AsyncAnthropic

import muisti
from loadtests.services.muisti import serving
from muisti.integrations.anthropic import MuistiMemoryTool

ADMIN = "mk_admin_of_the_tests_of_memory_stores_0123456789"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("keyed") / "muisti.db"
    with serving(path, extra={"MUISTI_ADMIN_KEY": ADMIN}) as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.fixture(scope="module")
def stores(keyed: str) -> Any:
    return Anthropic(base_url=keyed, api_key=ADMIN).beta.memory_stores


def test_what_the_sdk_writes_is_a_memory_and_what_muisti_writes_has_a_path(keyed: str, stores: Any):
    store = stores.create(name="Shared")
    with muisti.connect(keyed, ADMIN) as connection:
        space = connection.space("shared")
        made = stores.memories.create(store.id, path="/notes/boat.md", content="Ann sails to Turku")
        assert space.search("who sails?").hits[0].memory.content == "Ann sails to Turku"
        assert space.get(category="notes", key="boat.md").id.replace("-", "") == made.id.removeprefix("mem_")
        space.remember("Bob rows", category="notes", key="row.md")
        space.undo()
        space.remember("Bob rows a boat", category="notes", key="row.md")
    listed = stores.memories.list(store.id, path_prefix="/notes/", limit=1, view="full")
    assert [(one.path, one.content) for one in listed] == [
        ("/notes/boat.md", "Ann sails to Turku"), ("/notes/row.md", "Bob rows a boat"),
    ]  # fmt: skip


def test_the_memory_tool_and_a_store_have_the_same_files(keyed: str, stores: Any):
    store = stores.create(name="Files")
    with muisti.connect(keyed, ADMIN) as connection:
        tool = MuistiMemoryTool(connection.space("files"))
        tool.call({"command": "create", "path": "/memories/Notes/a.txt", "file_text": "one\n"})
        tool.call({"command": "create", "path": "/memories/empty.txt", "file_text": ""})
        made = stores.memories.create(store.id, path="/memories/Notes/B.txt", content=" ")
        assert "B.txt" in str(tool.call({"command": "view", "path": "/memories/Notes"}))
        tool.call({"command": "rename", "old_path": "/memories/Notes/B.txt", "new_path": "/memories/c.txt"})
        assert stores.memories.retrieve(made.id, memory_store_id=store.id).path == "/memories/c.txt"
    listed = {one.path: one.content for one in stores.memories.list(store.id, view="full")}
    assert listed == {"/memories/Notes/a.txt": "one\n", "/memories/empty.txt": "", "/memories/c.txt": " "}


def test_the_sdk_raises_its_own_errors(keyed: str, stores: Any):
    store = stores.create(name="Errors")
    made = stores.memories.create(store.id, path="/a.md", content="one")
    stranger = Anthropic(base_url=keyed, api_key="mk_none").beta.memory_stores
    for error, kind, call in (
        (anthropic.ConflictError, "memory_path_conflict_error",
            lambda: stores.memories.create(store.id, path="/a.md", content="two")),
        (anthropic.ConflictError, "memory_precondition_failed_error",
            lambda: stores.memories.delete(made.id, memory_store_id=store.id, expected_content_sha256="0" * 64)),
        (anthropic.BadRequestError, "invalid_request_error",
            lambda: stores.memories.create(store.id, path="a.md", content="two")),
        (anthropic.NotFoundError, "not_found_error", lambda: stores.retrieve("memstore_none")),
        (anthropic.AuthenticationError, "authentication_error", lambda: stranger.retrieve(store.id)),
    ):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert raised.value.type == kind


def test_one_of_many_who_expect_the_same_content_changes_it(keyed: str, stores: Any):
    store = stores.create(name="Race")
    made = stores.memories.create(store.id, path="/a.md", content="0")
    expected = {"type": "content_sha256", "content_sha256": made.content_sha256}

    async def race() -> list[Any]:
        async with AsyncAnthropic(base_url=keyed, api_key=ADMIN) as client:
            update = client.beta.memory_stores.memories.update
            calls = [
                update(made.id, memory_store_id=store.id, content=f"{n} of all", precondition=expected)
                for n in range(12)
            ]
            return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = asyncio.run(race())
    assert sorted(isinstance(one, anthropic.ConflictError) for one in outcomes) == [False] + [True] * 11
    assert len([*stores.memory_versions.list(store.id, memory_id=made.id)]) == 2


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path):
    path, acknowledged = tmp_path / "muisti.db", dict[str, str]()
    with suppress(Exception), serving(path) as running:
        client = Anthropic(base_url=f"http://127.0.0.1:{running.port}", api_key="none", max_retries=0)
        stores = client.beta.memory_stores
        store = stores.create(name="Killed")
        Timer(1.0, os.kill, (running.pid, signal.SIGKILL)).start()
        with suppress(anthropic.APIConnectionError):
            for number in count():
                made = stores.memories.create(store.id, path=f"/{number}.md", content=f"text {number}")
                acknowledged[made.path] = f"text {number}"
    with serving(path) as running:
        stores = Anthropic(base_url=f"http://127.0.0.1:{running.port}", api_key="none").beta.memory_stores
        listed = {one.path: one.content for one in stores.memories.list("memstore_killed", view="full")}
    assert acknowledged and acknowledged.items() <= listed.items() and len(listed) <= len(acknowledged) + 1
