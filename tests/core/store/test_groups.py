"""Writes that are under way together are committed together; each ends as it would alone."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.values import Draft
from muisti.core.store.database import BadStatement, Outcome, Refused, Statement
from muisti.core.store.file import writer
from muisti.core.store.file.database import FileDatabase
from muisti.service.runtime.workers import Backend
from muisti.service.settings import Settings
from tests.durability.clients import ticking

TABLE = Statement("CREATE TABLE t (number INTEGER PRIMARY KEY) STRICT")
MANY = 16


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a group wait a minute for all expected writes, so that a slow machine gathers them too."""
    monkeypatch.setattr(writer, "GATHER_SECONDS", 60.0)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[FileDatabase]:
    made = FileDatabase(tmp_path / "muisti.db")
    made.write([TABLE])
    yield made
    made.close()


def insert(number: object) -> list[Statement]:
    return [Statement("INSERT INTO t VALUES (?)", (number,)), Statement("SELECT count(*) FROM t")]  # pyright: ignore


JOBS: dict[str, Callable[[int], list[Statement]]] = {
    "new": insert,
    "taken": lambda _: insert(1),
    "refused": lambda number: [*insert(number), Statement("INSERT INTO refuse SELECT 'no'")],
    "senseless": lambda number: [*insert(number), Statement("SELECT nothing")],
    "not a number": lambda _: insert("text"),
    "too large": lambda _: insert(1 << 70),
}


def groups(database: FileDatabase) -> tuple[int, float]:
    """Groups that were committed, and writes in them."""
    found = database.meters.group_writes.read().get(())
    return (found.up_to[-1], found.total) if found is not None else (0, 0)


def together(database: FileDatabase, jobs: list[list[Statement]]) -> list[Outcome]:
    """The outcomes of writes that are all expected before the first is put."""
    outcomes: list[Outcome | None] = [None] * len(jobs)
    done = threading.Semaphore(0)

    def ended(place: int) -> Callable[[Outcome], None]:
        def end(outcome: Outcome) -> None:
            outcomes[place] = outcome
            done.release()

        return end

    database.expect(len(jobs))
    for place, job in enumerate(jobs):
        database.queue(job, ended(place))
        database.expect(-1)
    for _ in jobs:
        assert done.acquire(timeout=30)
    return [outcome for outcome in outcomes if outcome is not None]


def summary(outcome: Outcome) -> object:
    return (type(outcome), str(outcome)) if isinstance(outcome, Exception) else outcome


@pytest.mark.usefixtures("patient")
def test_writes_that_are_expected_share_a_commit(database: FileDatabase):
    before, _ = groups(database)
    assert together(database, [insert(number) for number in range(MANY)])[-1] == [[], [(MANY,)]]
    assert groups(database) == (before + 1, before + MANY)


@pytest.mark.usefixtures("patient")
def test_a_write_waits_for_nobody_who_is_not_expected(database: FileDatabase):
    for number in range(3):
        assert database.write(insert(number)) == [[], [(number + 1,)]]


def test_a_write_that_is_expected_and_does_not_come_holds_nobody_for_long(database: FileDatabase):
    database.expect(1)
    for number in range(3):
        assert database.write(insert(number)) == [[], [(number + 1,)]]
    database.expect(-1)
    assert database.write(insert(3)) == [[], [(4,)]]


@pytest.mark.usefixtures("patient")
def test_a_group_ends_as_its_writes_would_alone(tmp_path: Path):
    rng = random.Random(7)
    databases = [FileDatabase(tmp_path / f"{name}.db") for name in ("together", "alone")]
    for each in databases:
        Engine(each, None, ticking())  # has the table that refuses
        each.write([TABLE])
    for turn in range(30):
        names = rng.choices(list(JOBS), [8, 1, 1, 1, 1, 1], k=rng.randint(1, 8))
        jobs = [JOBS[name](100 * turn + place + 2) for place, name in enumerate(names)]
        alone = [summary(ran(databases[1], job)) for job in jobs]
        assert [summary(outcome) for outcome in together(databases[0], jobs)] == alone, names
    contents = [each.read([Statement("SELECT number FROM t ORDER BY 1")]) for each in databases]
    assert contents[0] == contents[1]
    for each in databases:
        each.close()


def ran(database: FileDatabase, job: list[Statement]) -> Outcome:
    try:
        return database.write(job)
    except (Refused, BadStatement, OverflowError, TypeError) as refusal:
        return refusal


@pytest.mark.usefixtures("patient")
def test_adds_that_come_together_share_a_commit(tmp_path: Path):
    database = FileDatabase(tmp_path / "muisti.db")
    with Engine(database, None, ticking()) as engine:
        memories = engine.seen_by(OWNER)

        async def add_all() -> None:
            backend = Backend(engine, Settings())
            await backend.add(
                memories, "default", Draft(content="the first, after which the space is known"), "keep", None
            )
            before, _ = groups(database)
            drafts = [Draft(content=f"number {number}") for number in range(MANY)]
            adds = [asyncio.create_task(backend.add(memories, "default", draft, "keep", None)) for draft in drafts]
            await asyncio.gather(*adds)
            assert groups(database)[0] <= before + 2  # the first begins while the others arrive
            backend.close()

        asyncio.run(add_all())
