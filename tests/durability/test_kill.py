"""kill -9 in the middle of many adds. What was acknowledged is there afterwards, and nothing is there twice."""

import asyncio
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from muisti.core.store.database import Statement
from muisti.core.store.file.database import FileDatabase
from tests.durability.server import Server, rare_word
from tests.durability.wire import Connection, for_each

pytestmark = pytest.mark.prove


ROUNDS = 20  # when there is time
FEW_ROUNDS = 3
ADDS = 200  # in each round
MEMORIES = "/v1/spaces/default/memories"
SEARCH = "/v1/spaces/default/search"

Memories = dict[int, Any]  # what was answered, by number


def text(number: int) -> str:
    return f"note {rare_word(number)} of the evening"


async def add(server: Server, numbers: Iterable[int], kill_after: int | None = None, *, keyed: bool = True) -> Memories:
    """Send concurrent adds. After `kill_after` answers the server is killed.

    Those that are `keyed` have an idempotency key each. The server stores others together.
    """
    answers: Memories = {}

    async def one(connection: Connection, number: int) -> None:
        key = {"idempotency_key": f"add-{number}"} if keyed else {}
        answer = await connection.ask("POST", MEMORIES, {"content": text(number)}, **key)
        assert answer.status == 201, answer
        answers[number] = answer.body
        if len(answers) == kill_after:
            server.kill()

    await for_each(server.port, numbers, one)
    return answers


async def assert_found(server: Server, answers: Memories) -> None:
    """Each by id and by search, once."""
    found: list[int] = []

    async def one(connection: Connection, number: int) -> None:
        memory = answers[number]
        stored = (await connection.ask("GET", f"{MEMORIES}/{memory['id']}")).body
        assert stored == {name: value for name, value in memory.items() if name in stored}
        answer = await connection.ask("POST", SEARCH, {"query": rare_word(number), "mode": "keyword"})
        assert [hit["memory"]["id"] for hit in answer.body["hits"]] == [memory["id"]]
        found.append(number)

    await for_each(server.port, answers, one)
    assert sorted(found) == sorted(answers)


async def all_memories(server: Server) -> list[tuple[str, str]]:
    """Id and content, from all pages of the list."""
    found: list[tuple[str, str]] = []

    async def read(connection: Connection, path: str) -> None:
        page = (await connection.ask("GET", path)).body
        found.extend((memory["id"], memory["content"]) for memory in page["items"])
        if page["next_cursor"] is not None:
            await read(connection, f"{MEMORIES}?limit=100&cursor={page['next_cursor']}")

    await for_each(server.port, [f"{MEMORIES}?limit=100"], read)
    return found


async def kill_and_restart(server: Server, numbers: range, rng: random.Random) -> Memories:
    """One round. Afterwards the server runs again and has answered every add; gives the answers."""
    before = await add(server, numbers, kill_after=rng.randint(1, ADDS * 3 // 4))
    assert 0 < len(before) < ADDS
    await asyncio.to_thread(server.start)
    await assert_found(server, before)
    after = await add(server, [number for number in numbers if number not in before])
    assert len(before) + len(after) == ADDS
    return before | after


async def rounds(server: Server, count: int) -> None:
    rng = random.Random(9)
    answers: Memories = {}
    for start in range(0, count * ADDS, ADDS):
        answers |= await kill_and_restart(server, range(start, start + ADDS), rng)
    expected = [(memory["id"], text(number)) for number, memory in answers.items()]
    assert sorted(await all_memories(server)) == sorted(expected)


@pytest.mark.timeout(600)
def test_a_killed_server_has_every_acknowledged_memory_and_none_twice(folder: Path, long: bool):
    with Server(folder / "muisti.db") as server:
        asyncio.run(rounds(server, ROUNDS if long else FEW_ROUNDS))
    database = FileDatabase(folder / "muisti.db")
    assert database.read([Statement("PRAGMA integrity_check")]) == [[("ok",)]]
    database.close()


async def together(server: Server, count: int) -> None:
    rng = random.Random(10)
    answers: Memories = {}
    for start in range(0, count * ADDS, ADDS):
        found = await add(server, range(start, start + ADDS), kill_after=rng.randint(1, ADDS * 3 // 4), keyed=False)
        assert 0 < len(found) < ADDS
        await asyncio.to_thread(server.start)
        await assert_found(server, found)
        answers |= found
    stored = await all_memories(server)
    assert {(memory["id"], text(number)) for number, memory in answers.items()} <= {*stored}
    assert len({content for _, content in stored}) == len(stored)


@pytest.mark.timeout(600)
def test_of_adds_that_are_stored_together_none_is_lost_or_there_in_part(folder: Path, long: bool):
    with Server(folder / "muisti.db") as server:
        asyncio.run(together(server, ROUNDS if long else FEW_ROUNDS))
    database = FileDatabase(folder / "muisti.db")
    whole = (
        "SELECT seq, (SELECT count(*) FROM changes), (SELECT count(*) FROM versions), (SELECT count(*) FROM passages)"
    )
    check, ((seq, *counts),) = database.read([Statement("PRAGMA integrity_check"), Statement(f"{whole} FROM spaces")])
    assert check == [("ok",)] and counts == [seq] * 3
    database.close()
