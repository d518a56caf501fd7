"""Which work runs on which thread, and which work threads may do concurrently."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from muisti.core.identity.caller import OWNER
from muisti.core.index import selections
from muisti.core.model.hits import Answer
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.search import searcher as searching
from muisti.core.views.read import Read
from muisti.service.runtime import workers
from muisti.service.runtime.admission import Line
from muisti.service.runtime.workers import Backend, Pool
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import FileStore


class Heard:
    """The view of an owner, and the threads on which it was searched."""

    def __init__(self, read: Read) -> None:
        self._read, self.threads = read, list[str]()

    @property
    def read(self) -> "Heard":
        return self

    def search(self, *args: Any) -> Answer:
        self.threads.append(threading.current_thread().name)
        return self._read.search(*args)

    def search_at_once(self, *args: Any, alone: bool) -> Answer:
        answer = self._read.search_at_once(*args, alone=alone)
        self.threads.append(threading.current_thread().name)
        return answer


def test_searches_of_a_small_space_take_turns_and_those_of_a_large_one_share_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    engine = open_engine(FileStore(tmp_path / "m.db"))
    add(engine, "tea is green", "coffee is not")
    backend = Backend(engine, Settings())

    async def asked(users: int) -> list[str]:
        memories = Heard(engine.seen_by(OWNER).read)
        wanted: Any = memories  # as far as a search goes
        await asyncio.gather(*(backend.search(wanted, SPACE, Query(text="tea")) for _ in range(users)))
        return memories.threads

    here = threading.current_thread().name
    try:
        engine.owner.read.search(SPACE, Query(text="tea"))
        assert asyncio.run(asked(8)) == [here] * 8
        monkeypatch.setattr(searching, "BRIEF_ROWS", 1)
        monkeypatch.setattr(workers, "processors", lambda: 2)
        assert asyncio.run(asked(1)) == [here]
        threads = asyncio.run(asked(8))
        assert len(threads) == 8 and here not in threads
        monkeypatch.setattr(workers, "processors", lambda: 1)
        assert asyncio.run(asked(8)) == [here] * 8
    finally:
        backend.close()
        engine.close()


def test_a_filter_is_looked_up_on_a_thread_once_and_then_searches_with_it_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(selections, "SOON", 1)
    engine = open_engine(FileStore(tmp_path / "m.db"))
    add(engine, "tea is green", "tea is not", tags=("hot",))
    backend = Backend(engine, Settings())

    def asked(**fields: str) -> tuple[str, int]:
        memories = Heard(engine.seen_by(OWNER).read)
        wanted: Any = memories  # as far as a search goes
        answer = asyncio.run(backend.search(wanted, SPACE, Query(text="tea", filter=parse({**fields}))))
        return memories.threads[0], answer.total

    here = threading.current_thread().name
    try:
        engine.owner.read.search(SPACE, Query(text="tea"))
        (first, found), again = asked(tags="hot"), asked(tags="hot")
        assert first != here and found == 2
        assert again == (here, 2)
        add(engine, "black tea", tags=("hot",))
        engine.owner.read.search(SPACE, Query(text="tea"))
        assert asked(tags="hot") == (here, 3)
        assert asked(status="superseded")[0] != here  # in the index of all versions
    finally:
        backend.close()
        engine.close()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not keep a process to a processor")
def test_processors_that_a_process_may_not_use_do_not_count():
    kept = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code = f"import os; from muisti.service.runtime.workers import processors; {kept}; print(processors())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "1"


def test_a_pool_starts_a_thread_for_each_call_that_finds_all_others_busy_and_no_more_than_it_may():
    gate, pool = threading.Event(), Pool("lazy", 3, 10, Line())

    def started() -> int:
        return sum(thread.name.startswith("muisti-lazy") for thread in threading.enumerate())

    async def scenario() -> list[int]:
        seen = [started()]
        for _ in range(2):
            await pool.run(int)
        seen.append(started())
        waiting: list[asyncio.Task[bool]] = []
        for _ in range(5):
            waiting.append(asyncio.create_task(pool.run(gate.wait)))
            await asyncio.sleep(0)
            seen.append(started())
        gate.set()
        assert await asyncio.gather(*waiting) == [True] * 5
        return seen

    assert asyncio.run(scenario()) == [0, 1, 1, 2, 3, 3, 3]
    pool.close()
    assert started() == 0
