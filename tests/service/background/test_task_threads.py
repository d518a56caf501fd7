"""Threads that run tasks: they find those of other processes, and give back what they do not finish."""

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.identity.grants import Grant
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
        begun, ended = Event(), list[bool]()

        def wait(claim: Claim, item: Item) -> None:
            begun.set()
            ended.append(claim.ended.wait(LONGEST))

        engine.tasks.register(Remember(engine, wait))
        with TaskThreads(engine, Settings()):
            task = submit(engine, "slow")
            assert begun.wait(LONGEST)  # before that, a cancelled task does not even begin
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


class Broken:
    """Work that is never given up, with a fault."""

    name = "purge"
    crashed = None

    def __init__(self) -> None:
        self.mended = False

    def run(self, claim: Claim) -> object:
        if not self.mended:
            raise ZeroDivisionError
        return {}


def test_a_purge_that_keeps_failing_is_told_by_name_until_it_is_done(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    settings = Settings(task_lease=1.0)
    with open_engine(at(tmp_path / "a.db")) as engine, TestClient(create_app(settings, engine=engine)) as client:
        engine.tasks.register(work := Broken())  # in place of the kind of the same name
        task = engine.tasks.submit(SPACE, "purge", {}, OWNER)
        engine._database.write([Statement("UPDATE tasks SET deaths = 5 WHERE id = ?", (task.id,))])
        while not (told := client.get("/readyz").json().get("tasks_failing")):
            time.sleep(0.02)
        (one,) = told
        assert (one["task"], one["kind"], one["space"]) == (task.id, "purge", SPACE)
        assert one["tries"] > 5
        assert 'muisti_tasks_failing{kind="purge",worker="0"} 1.0' in client.get("/metrics").text
        while not (logged := [one for one in caplog.records if one.message == "task broken"]):
            time.sleep(0.02)
        assert vars(logged[0]) | {"task": task.id, "space": SPACE, "error": "ZeroDivisionError"} == vars(logged[0])
        work.mended = True
        while engine.tasks.get(SPACE, task.id, OWNER).state != "succeeded":
            engine._database.write([Statement("UPDATE tasks SET lease_until = 0 WHERE owner = ''")])
            engine.tasks.ring()
            time.sleep(0.02)
        assert "tasks_failing" not in client.get("/readyz").json()


def test_whom_a_failing_task_is_told(tmp_path: Path):
    with open_engine(at(tmp_path / "a.db")) as engine:
        engine.tasks.register(Broken())
        engine.spaces.create("other")
        here, there = (engine.tasks.submit(space, "purge", {}, OWNER) for space in (SPACE, "other"))
        engine._database.write([Statement("UPDATE tasks SET deaths = 6")])
        _, owner = engine.keys.create(Grant(frozenset({"read"}), ("*",)), engine.now(), name="all")
        _, few = engine.keys.create(Grant(frozenset({"read"}), ("other",)), engine.now(), name="few")
        with TestClient(create_app(Settings(tasks=0), engine=engine)) as client:

            def told(secret: str | None) -> list[str] | None:
                headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
                answer = client.get("/readyz", headers=headers)
                assert answer.status_code == 200
                failing = answer.json().get("tasks_failing")
                return None if failing is None else [one["task"] for one in failing]

            assert told(owner) == [here.id, there.id]
            assert told(few) == [there.id]
            assert told(None) is None


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
