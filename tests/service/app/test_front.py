"""A server answers what its fast path takes before the routes are loaded, and the rest as soon as they are."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.service.app.app import Front
from muisti.service.settings import Settings
from tests.service.paths import told

SPACE = "/v1/spaces/default"
PROBES = ("/healthz", "/readyz")
DECIDES = {"Muisti-Freshness": "session"}  # so its handler answers


def talk(engine: Engine, conversation: Callable[[Front, httpx.AsyncClient], Awaitable[None]]) -> None:
    async def run() -> None:
        front = Front(Settings(tasks=0), engine=engine)
        transport = httpx.ASGITransport(app=front)  # pyright: ignore[reportArgumentType]  # other spellings of ASGI
        async with front.running(), httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await conversation(front, client)

    asyncio.run(run())


def test_the_fast_path_needs_no_routes_and_others_wait_for_them_together(engine: Engine):
    async def conversation(front: Front, client: httpx.AsyncClient) -> None:
        assert [(await client.get(probe)).status_code for probe in PROBES] == [200, 200]
        added = await client.post(f"{SPACE}/memories", json={"content": "We deploy on Tuesdays"})
        found = await client.post(f"{SPACE}/search", json={"query": "When do we deploy?"})
        assert found.json()["hits"][0]["memory"]["id"] == added.json()["id"]
        assert (await client.post(f"{SPACE}/search", json={"query": 1})).status_code == 422
        assert not front.is_whole
        paths = (f"{SPACE}/memories/{added.json()['id']}", "/v1/spaces", "/problems/busy", "/", "/v1/none", "/docs")
        others = await asyncio.gather(*map(client.get, paths))
        assert [answer.status_code for answer in others] == [200, 200, 200, 200, 404, 200]
        assert front.is_whole

    talk(engine, conversation)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_signs_of_life_are_those_of_their_handlers(engine: Engine, method: str):
    async def conversation(_: Front, client: httpx.AsyncClient) -> None:
        for probe in PROBES:
            fast, slow = await client.request(method, probe), await client.request(method, probe, headers=DECIDES)
            assert told(fast, "default") == told(slow, "default")

    talk(engine, conversation)
