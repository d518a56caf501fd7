"""Change notifications of 2026-07-28: a listener is notified of what changes, whoever wrote, and of no more."""

import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, Subscription
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from muisti.core.engine import Engine
from muisti.core.identity.grants import EVERYTHING, Grant
from muisti.core.model.values import LOCAL, Draft
from muisti.service.auth.access import Access
from muisti.service.mcp import manager
from muisti.service.mcp.manager import make_server
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from muisti.service.tools.session import Session
from tests.core.fakes import Clock
from tests.service.app.test_server import serving
from tests.stores import at

CATEGORIES = "memory://default/categories"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "EVERY", 0.01)


def talk(
    engine: Engine, work: Callable[[Client], Awaitable[Any]], grant: Grant = EVERYTHING, era: str = "auto"
) -> None:
    async def connected() -> None:
        session = Session(Backend(engine, Settings()), Access(LOCAL, grant))
        try:
            async with Client(make_server(lambda _: session), mode=era) as client:
                await work(client)
        finally:
            session.backend.close()

    anyio.run(connected)


async def next_of(stream: Subscription) -> object:
    with anyio.fail_after(20):
        return await anext(stream)


def test_what_changes_is_told_and_nothing_else(engine: Engine):
    made = [
        engine.owner.write.add("default", [Draft(content=text, category="c")]).memories[0]
        for text in ("We deploy", "Tea")
    ]
    first, second = (f"memory://default/{memory.id}" for memory in made)

    async def work(client: Client) -> None:
        capabilities = client.server_capabilities
        assert capabilities.resources and capabilities.resources.subscribe and capabilities.resources.list_changed
        assert capabilities.tools and not capabilities.tools.list_changed
        assert capabilities.prompts and not capabilities.prompts.list_changed
        uris = [first, second, CATEGORIES, "memory://default/gone", "file:///etc/passwd"]
        async with client.listen(
            resources_list_changed=True, tools_list_changed=True, resource_subscriptions=uris
        ) as stream:
            honored = stream.honored
            assert honored.resources_list_changed and not honored.tools_list_changed
            assert honored.resource_subscriptions == [first, second, CATEGORIES]
            engine.owner.write.update("default", made[0].id, {"content": "We never deploy"})
            assert await next_of(stream) == ResourceUpdated(first)
            engine.owner.write.add("default", [Draft(content="Anna likes cake", category="d")])
            assert await next_of(stream) == ResourceUpdated(CATEGORIES)
            engine.owner.write.delete("default", made[1].id)
            assert {await next_of(stream), await next_of(stream)} == {
                ResourceUpdated(second),
                ResourceUpdated(CATEGORIES),
            }
            engine.spaces.create("other")
            assert await next_of(stream) == ResourcesListChanged()

    talk(engine, work)


def test_who_listens_hears_of_nothing_that_he_may_not_see(engine: Engine):
    for space in ("acme.own", "other"):
        engine.spaces.create(space)
    own, foreign = (
        engine.owner.write.add(space, [Draft(content="We deploy", category="c")]) for space in ("acme.own", "other")
    )
    uris = [f"memory://acme.own/{own.memories[0].id}", f"memory://other/{foreign.memories[0].id}"]

    async def work(client: Client) -> None:
        async with client.listen(resources_list_changed=True, resource_subscriptions=uris) as stream:
            assert stream.honored.resource_subscriptions == uris[:1]
            engine.spaces.create("another")
            engine.owner.write.delete("other", foreign.memories[0].id)
            await anyio.sleep(0.1)
            engine.owner.write.delete("acme.own", own.memories[0].id)
            assert await next_of(stream) == ResourceUpdated(uris[0])

    talk(engine, work, Grant(frozenset({"read"}), ("acme.*",)))

    async def blind(client: Client) -> None:
        async with client.listen(resources_list_changed=True, resource_subscriptions=uris) as stream:
            assert not stream.honored.model_dump(exclude_none=True)

    talk(engine, blind, Grant(frozenset({"append"}), ("acme.*",)))


def test_streams_are_bounded_in_number_time_and_resources(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(manager, "STREAMS", 1)
    monkeypatch.setattr(manager, "SECONDS", 0.2)

    async def work(client: Client) -> None:
        for _ in range(2):  # a stream that ended makes room
            async with client.listen(resources_list_changed=True) as stream:
                with pytest.raises(MCPError, match="streams are open"):
                    async with client.listen(resources_list_changed=True):
                        pass
                assert [event async for event in stream] == []  # it ends in good order
        async with client.listen(resources_list_changed=True):
            pass  # the client goes away
        async with client.listen(resources_list_changed=True):
            pass
        with pytest.raises(MCPError, match="too many"):
            async with client.listen(resource_subscriptions=[f"memory://default/{number}" for number in range(101)]):
                pass

    talk(engine, work)


def test_revisions_with_sessions_are_told_that_there_are_none(engine: Engine):
    async def work(client: Client) -> None:
        capabilities = client.server_capabilities.resources
        assert capabilities and not capabilities.subscribe and not capabilities.list_changed
        with pytest.raises(ListenNotSupportedError):
            async with client.listen(resources_list_changed=True):
                pass

    talk(engine, work, era="legacy")


def test_over_http_a_writer_of_another_process_is_heard_and_a_server_that_stops_ends_the_stream(tmp_path: Path):
    async def work(url: str, stop: Callable[[], None]) -> None:
        with Engine(at(tmp_path / "m.db").open(), None, Clock()) as writer:
            async with (
                Client(streamable_http_client(f"{url}/mcp")) as client,
                client.listen(resource_subscriptions=[CATEGORIES]) as stream,
            ):
                writer.owner.write.add("default", [Draft(content="We deploy", category="c")])
                assert await next_of(stream) == ResourceUpdated(CATEGORIES)
                assert (await client.call_tool("overview", {})).structured_content["memories"] == 1
                stop()
                with anyio.fail_after(8):  # the running requests' time of grace is 10
                    assert [event async for event in stream] == []

    with serving(tmp_path) as (process, url):
        assert httpx.get(f"{url}/healthz").status_code == 200
        anyio.run(work, url, lambda: process.send_signal(signal.SIGTERM))
        _, log = process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in log and "Cancel" not in log
