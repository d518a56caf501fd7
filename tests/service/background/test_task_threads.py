"""Threads that run tasks: they find those of other processes, and give back what they do not finish."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import StoreFull
from muisti.core.model.tasks import Item, NewItem, Task
from muisti.core.store.database import Rows, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.migrate import migrate
from muisti.core.tasks.claim import Claim
from muisti.service.app.app import create_app
from muisti.service.background import task_threads
from muisti.service.background.task_threads import TaskThreads
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, Clock, open_engine
from tests.core.tasks.kinds import Remember
from tests.stores import Store, at

LONGEST = 30.0  # seconds until a test gives up


def until(engine: Engine, task: Task, *states: str) -> Task:
    end = time.monotonic() + LONGEST
    while (now := engine.tasks.get(SPACE, task.id, OWNER)).state not in states:
        assert time.monotonic() < end, now.state
        time.sleep(0.02)
    return now


def submit(engine: Engine, *names: str) -> Task:
    return engine.tasks.submit(SPACE, "remember", {}, OWNER, map(NewItem, names))


def test_a_task_of_another_process_is_found(tmp_path: Path):
    store: Store = at(tmp_path / "a.db")
    with open_engine(store) as other, open_engine(store) as engine:
        engine.tasks.register(Remember(engine))
        task = submit(other, "a", "b")
        with TaskThreads(engine, Settings()):
            assert until(other, task, "succeeded").done == 2


def test_what_is_not_finished_is_given_back(tmp_path: Path):
    store: Store = at(tmp_path / "a.db")
    with open_engine(store) as first, open_engine(store) as second:

        def wait(claim: Claim, item: Item) -> None:
            if item.name == "slow":
                claim.ended.wait(LONGEST)
                claim.check()

        first.tasks.register(Remember(first, wait))
        second.tasks.register(Remember(second))
        threads = TaskThreads(first, Settings())
        task = submit(first, *(str(number) for number in range(16)), "slow")
        while first.tasks.get(SPACE, task.id, OWNER).done < 16:
            time.sleep(0.02)
        threads.close()
        assert first.tasks.get(SPACE, task.id, OWNER).state == "queued"
        with TaskThreads(second, Settings()):
            ended = until(second, task, "succeeded")
        assert (ended.done, ended.attempts) == (17, 2)


def test_a_cancelled_task_ends_the_work_on_it(tmp_path: Path):
    with open_engine(at(tmp_path / "a.db")) as engine:
        ended = list[bool]()

        def wait(claim: Claim, item: Item) -> None:
            ended.append(claim.ended.wait(LONGEST))

        engine.tasks.register(Remember(engine, wait))
        with TaskThreads(engine, Settings()):
            task = submit(engine, "slow")
            until(engine, task, "running")
            engine.tasks.cancel(SPACE, task.id, OWNER)
            while not ended:
                time.sleep(0.02)
        assert ended == [True]
        assert engine.owner.read.stats(SPACE).memories == 0


def test_a_process_may_run_no_tasks(tmp_path: Path):
    with open_engine(at(tmp_path / "a.db")) as engine:
        engine.tasks.register(Remember(engine))
        with TaskThreads(engine, Settings(tasks=0)):
            task = submit(engine, "a")
        assert engine.tasks.get(SPACE, task.id, OWNER).state == "queued"


class Disk(FileDatabase):
    """A file on a disk that may be full."""

    full = False

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        if self.full:
            raise StoreFull("no room left on the disk; nothing was stored")
        return super().write(statements)


def waited(client: httpx.Client, task: Task) -> dict[str, Any]:
    return client.get(f"/v1/spaces/{SPACE}/tasks/{task.id}", params={"wait": 10, "after": task.revision}).json()


def test_a_full_disk_is_told_and_the_task_goes_on_when_there_is_room(tmp_path: Path):
    disk = Disk(tmp_path / "a.db")
    migrate(disk, 0)
    fills = [True]

    def fill(claim: Claim, item: Item) -> None:
        if item.name == "16" and fills:  # the first sixteen are stored
            disk.full = fills.pop()

    with Engine(disk, None, Clock()) as engine:
        engine.spaces.create(SPACE)
        engine.tasks.register(Remember(engine, fill))
        with TestClient(create_app(Settings(task_lease=1.0), engine=engine)) as client:
            task = submit(engine, *(str(number) for number in range(20)))
            while "obstacle" not in (seen := waited(client, task)):
                assert seen["ended_at"] is None
            assert seen["obstacle"] == {"code": "store_full", "detail": "no room left on the disk; nothing was stored"}
            assert (seen["ended_at"], seen["done"]) == (None, 16)
            assert client.get("/readyz").json()["tasks_blocked"] == "store_full"
            assert 'muisti_tasks_blocked{code="store_full",worker="0"} 1.0' in client.get("/metrics").text
            disk.full = False
            while (seen := waited(client, task))["ended_at"] is None:
                pass
            assert (seen["state"], seen["done"]) == ("succeeded", 20) and "obstacle" not in seen
            assert engine.owner.read.stats(SPACE).memories == 20
            assert "tasks_blocked" not in client.get("/readyz").json()
            assert engine.meters.tasks.blocked.read() == {}


def test_tries_to_claim_become_rarer_while_they_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(task_threads, "LOOK", 0.02)
    monkeypatch.setattr(task_threads, "REST_MAX", 0.3)
    disk = Disk(tmp_path / "a.db")
    migrate(disk, 0)
    with Engine(disk, None, Clock()) as engine:
        engine.spaces.create(SPACE)
        engine.tasks.register(Remember(engine))
        task = submit(engine, "a")
        disk.full = True
        with TaskThreads(engine, Settings()) as threads:
            rests = [threads.rest]
            while rests[-1] < 0.3:
                time.sleep(0.001)
                rests += [threads.rest] if threads.rest != rests[-1] else []
            disk.full = False
            assert until(engine, task, "succeeded").done == 1
            assert threads.rest == 0
    assert rests[-3:] == [0.08, 0.16, 0.3]
