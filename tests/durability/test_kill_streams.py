"""kill -9 while turns stream in. What was acknowledged is there afterwards, each turn once, in its place."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.durability.server import Server
from tests.durability.wire import Connection, for_each

pytestmark = pytest.mark.prove


ROUNDS = 12  # with --long
FEW_ROUNDS = 2
TALKS, BATCHES, EACH = 4, 25, 4  # conversations, requests to each, turns in a request
SPACE = "/v1/spaces/default"


def batch(talk: int, number: int) -> dict[str, Any]:
    turns = range(number * EACH, (number + 1) * EACH)
    return {"items": [{"turn": turn, "author": "Ann", "content": f"turn {turn} of {talk}"} for turn in turns]}


async def stream(
    server: Server, requests: list[tuple[int, int]], kill_after: int | None = None
) -> set[tuple[int, int]]:
    """Send requests at the same time; after `kill_after` answers the server is killed. Return those answered."""
    answered: set[tuple[int, int]] = set()

    async def one(connection: Connection, request: tuple[int, int]) -> None:
        path = f"{SPACE}/conversations/c{request[0]}/exchanges"
        answer = await connection.ask("POST", path, batch(*request))
        assert answer.status == 200, answer
        answered.add(request)
        if len(answered) == kill_after:
            server.kill()

    await for_each(server.port, requests, one)
    return answered


async def turns_of(server: Server, talk: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []

    async def read(connection: Connection, path: str) -> None:
        answer = await connection.ask("GET", path)
        if answer.status == 404:
            return
        found.extend((one["turn"], one["content"]) for one in answer.body["items"])
        if answer.body["next_cursor"] is not None:
            await read(
                connection, f"{SPACE}/conversations/c{talk}/exchanges?limit=100&cursor={answer.body['next_cursor']}"
            )

    await for_each(server.port, [f"{SPACE}/conversations/c{talk}/exchanges?limit=100"], read)
    return found


async def rounds(server: Server, count: int) -> None:
    rng = random.Random(4)
    requests = [(talk, number) for number in range(BATCHES) for talk in range(TALKS)]
    done: set[tuple[int, int]] = set()
    for _ in range(count):
        todo = [one for one in requests if one not in done]
        if len(todo) < 10:
            break
        done |= await stream(server, todo, kill_after=rng.randint(1, len(todo) // 2))
        await asyncio.to_thread(server.start)
        for talk in range(TALKS):
            found = dict(await turns_of(server, talk))
            for number in [number for own, number in done if own == talk]:  # acknowledged: whole
                assert all(found[one["turn"]] == one["content"] for one in batch(talk, number)["items"])
            for number in range(BATCHES):  # a request is there as a whole, or not at all
                assert sum(number * EACH <= turn < (number + 1) * EACH for turn in found) in (0, EACH)
    done |= await stream(server, requests)  # all once more: what is there is replayed
    for talk in range(TALKS):
        expected = [(turn, f"turn {turn} of {talk}") for turn in range(BATCHES * EACH)]
        assert await turns_of(server, talk) == expected


@pytest.mark.timeout(600)
def test_a_killed_server_has_every_acknowledged_turn_once(folder: Path, long: bool):
    with Server(folder / "muisti.db") as server:
        asyncio.run(rounds(server, ROUNDS if long else FEW_ROUNDS))
