"""`MuistiSession` keeps what `SQLiteSession` keeps, in its order, also when several write at the same time."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents", reason="make integrations-test")

from agents import SQLiteSession

import muisti
from muisti.integrations.openai_agents import MuistiSession

ITEMS: list[Any] = [
    {"role": "user", "content": "When do we deploy?"},
    {"type": "function_call", "call_id": "c1", "name": "calendar", "arguments": '{"day": "Friday"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "x" * 30_000},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "On Fridays.\0"}]},
    {"role": "user", "content": "When do we deploy?"},
    {"type": "reasoning", "id": "r1", "summary": []},
]


async def test_it_keeps_what_the_sdks_own_session_keeps(memory: Any):
    ours, theirs = MuistiSession("Ann 1", memory), SQLiteSession("Ann 1")
    other = MuistiSession("ann 1", memory)
    for session in (ours, theirs):
        await session.add_items(ITEMS[:4])
        await session.add_items([])
        await session.add_items(ITEMS[4:])
    for limit in (None, 0, 1, 3, 99):
        assert await ours.get_items(limit) == await theirs.get_items(limit)
    assert await other.get_items() == []
    assert await ours.pop_item() == await theirs.pop_item() == ITEMS[-1]
    for session in (ours, theirs):
        await session.add_items(ITEMS[:1])
    assert await ours.get_items() == await theirs.get_items()
    await ours.clear_session()
    assert await ours.get_items() == [] and await ours.pop_item() is None


async def test_what_is_added_at_once_stays_together_and_is_popped_once(memory: Any):
    session = MuistiSession("busy", memory)
    pairs = [[{"role": "user", "content": f"{n} a"}, {"role": "user", "content": f"{n} b"}] for n in range(8)]
    await asyncio.gather(*(session.add_items(pair) for pair in pairs))
    said = [item["content"] for item in await session.get_items()]
    assert sorted(said) == sorted(item["content"] for pair in pairs for item in pair)
    assert all(said[at].split()[0] == said[at + 1].split()[0] for at in range(0, 16, 2))
    popped = await asyncio.gather(*(session.pop_item() for _ in range(16)))
    assert sorted(item["content"] for item in popped) == sorted(said)


async def test_it_works_on_an_asynchronous_handle():
    async with muisti.open_async(":memory:") as memory:
        session = MuistiSession("s", memory)
        await session.add_items(ITEMS)
        assert await session.get_items(2) == ITEMS[-2:]
        assert (await memory.recall("when do we deploy?"))[0].content == "When do we deploy?"
