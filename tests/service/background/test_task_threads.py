"""Threads that run tasks: they find those of other processes, and give back what they do not finish."""

import time
from pathlib import Path

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.tasks import Item, NewItem, Task
from muisti.core.tasks.claim import Claim
from muisti.service.background.task_threads import TaskThreads
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, open_engine
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
