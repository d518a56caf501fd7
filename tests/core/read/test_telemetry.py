"""Retrievals are counted apart from the memories: in batches, without a change of either."""

import threading
from collections.abc import Mapping
from contextlib import suppress

import pytest
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.model.errors import StoreUnavailable
from muisti.core.model.hits import Answer
from muisti.core.model.values import Address, Draft
from muisti.core.query.filters import parse as parse_filter
from muisti.core.query.query import Query
from muisti.core.read import telemetry
from muisti.core.read.telemetry import Retrievals
from muisti.core.store.database import Database, Statement
from muisti.core.support.waiting import WouldWait
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.service.fakes import Breakable
from tests.stores import Stores


def counts(engine: Engine, *ids: str) -> Mapping[str, int]:
    """Flush the retrieval counts, and return the stored count of each memory."""
    engine.flush_retrievals()
    return {id_: engine.owner.review.telemetry(SPACE, id_).retrieval_count for id_ in ids}


def searched(engine: Engine, query: Query, *, at_once: bool) -> Answer:
    """Search as a server does: on the event loop where the store is near, else on a thread."""
    if at_once:
        with suppress(WouldWait):
            return engine.owner.read.search_at_once(SPACE, query)
    return engine.owner.read.search(SPACE, query)


def test_a_search_and_a_read_count_what_they_give_and_no_touch_does_not(engine: Engine):
    tea, lamp = add(engine, "tea is green", "a lamp is warm")
    engine.owner.write.put(SPACE, Draft(content="kettle", category="things", key="kettle"))
    kettle = engine.owner.read.get(SPACE, Address("things", "kettle"), no_touch=True).memory.id
    assert counts(engine, tea, lamp, kettle) == {tea: 0, lamp: 0, kettle: 0}
    engine.owner.read.search(SPACE, Query(text="tea", mode="keyword"))
    engine.owner.read.search(SPACE, Query(text="tea", mode="keyword", no_touch=True))
    engine.owner.read.get(SPACE, tea)
    engine.owner.read.get(SPACE, tea, no_touch=True)
    engine.owner.read.get(SPACE, Address("things", "kettle"))
    engine.owner.read.list(SPACE)
    engine.owner.read.history(SPACE, tea)
    engine.owner.write.update(SPACE, tea, {"content": "tea is black"})
    assert counts(engine, tea, lamp, kettle) == {tea: 2, lamp: 0, kettle: 1}


def test_a_search_that_is_done_at_once_counts_too(engine: Engine):
    (tea,) = add(engine, "tea is green")
    engine.owner.read.search(SPACE, Query(text="tea", no_touch=True))
    searched(engine, Query(text="tea"), at_once=True)
    assert counts(engine, tea) == {tea: 1}


@pytest.mark.parametrize("at_once", [False, True])
def test_what_is_shown_without_evidence_counts_nothing_and_is_an_echo_all_the_same(engine: Engine, at_once: bool):
    """The nearest of what is not about the query must not be promoted or kept fresh for it."""
    (migration,) = add(engine, "penguin migration runs in winter", status="candidate")
    add(engine, "a lamp is warm", "tea is green", "cats sleep in the sun")
    either = parse_filter({"status": {"in": ["active", "candidate"]}})
    ask = Query(text="kubernetes ingress tls certificate rotation winter cluster", mode="keyword", filter=either)
    if at_once:
        ask = replace(ask, filter=None)
        engine.owner.write.update(SPACE, migration, {"status": "active"})
        engine.owner.read.search(SPACE, replace(ask, no_touch=True))
    for _ in range(5):
        answer = searched(engine, ask, at_once=at_once)
        assert (answer.evidence, [hit.memory.id for hit in answer.hits]) == ("none", [migration])
    assert counts(engine, migration) == {migration: 0}
    again = engine.owner.write.add(SPACE, [Draft(content="penguin migration runs in winter!")], on_conflict="keep")
    assert [flag.code for flag in again.flags] == ["echo"]


