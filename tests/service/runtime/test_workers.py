"""Adds that wait for the disk alone: no more than the queue limit, however they arrive."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Busy, InvalidInput
from muisti.core.model.outcomes import Written
from muisti.core.model.spaces import DEFAULT
from muisti.core.model.values import Draft
from muisti.core.store.database import Ended, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.service.app.app import create_app
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, WordEncoder, add
from tests.core.fakes import Clock as Time
from tests.service.fakes import API, Breakable, draft

pytestmark = pytest.mark.file_only  # on a server no add begins on the event loop

LIMIT = 4
PATIENCE = 60  # seconds until requests count as never refused
TURNS = 100  # of the event loop: more than a request needs to reach the writer


class Held(Breakable):
    """A database whose writer takes batches and commits none of them until `release`."""

    def __init__(self, path: Path) -> None:
        super().__init__(FileDatabase(path))
        self.held: list[tuple[Sequence[Statement], Ended]] = []
        self.holding = False

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        if not self.holding:
            return super().queue(statements, ended)
        self.held.append((statements, ended))
        return True

    def release(self) -> None:
        for statements, ended in self.held:
            assert super().queue(statements, ended)
        self.held.clear()


@pytest.fixture
def database(tmp_path: Path) -> Held:
    return Held(tmp_path / "m.db")


def know(engine: Engine, space: str) -> None:
    """Load a space and its model into an engine's caches, so that adds begin on the event loop."""
    for text in ("the first memory sets the model", "the second reads it"):
        add(engine, text, space=space)


async def settled() -> None:
    """Run all tasks that wait only for the event loop."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


def test_adds_that_arrive_in_one_turn_of_the_event_loop_keep_to_the_limit(database: Held, clock: Time):
    engine = Engine(database, WordEncoder(), clock)
    engine.spaces.create(SPACE)
    know(engine, SPACE)
    backend = Backend(engine, Settings(queue_limit=LIMIT))
    memories = engine.seen_by(OWNER)

    def begin(text: str) -> asyncio.Task[Written]:
        return asyncio.create_task(backend.add(memories, SPACE, Draft(content=text), "keep", None))

    async def arrive(many: int) -> tuple[int, list[Written | BaseException]]:
        """Begin adds in one turn; give how many wait for the writer, and what became of each."""
        database.holding = True
        adds = [begin(f"note {number}") for number in range(many)]
        await settled()
        begun = sum(not one.done() for one in adds)  # the others were refused immediately
        database.holding = False
        database.release()
        return begun, await asyncio.gather(*adds, return_exceptions=True)

    async def fail() -> None:
        """Begin adds that are refused, and as many whose callers cancel: all must release their places."""
        refused = await asyncio.gather(*(begin("") for _ in range(LIMIT)), return_exceptions=True)
        assert [type(one) for one in refused] == [InvalidInput] * LIMIT
        database.holding = True
        given_up = [begin(f"given up {number}") for number in range(LIMIT)]
        await settled()
        for one in given_up:
            one.cancel()
        await asyncio.gather(*given_up, return_exceptions=True)
        database.holding = False
        database.release()
        await begin_when_free("last")

    async def begin_when_free(text: str) -> None:
        """Add as soon as there is room: a cancelled batch holds its place until the writer has ended it."""
        while True:
            with suppress(Busy):
                await begin(text)
                return
            await asyncio.sleep(0)

    async def rounds() -> None:
        for many in (3 * LIMIT, LIMIT, LIMIT + 1, 1, 3 * LIMIT):
            await fail()
            begun, outcomes = await arrive(many)
            assert begun == min(many, LIMIT)
            assert [isinstance(one, Written) for one in outcomes].count(True) == begun
            assert [isinstance(one, Busy) for one in outcomes].count(True) == many - begun

    try:
        asyncio.run(rounds())
    finally:
        backend.close()
        engine.close()


def test_requests_beyond_the_limit_are_told_to_come_again(database: Held, clock: Time):
    engine = Engine(database, WordEncoder(), clock)
    know(engine, DEFAULT)
    app = create_app(Settings(queue_limit=LIMIT), engine=engine)

    async def arrive(client: httpx.AsyncClient) -> list[httpx.Response]:
        database.holding = True
        requests = [
            asyncio.create_task(client.post(f"{API}/memories", json=draft(f"note {number}", on_conflict="keep")))
            for number in range(3 * LIMIT)
        ]
        async with asyncio.timeout(PATIENCE):
            while sum(one.done() for one in requests) < 2 * LIMIT:  # parts of a request run on threads
                await asyncio.sleep(0.001)
        database.holding = False
        database.release()
        return await asyncio.gather(*requests)

    async def rounds() -> None:
        transport = httpx.ASGITransport(app)  # pyright: ignore[reportArgumentType]  # Litestar's types are narrower
        async with app.lifespan(), httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for _ in range(2):
                answers = await arrive(client)
                assert sorted(one.status_code for one in answers) == [201] * LIMIT + [503] * 2 * LIMIT
                refused = [one for one in answers if one.status_code == 503]
                assert {(one.json()["code"], one.headers["retry-after"]) for one in refused} == {("busy", "1")}

    asyncio.run(rounds())
    engine.close()
