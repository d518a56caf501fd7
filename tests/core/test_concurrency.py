"""Concurrent threads: the next search finds every acknowledged write, and no search sees half a change."""

import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from muisti.core.engine import Engine
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.store.database import Database, Rows, Statement
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Store, Stores

THREADS = 8
ROUNDS = 25


def found(engine: Engine, word: str) -> list[str]:
    query = Query(text=word, mode="keyword", limit=100)
    return [hit.memory.id for hit in engine.owner.read.search(SPACE, query).hits]


def test_each_thread_finds_what_it_wrote_and_never_what_it_deleted(engine: Engine):
    def live(thread: int) -> None:
        rng = random.Random(thread)
        for turn in range(ROUNDS):
            word = f"word{thread}x{turn}"
            (id_,) = add(engine, f"{word} and some of the usual words", tags=(f"t{thread}",))
            assert found(engine, word) == [id_]
            tagged = Query(text=word, filter=parse({"tags": f"t{thread}"}))
            assert engine.owner.read.search(SPACE, tagged).hits[0].memory.id == id_
            action = rng.randrange(3)
            if action == 0:
                engine.owner.write.delete(SPACE, id_)
                assert found(engine, word) == []
            elif action == 1:
                engine.owner.write.update(SPACE, id_, {"content": f"now {word}changed"})
                assert found(engine, word) == [] and found(engine, f"{word}changed") == [id_]

    with ThreadPoolExecutor(THREADS) as pool:
        for outcome in [pool.submit(live, thread) for thread in range(THREADS)]:
            outcome.result()


def test_a_batch_is_seen_whole_or_not_at_all(engine: Engine):
    """While batches of five are added, every search meets a multiple of five."""

    def write(thread: int) -> None:
        for turn in range(ROUNDS):
            add(engine, *(f"five {thread} {turn} {n}" for n in range(5)))

    def read(_: int) -> None:
        seen = 0
        for _ in range(ROUNDS * 4):
            total = engine.owner.read.search(SPACE, Query(text="five", mode="keyword", limit=1)).total
            assert total % 5 == 0 and total >= seen
            seen = total

    with ThreadPoolExecutor(THREADS) as pool:
        tasks = [pool.submit(write, n) for n in range(2)] + [pool.submit(read, n) for n in range(4)]
        for task in tasks:
            task.result()
    assert engine.owner.read.search(SPACE, Query(text="five", mode="keyword", limit=1)).total == 2 * 5 * ROUNDS


@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_spaces_load_and_leave_the_memory_while_they_are_searched(stores: Stores, memory: int):
    with open_engine(stores(), index_memory=memory) as engine:  # nothing fits, or everything
        names = [f"space{n}" for n in range(6)]
        for name in names:
            engine.spaces.create(name)
            add(engine, f"the {name} fox", space=name)

        def look(thread: int) -> None:
            rng = random.Random(thread)
            for turn in range(ROUNDS):
                name = rng.choice(names)
                if turn % 5 == 0:
                    add(engine, f"another {name} fox {thread} {turn}", space=name)
                hits = engine.owner.read.search(name, Query(text=f"{name} fox", limit=100)).hits
                assert hits and {hit.memory.space for hit in hits} == {name}

        with ThreadPoolExecutor(THREADS) as pool:
            for outcome in [pool.submit(look, thread) for thread in range(THREADS)]:
                outcome.result()


class Holding:
    """A store whose database blocks the load of a space's index until it is released."""

    def __init__(self, inner: Store) -> None:
        self.inner, self.reached, self.released = inner, threading.Event(), threading.Event()
        self.loading: Callable[[], list[str]] = list

    def open(self) -> Database:
        return _Held(self)


class _Held:
    def __init__(self, holding: Holding) -> None:
        self._holding, self._inner = holding, holding.inner.open()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        if threading.current_thread().name.startswith("cold") and self._holding.loading():
            self._holding.reached.set()
            assert self._holding.released.wait(60)
        return self._inner.read(statements)


def test_a_space_that_loads_keeps_no_other_waiting_and_is_told_of(stores: Stores):
    store = stores()
    with open_engine(store) as engine:
        engine.spaces.create("cold")
        add(engine, "the warm fox")
        add(engine, "the cold fox", space="cold")
    holding = Holding(store)
    with open_engine(holding) as engine, ThreadPoolExecutor(1, "cold") as pool:  # pyright: ignore[reportArgumentType]
        holding.loading = lambda: engine.indexes_loading
        waiting = pool.submit(engine.owner.read.search, "cold", Query(text="fox"))
        assert holding.reached.wait(60)
        assert [hit.memory.content for hit in engine.owner.read.search(SPACE, Query(text="fox")).hits] == [
            "the warm fox"
        ]
        assert engine.indexes_loading == ["cold"]
        holding.released.set()
        assert [hit.memory.content for hit in waiting.result(60).hits] == ["the cold fox"]
        assert engine.indexes_loading == []
