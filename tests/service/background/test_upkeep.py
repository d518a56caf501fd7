"""Work of the background: done when it is due, by one process at a time, whatever happens meanwhile."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import pytest
from litestar.testing import TestClient

from muisti.core.conversations.model import Entry, Turn
from muisti.core.conversations.view import Stream
from muisti.core.engine import Engine
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.outcomes import Undo
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft, RequestKey
from muisti.core.store.database import Statement
from muisti.service.app.app import create_app
from muisti.service.background import upkeep
from muisti.service.background.tasks import UPKEEP, sweeps_of
from muisti.service.background.upkeep import Sweep, Upkeep, at_once
from muisti.service.observability.meters import Meters
from muisti.service.settings import Settings
from tests.core.fakes import Clock, add, open_engine
from tests.service.fakes import Breakable
from tests.stores import Stores

PATIENCE = 60.0  # seconds: how long a test waits for what must happen


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "FIRST_SECONDS", 0.001)


class Noted:
    """Notes the steps that are done, and lets a test wait for one."""

    def __init__(self, steps: int = 1) -> None:
        self.seen: list[str] = []
        self._steps, self._arrived = steps, threading.Condition()

    def __call__(self, engine: Engine, space: str, now: int) -> bool:
        with self._arrived:
            self.seen.append(space)
            self._arrived.notify_all()
            return self.seen.count(space) < self._steps

    def until(self, enough: Callable[[Sequence[str]], bool]) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: enough(self.seen), PATIENCE), self.seen


def outcomes(meters: Meters) -> dict[str, float]:
    return {labels[1]: count for labels, count in meters.sweeps.read().items()}


def finished(meters: Meters) -> None:
    """Wait until a run has ended."""
    give_up = time.monotonic() + PATIENCE
    while not sum(outcomes(meters).values()) and time.monotonic() < give_up:
        time.sleep(0.01)


@contextmanager
def running(engine: Engine, *sweeps: Sweep, lease: float = 600.0) -> Iterator[Meters]:
    meters = Meters()
    with Upkeep(engine, sweeps, meters, lease=lease):
        yield meters


def test_every_space_gets_its_steps_and_the_next_run_comes_after_the_period(engine: Engine):
    engine.spaces.create("second")
    work = Noted(steps=3)
    with running(engine, Sweep("work", 0.01, work)) as meters:
        work.until(lambda seen: len(seen) >= 8)  # two runs: after the first nothing is left but to look
    assert work.seen[:6] == ["default"] * 3 + ["second"] * 3 and set(work.seen[6:8]) == {"default", "second"}
    assert outcomes(meters)["done"] >= 1
    assert meters.sweep_step_seconds.read()[("work",)].up_to[-1] == len(work.seen)


def test_one_process_does_the_work_and_another_goes_on_when_it_stops(stores: Stores):
    store = stores()
    one, two = Noted(), Noted()
    with open_engine(store) as first, open_engine(store) as second:
        with running(first, Sweep("work", 0.01, one, at_once)):
            one.until(lambda seen: len(seen) >= 1)
            with running(second, Sweep("work", 0.01, two, at_once)) as meters:
                one.until(lambda seen: len(seen) >= 5)
            assert not two.seen and outcomes(meters)["done"] == 0
        with running(second, Sweep("work", 0.01, two, at_once)):
            two.until(lambda seen: len(seen) >= 1)


def test_who_is_gone_without_a_word_is_followed_when_his_lease_ends(engine: Engine):
    assert engine.leases.take("work", "gone", 0.2) == 0
    work = Noted()
    with running(engine, Sweep("work", 0.01, work, at_once)):
        work.until(bool)


def test_work_with_a_long_period_is_not_done_again_by_the_next_who_starts(engine: Engine):
    work = Noted()
    with running(engine, Sweep("rare", 900.0, work, at_once)) as meters:
        finished(meters)
    assert work.seen == [""]
    with running(engine, Sweep("rare", 900.0, work, at_once), Sweep("often", 0.01, often := Noted(), at_once)):
        often.until(lambda seen: len(seen) >= 3)
    assert len(work.seen) == 1


def test_a_database_that_fails_and_a_fault_of_ours_are_counted_and_end_nothing(engine: Engine, database: Breakable):
    calls = iter([StoreUnavailable("away"), ZeroDivisionError("a memory's text")])
    done = Noted()

    def run(engine: Engine, space: str, now: int) -> bool:
        error = next(calls, None)
        if error is not None:
            raise error
        return done(engine, space, now)

    with running(engine, Sweep("work", 0.01, run, at_once)) as meters:
        done.until(bool)
    assert outcomes(meters)["failed"] == 1 and outcomes(meters)["broken"] == 1


def test_a_space_that_is_deleted_meanwhile_is_passed_over(engine: Engine):
    work = Noted()

    def run(engine: Engine, space: str, now: int) -> bool:
        engine.spaces.get(space)
        return work(engine, space, now)

    where = lambda engine, now: ["gone", "default"]  # noqa: E731
    with running(engine, Sweep("work", 0.01, run, where)) as meters:
        work.until(lambda seen: len(seen) >= 2)
    assert set(work.seen) == {"default"} and outcomes(meters)["failed"] == 0


def test_it_stops_in_the_middle_of_what_would_take_for_ever(engine: Engine):
    work = Noted(steps=10**9)
    with running(engine, Sweep("work", 0.01, work, at_once)) as meters:
        work.until(lambda seen: len(seen) >= 3)
    assert outcomes(meters)["done"] == 0
    assert engine.leases.take("work", "next", 60.0) == 0  # unfinished work is free immediately


def test_answers_of_old_requests_are_forgotten_in_steps(
    engine: Engine, database: Breakable, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("muisti.core.operations.upkeep.ANSWERS_AT_ONCE", 2)
    for number in range(4):
        request = RequestKey("test", str(number), b"hash")
        engine.owner.write.add("default", [Draft(content=f"note {number}")], on_conflict="keep", request=request)
    assert not engine.upkeep.forget_answers(engine.now())
    clock.pass_days(2)
    with running(engine, next(sweep for sweep in sweeps_of(Settings()) if sweep.name == "answers")) as meters:
        finished(meters)
    assert database.read([Statement("SELECT count(*) FROM requests")]) == [[(0,)]]
    assert meters.sweep_step_seconds.read()[("answers",)].up_to[-1] == 2


def test_upkeep_can_be_left_to_others():
    everything, own = sweeps_of(Settings()), sweeps_of(Settings(upkeep=False))
    assert own == [sweep for sweep in everything if sweep.own] != everything


def test_what_is_a_process_own_it_does_beside_others(stores: Stores):
    store = stores()
    one, two = Noted(), Noted()
    with open_engine(store) as first, open_engine(store) as second:
        own = [Sweep("work", 0.01, noted, at_once, own=True) for noted in (one, two)]
        with running(first, own[0]), running(second, own[1]):
            one.until(lambda seen: len(seen) >= 2)
            two.until(lambda seen: len(seen) >= 2)


def test_a_server_does_its_sweeps_while_it_runs_and_tells_of_them(engine: Engine):
    work = Noted()
    with TestClient(create_app(Settings(), engine=engine, upkeep=[Sweep("work", 0.01, work)])) as client:
        work.until(bool)
        assert 'muisti_upkeep_runs_total{outcome="done",sweep="work"' in client.get("/metrics").text
    assert not [thread for thread in threading.enumerate() if thread.name == "upkeep work"]


def test_candidates_are_reviewed_by_themselves_and_by_whom_is_noted(engine: Engine, clock: Clock):
    (kept,) = add(engine, "asked for", space="default", status="candidate")
    (old,) = add(engine, "forgotten", space="default", status="candidate")
    for _ in range(2):
        engine.owner.read.get("default", kept)
    clock.pass_days(3)
    settings = Settings(promote_retrievals=2, prune_retrievals=1, prune_days=2.0)
    with running(engine, *(sweep for sweep in sweeps_of(settings) if sweep.name in ("promote", "prune"))) as meters:
        give_up = time.monotonic() + PATIENCE
        while meters.sweeps.read().get(("promote", "done")) != 1 or meters.sweeps.read().get(("prune", "done")) != 1:
            assert time.monotonic() < give_up
            time.sleep(0.01)
    found = {id_: engine.owner.read.get("default", id_).memory.status for id_ in (kept, old)}
    assert found == {kept: "active", old: "deprecated"}
    assert len(engine.seen_by(UPKEEP).write.undo("default", Undo(last=2)).memories) == 2


def test_old_memories_are_purged_by_themselves_and_the_log_says_how_many(
    engine: Engine, clock: Clock, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "muisti.upkeep")
    add(engine, "secret old", "another", space="default")
    clock.pass_days(8)
    (young,) = add(engine, "young", space="default")
    engine.spaces.set_policy("default", {"purge_after_days": 7})
    with running(engine, next(sweep for sweep in sweeps_of(Settings()) if sweep.name == "purge")) as meters:
        finished(meters)
    assert outcomes(meters)["done"] == 1
    assert [one.id for one in engine.owner.read.list("default").items] == [young]
    (line,) = (record for record in caplog.records if record.message == "purged")
    logged = {name: vars(line)[name] for name in ("levelname", "space", "memories", "left")}
    assert logged == {"levelname": "INFO", "space": "default", "memories": 2, "left": {}}
    assert {(one.action, one.actor) for one in engine.audit().items} >= {("memory_erased", "upkeep")}


def test_candidates_are_left_alone_when_the_settings_say_so():
    names = {sweep.name for sweep in sweeps_of(Settings(review_hours=0.0))}
    assert not names & {"promote", "prune"} and names


def test_expired_entries_of_working_memory_are_released_in_steps(
    engine: Engine, database: Breakable, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("muisti.core.operations.upkeep.ENTRIES_AT_ONCE", 2)
    engine.owner.conversations.add_exchanges("default", Stream(conversation="c", turns=(Turn(content="hello"),)))
    tomorrow = from_us(clock.at) + timedelta(days=1)
    for number in range(4):
        entry = Entry(key=f"k{number}", tokens=5, expires_at=tomorrow if number else None)
        engine.owner.discourse.keep("default", "c", entry, len, 4_096)
    assert not engine.upkeep.release_expired(engine.now())
    clock.pass_days(2)
    with running(engine, next(sweep for sweep in sweeps_of(Settings()) if sweep.name == "working")) as meters:
        finished(meters)
    assert database.read([Statement("SELECT key FROM working")]) == [[("k0",)]]
    assert meters.sweep_step_seconds.read()[("working",)].up_to[-1] == 2
