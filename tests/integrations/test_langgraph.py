"""`MuistiStore` answers as LangGraph's own store does, on either handle, and keeps what that one cannot."""

import random
from typing import Any

import pytest

pytest.importorskip("langgraph.store.memory", reason="make integrations-test")

from langgraph.store.memory import InMemoryStore

import muisti
from muisti.integrations.langgraph import MuistiStore

NAMESPACES = [("a",), ("a", "b"), ("A", "b"), ("ab",), ("a", "b", "c")]
FILTERS: list[Any] = [None, {"kind": "x"}, {"n": {"$gte": 5}}, {"n": {"$ne": 3}, "kind": "y"}, {"in": {"deep": 1}}]


def shown(items: Any) -> list[Any]:
    return sorted((item.namespace, item.key, str(item.value)) for item in items)


def test_it_answers_as_the_store_in_memory_does(memory: Any):
    """Random writes, after each of which both stores are asked the same."""
    chance = random.Random(7)
    ours, theirs = MuistiStore(memory), InMemoryStore()
    for step in range(60):
        namespace, key = chance.choice(NAMESPACES), chance.choice("kK0")
        value = {"n": step % 9, "kind": chance.choice("xy"), "in": {"deep": step % 2}, "text": f"note {step}"}
        for store in (ours, theirs):
            store.delete(namespace, key) if step % 5 == 4 else store.put(namespace, key, value)
        mine, yours = ours.get(namespace, key), theirs.get(namespace, key)
        assert (mine and mine.value) == (yours and yours.value)
        prefix, wanted = chance.choice([(), *NAMESPACES]), chance.choice(FILTERS)
        found = (store.search(prefix, filter=wanted, limit=50) for store in (ours, theirs))
        assert shown(next(found)) == shown(next(found))
    held = {name for name in NAMESPACES if theirs.search(name, limit=1)}
    assert {*ours.list_namespaces()} <= held
    assert ours.list_namespaces(prefix=("a", "*")) == [
        one for one in sorted(NAMESPACES) if one[:1] == ("a",) and len(one) > 1
    ]


def test_a_search_ranks_by_meaning_and_what_is_not_indexed_comes_last(memory: Any):
    store = MuistiStore(memory, fields=["text"])
    store.put(("n",), "hidden", {"text": "Deploys go out on Fridays."}, index=False)
    store.put(("n",), "tea", {"text": "Ann drinks green tea."})
    store.put(("n",), "deploy", {"text": "Deploys go out on Fridays."})
    found = store.search(("n",), query="on which day do we deploy?")
    assert found[0].key == "deploy" and found[-1].key == "hidden"
    assert found[0].score is not None and found[-1].score is None


def test_a_put_is_a_version_that_can_be_undone(memory: Any):
    store = MuistiStore(memory)
    store.put(("n",), "k", {"v": 1})
    store.put(("n",), "k", {"v": 2})
    memory.undo()
    item = store.get(("n",), "k")
    assert item is not None and item.value == {"v": 1}


async def test_it_works_on_an_asynchronous_handle():
    async with muisti.open_async(":memory:") as memory:
        store = MuistiStore(memory)
        await store.aput(("n",), "k", {"text": "green tea"})
        assert [item.key for item in await store.asearch(("n",), query="tea")] == ["k"]
        with pytest.raises(TypeError, match="synchronous handle"):
            store.get(("n",), "k")
