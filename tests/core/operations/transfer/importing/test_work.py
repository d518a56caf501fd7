"""An import as a task: whichever process crashes in it, and when, the space is as if none had."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.tasks import Task
from muisti.core.model.values import Draft
from muisti.core.operations.transfer.importing import lines, moving
from muisti.core.operations.transfer.importing.lines import Item
from muisti.core.operations.transfer.importing.staging import Staging
from muisti.core.query.filters import Subject
from muisti.core.store.database import Statement
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.tasks.tasks import Submission
from tests.core.crashes import Deadly, lose_lease, opened, run, run_with_a_crash
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.stores import Stores

PREPARED = Staging._prepared  # pyright: ignore[reportPrivateUsage]


@pytest.fixture(scope="module")
def file(stores: Stores) -> list[bytes]:
    """An export of a space with a history."""
    with open_engine(stores()) as engine:
        ids = add(engine, *(f"memory {number} of {number % 3}" for number in range(14)), tags=("a",))
        engine.owner.write.update(SPACE, ids[2], {"content": "changed"})
        engine.owner.write.delete(SPACE, ids[3])
        engine.owner.write.add(SPACE, [Draft(content="child", parent_id=ids[4])], on_conflict="keep")
        return exported(engine, SPACE)


def exported(engine: Engine, space: str) -> list[bytes]:
    pages = engine.owner.read.export(space, "test").pages()
    return [msgspec.json.encode(one) for page in pages for one in page]


@pytest.fixture
def deadly(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Deadly, Engine]]:
    """A database to crash on, and its engine, which stages and moves little at a time."""
    monkeypatch.setattr(lines, "PIECE", 4)
    monkeypatch.setattr(moving, "REMOTE_MAX", 5)
    with opened(stores(), clock=Clock()) as deadly:
        yield deadly


def submit(engine: Engine, space: str, file: Sequence[bytes], *, atomic: bool = False) -> Task:
    begun = engine.tasks.begin(space, "import", {"atomic": atomic}, OWNER)
    assert isinstance(begun, Submission)
    begun.add_blob("lines", [line + b"\n" for line in file])
    return begun.end(len(file))


def shown(engine: Engine, space: str) -> list[Any]:
    """The versions of a space without the ids, which differ where several spaces have the same file."""
    found = [msgspec.json.decode(line) for line in exported(engine, space)]
    return [
        (one["born"], one["died"], one["memory"]["content"], one["memory"]["version"], one["passages"])
        for one in found
        if one["type"] == "version"
    ]


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("into_empty", [False, True])
def test_an_import_goes_on_wherever_a_process_dies(
    deadly: tuple[Deadly, Engine], file: list[bytes], into_empty: bool, committed: bool
):
    database, engine = deadly

    def imported(number: int, last: int | None) -> tuple[Task, list[Any]]:
        space = f"copy-{number}"
        engine.spaces.create(space)
        if not into_empty:
            add(engine, "there before", space=space)
        task = submit(engine, space, file)
        return run_with_a_crash(deadly, task, last, committed=committed), shown(engine, space)

    whole, expected = imported(0, None)
    writes = database.writes
    assert whole.state == "succeeded" and len(expected) >= 15
    for number in range(1, writes, 1 if database.local else 5):  # a server takes its time
        task, found = imported(number, number)
        assert (task.state, task.total) == ("succeeded", len(file)), (number, task.error)
        assert found == expected, number
        if number < writes - 1:  # else it had ended already
            assert task.done == whole.done, number
            assert isinstance(task.result, dict) and task.result["import_id"] is not None
    assert engine._database.read([Statement("SELECT count(*) FROM spaces WHERE name LIKE '~%'")])[0] == [(0,)]
    assert engine._database.read([Statement("SELECT count(*) FROM blobs")])[0] == [(0,)]


@pytest.mark.one_store
@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("into_empty", [False, True])
def test_a_repeated_import_goes_on_where_its_killed_forerunner_was(
    deadly: tuple[Deadly, Engine], file: list[bytes], monkeypatch: pytest.MonkeyPatch, into_empty: bool, committed: bool
):
    database, engine = deadly
    staged: list[int] = []

    def prepared(self: Staging, items: Sequence[Item]) -> list[NewVersion]:
        staged.append(len(items))
        return PREPARED(self, items)

    monkeypatch.setattr(Staging, "_prepared", prepared)

    def imported(number: int, last: int | None) -> tuple[int, list[Any]]:
        space = f"again-{number}"
        engine.spaces.create(space)
        if not into_empty:
            add(engine, "there before", space=space)
        with database.crash(last, committed=committed):
            created = _straight(engine, space, file)
        if last is not None:
            staged.clear()
            created = _straight(engine, space, file)
        return created, shown(engine, space)

    created, expected = imported(0, None)
    writes, all_staged = database.writes, sum(staged)
    fewest = all_staged
    for number in range(1, writes + 1):
        again, found = imported(number, number)
        assert found == expected and again in (created, 0), number
        fewest = min(fewest, sum(staged)) if again else fewest
    assert fewest == 0 < all_staged  # a process that is killed when all is staged leaves nothing to be embedded
    assert engine._database.read([Statement("SELECT count(*) FROM spaces WHERE name LIKE '~%'")])[0] == [(0,)]


def _straight(engine: Engine, space: str, file: list[bytes]) -> int:
    """Import a file in this process, and return the number of memories that came in. A death leaves what it staged."""
    incoming = engine.owner.write.begin_import(space, digest="of this file")
    incoming.take(file)
    return incoming.finish().created


def test_an_import_reports_what_a_request_would(deadly: tuple[Deadly, Engine], file: list[bytes]):
    _, engine = deadly
    for space in ("one", "two"):
        engine.spaces.create(space)
    direct = engine.owner.write.begin_import("one", atomic=False)
    direct.take(file)
    report = direct.finish()
    result: Any = run(engine, submit(engine, "two", file, atomic=False)).result
    assert (result["created"], result["versions"], result["failed"]) == (report.created, report.versions, 0)
    assert [one.id for one in engine.owner.read.imports("two")] == [result["import_id"]]


def test_bad_lines_fail_the_whole_file_or_are_reported(deadly: tuple[Deadly, Engine]):
    _, engine = deadly
    good = {"type": "memory", "memory": {"id": "0190a0b0-0000-7000-8000-000000000001", "content": "good"}}
    bad = {"type": "memory", "memory": {"id": "x", "content": "bad"}}
    file = [b'{"type": "muisti", "format": 2}', *map(msgspec.json.encode, (good, bad)), b'{"type": "end", "lines": 3}']
    refused = run(engine, submit(engine, SPACE, file, atomic=True))
    assert (refused.state, refused.error_code) == ("failed", "invalid_input")
    report: Any = refused.result
    assert (report["created"], report["failed"], report["failures"][0]["line"]) == (0, 1, 3)
    taken = run(engine, submit(engine, SPACE, file))
    result: Any = taken.result
    assert (taken.state, result["created"], result["failed"]) == ("succeeded", 1, 1)


def test_a_cancelled_import_leaves_nothing(deadly: tuple[Deadly, Engine], file: list[bytes]):
    database, engine = deadly
    task = submit(engine, SPACE, file)
    with database.crash(5):
        run(engine, task)
    assert engine.tasks.cancel(SPACE, task.id, OWNER).state == "cancelled"
    engine.forget_tasks()
    assert engine._database.read([Statement("SELECT count(*) FROM spaces WHERE name LIKE '~%'")])[0] == [(0,)]
    assert engine.owner.read.stats(SPACE).memories == 0


def test_an_erasure_stops_an_import_that_holds_the_memory(deadly: tuple[Deadly, Engine], file: list[bytes]):
    """Its staged lines go, and the task that would stage them again fails."""
    database, engine = deadly
    task = submit(engine, SPACE, file)
    with database.crash(6):
        run(engine, task)
    stopped = engine.eraser.subject(SPACE, Subject(older_than_us=1 << 60), {}, OWNER)
    assert stopped.erased["imports stopped"] == 1
    lose_lease(engine, task)
    assert (run(engine, task).state, run(engine, task).error_code) == ("failed", "conflict")
    assert engine.owner.read.stats(SPACE).memories == 0