def test_counting_changes_neither_version_nor_seq_and_tells_when_it_was_last(engine: Engine, clock: Clock):
    (tea,) = add(engine, "tea is green")
    before = engine.owner.read.get(SPACE, tea)
    assert engine.owner.review.telemetry(SPACE, tea).last_retrieved_at is None
    clock.pass_days(3)
    engine.owner.read.get(SPACE, tea)
    engine.flush_retrievals()
    after = engine.owner.read.get(SPACE, tea, no_touch=True)
    assert (after.memory, after.seq) == (before.memory, before.seq)
    last = engine.owner.review.telemetry(SPACE, tea).last_retrieved_at
    assert last is not None and (last - before.memory.created_at).days == 3


def test_counts_of_all_processes_add_up_and_survive_a_restart(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as two:
        (tea,) = add(one, "tea is green")
        for engine in (one, two, two):
            engine.owner.read.get(SPACE, tea)
        one.flush_retrievals()
    with open_engine(store) as engine:  # the second wrote its own when it was closed
        assert counts(engine, tea) == {tea: 3}


def test_nothing_stays_of_a_memory_that_is_not_there(engine: Engine, stores: Stores):
    engine.spaces.create("gone")
    (kept,) = add(engine, "tea is green")
    (lost,) = add(engine, "lamp", space="gone")
    engine.owner.read.get("gone", lost)
    engine.flush_retrievals()
    engine.owner.read.get("gone", lost)
    engine.owner.read.get(SPACE, kept)
    engine.spaces.delete("gone")
    engine.flush_retrievals()
    database: Database = engine._database  # pyright: ignore[reportPrivateUsage]
    (rows,) = database.primary.read([Statement("SELECT count(*) FROM retrievals")])
    assert rows == [(1,)]


def test_what_cannot_be_written_waits_for_the_next_time(stores: Stores):
    store = stores()
    with open_engine(store) as engine:
        (tea,) = add(engine, "tea is green")
        epoch = engine.owner.read.get(SPACE, tea, no_touch=True).seq.epoch
        database = Breakable(store.open())
        retrievals = Retrievals(database)
        retrievals.note(epoch, [tea, tea], 1)
        database.failure = StoreUnavailable("away")
        with pytest.raises(StoreUnavailable):
            retrievals.flush()
        database.failure = None
        assert retrievals.flush() and not retrievals.flush()
        database.close()
        assert counts(engine, tea) == {tea: 2}


def test_what_waits_is_bounded(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(telemetry, "WAITING_MAX", 3)
    (tea,) = add(engine, "tea is green")
    database: Database = engine._database  # pyright: ignore[reportPrivateUsage]
    retrievals = Retrievals(database.primary)
    epoch = engine.owner.read.get(SPACE, tea, no_touch=True).seq.epoch
    for now in range(10):
        retrievals.note(epoch, [tea], now)
    retrievals.flush()
    assert counts(engine, tea) == {tea: 3}


def test_more_memories_than_a_statement_takes_are_all_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(telemetry, "WRITTEN_MAX", 2)
    ids = add(engine, *(f"note {number}" for number in range(5)))
    for id_ in ids:
        engine.owner.read.get(SPACE, id_)
    assert counts(engine, *ids) == dict.fromkeys(ids, 1)


def test_threads_lose_no_count(engine: Engine):
    (tea,) = add(engine, "tea is green")
    flushing = threading.Event()

    def read() -> None:
        for _ in range(50):
            engine.owner.read.get(SPACE, tea)

    def flush() -> None:
        while not flushing.wait(0.001):
            engine.flush_retrievals()

    threads = [threading.Thread(target=read) for _ in range(4)]
    flusher = threading.Thread(target=flush)
    for thread in [*threads, flusher]:
        thread.start()
    for thread in threads:
        thread.join()
    flushing.set()
    flusher.join()
    assert counts(engine, tea) == {tea: 200}
