"""A purge as a task: whichever process crashes in it, and when, everything is erased, and the report says so."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.operations import Erasure
from muisti.core.model.tasks import Task
from muisti.core.operations.erasure import purge_task
from muisti.core.query.filters import Subject
from tests.core.crashes import Deadly, Died, lose_lease, opened, run, run_with_a_crash
from tests.core.fakes import SPACE, Clock, add
from tests.stores import Stores

ANN = Subject(author="Ann")


def told(report: Erasure, /) -> object:
    return msgspec.structs.asdict(report)


@pytest.fixture
def deadly(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Deadly, Engine]]:
    monkeypatch.setattr(purge_task, "AT_ONCE", 3)
    with opened(stores(), clock=Clock()) as (database, engine):
        engine.report_purges(told)
        yield database, engine


def submit(engine: Engine, space: str) -> Task:
    task, replayed = engine.purge(space, ANN, {"author": "Ann"}, OWNER, None)
    assert not replayed
    return task


@pytest.mark.parametrize("committed", [False, True])
def test_a_purge_goes_on_wherever_a_process_crashes(deadly: tuple[Deadly, Engine], committed: bool):
    database, engine = deadly

    def purged(number: int, last: int | None) -> Any:
        space = f"space-{number}"
        engine.spaces.create(space)
        add(engine, *(f"of Ann {number} {one}" for one in range(8)), space=space, author="Ann")
        add(engine, "of Ben", space=space, author="Ben")
        task = submit(engine, space)
        assert task.total == 3
        ended = run_with_a_crash(deadly, task, last, committed=committed)
        assert (ended.state, ended.done) == ("succeeded", 3), (number, ended.error)
        assert [one.content for one in engine.owner.read.list(space).items] == ["of Ben"]
        return ended.result

    whole = purged(0, None)
    writes = database.writes
    assert whole["erased"]["memories"] == 8 and not any(whole["found"].values())
    for number in range(1, writes, 1 if database.local else 3):
        report = purged(number, number)
        assert report["erased"]["memories"] == 8, number
        assert not any(report["found"].values()), (number, report["found"])


def test_a_cancelled_purge_keeps_what_is_left(deadly: tuple[Deadly, Engine]):
    database, engine = deadly
    add(engine, *map(str, range(8)), author="Ann")
    task = submit(engine, SPACE)
    with database.crash(4):
        run(engine, task)
    ended = engine.tasks.cancel(SPACE, task.id, OWNER)
    left = engine.owner.read.stats(SPACE).memories
    assert (ended.state, left) == ("cancelled", 8 - 3 * ended.done)
    assert run(engine, task).state == "cancelled"
    assert engine.owner.read.stats(SPACE).memories == left


def test_a_purge_on_which_process_after_process_crashes_goes_on(deadly: tuple[Deadly, Engine]):
    database, engine = deadly
    add(engine, *map(str, range(8)), author="Ann")
    task = submit(engine, SPACE)
    died = 0
    for _ in range(20):
        lose_lease(engine, task)
        database.writes, database.last, database.committed = 0, 3, False  # the claim, the item, and what it erases
        try:
            engine.runner(60, 9).run_one()
        except Died:
            died += 1
        database.last = None
    lose_lease(engine, task)
    waiting = engine.tasks.get(SPACE, task.id, OWNER)
    assert (waiting.state, waiting.error) == ("running", None)
    assert died > 8
    run(engine, task)  # the first look after a crash may only let the task rest
    lose_lease(engine, task)
    ended = run(engine, task)
    assert (ended.state, ended.done) == ("succeeded", 3)
    assert engine.owner.read.stats(SPACE).memories == 0
