"""Many versions are read by a task: wherever a process crashes in it, all are read in the end, and none twice."""

from collections.abc import Iterator

import pytest

from muisti.core.engine import Engine
from muisti.core.graph import indexing
from muisti.core.graph.extraction import Reader
from muisti.core.graph.indexing import KIND
from muisti.core.identity.caller import OWNER
from muisti.core.model.errors import Conflict
from muisti.core.store.database import Statement
from tests.core.crashes import Deadly, opened, run, run_with_a_crash
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.graph.plain import Toy, toy_facts, toy_reader
from tests.stores import Stores

TEXTS = [f"Ann met Bob{n} in Oslo" for n in range(17)]


@pytest.fixture
def deadly(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Deadly, Engine]]:
    monkeypatch.setattr(indexing, "TOGETHER", 5)
    with opened(stores(), clock=Clock(), graph_reader=toy_reader) as deadly:
        yield deadly


def rows(database: Deadly) -> list[object]:
    asked = (
        "SELECT e.norm, v.content, m.start, m.kind FROM mentions m JOIN entities e ON e.id = m.entity_id "
        "JOIN versions v ON v.id = m.version_id ORDER BY v.id, m.start"
    )
    return list(database.read([Statement(asked)])[0])


@pytest.mark.parametrize("committed", [False, True])
def test_a_task_goes_on_wherever_a_process_dies(deadly: tuple[Deadly, Engine], committed: bool):
    database, engine = deadly

    def read(number: int, last: int | None) -> None:
        space = f"space-{number}"
        engine.spaces.create(space)
        add(engine, *TEXTS, space=space)
        task = engine.owner.graph.build(space)
        assert task.total == len(TEXTS)
        ended = run_with_a_crash(deadly, task, last, committed=committed)
        assert (ended.state, ended.done, ended.total) == ("succeeded", len(TEXTS), len(TEXTS)), number
        status = engine.owner.graph.status(space)
        assert (status.mentions, status.entities, status.pending) == (3 * len(TEXTS), len(TEXTS) + 2, 0)

    read(0, None)
    writes = database.writes
    assert writes > 4
    for number in range(1, writes, 1 if database.local else 3):
        read(number, number)


def test_a_cancelled_task_keeps_what_is_read_and_a_question_reads_on(deadly: tuple[Deadly, Engine]):
    database, engine = deadly
    add(engine, *TEXTS)
    task = engine.owner.graph.build(SPACE)
    with database.crash(4):
        run(engine, task)
    ended = engine.tasks.cancel(SPACE, task.id, OWNER)
    assert ended.state == "cancelled"
    assert 0 < engine.owner.graph.status(SPACE).pending < len(TEXTS)
    assert engine.owner.graph.entity(SPACE, "Ann").entity.mentions == len(TEXTS)


def test_what_is_read_again_is_the_same(deadly: tuple[Deadly, Engine]):
    database, engine = deadly
    add(engine, *TEXTS)
    engine.owner.graph.extend(SPACE)
    before = rows(database)
    task = engine.owner.graph.build(SPACE, again=True)
    assert run(engine, task).state == "succeeded"
    assert rows(database) == before
    assert engine.owner.graph.drop(SPACE) == len(TEXTS) + 2
    assert not rows(database)
    engine.owner.graph.extend(SPACE)
    assert rows(database) == before


def test_small_steps_read_what_is_little_and_make_one_task_of_much(stores: Stores, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(indexing, "MANY", 20)
    with open_engine(stores(), graph_reader=toy_reader) as engine:
        add(engine, *TEXTS)
        assert [(one.space, one.behind) for one in engine.unread_graphs()] == [(SPACE, len(TEXTS))]
        assert engine.extend_graph(SPACE, 10)
        assert not engine.extend_graph(SPACE, 10)
        assert engine.unread_graphs() == []
        add(engine, *TEXTS, *TEXTS)
        for _ in range(2):
            assert not engine.extend_graph(SPACE, 10)
        (task,) = engine.tasks.list(SPACE, OWNER, kinds=[KIND]).items
        assert (task.state, task.total) == ("queued", 2 * len(TEXTS))
        engine.tasks.cancel(SPACE, task.id, OWNER)
        assert not engine.extend_graph(SPACE, 10)
        assert len(engine.tasks.list(SPACE, OWNER, kinds=[KIND]).items) == 1


def test_another_recogniser_reads_all_again(stores: Stores):
    store = stores()
    with open_engine(store, graph_reader=toy_reader) as engine:
        add(engine, *TEXTS)
        engine.owner.graph.extend(SPACE)
        before = engine.owner.graph.status(SPACE)
        assert (before.pending, before.current) == (0, True)
    with open_engine(store, graph_reader=lambda: Reader(Toy("other"), toy_facts)) as engine:
        status = engine.owner.graph.status(SPACE)
        assert (status.pending, status.current, status.mentions) == (len(TEXTS), False, before.mentions)
        assert engine.owner.graph.extend(SPACE).read == len(TEXTS)
        after = engine.owner.graph.status(SPACE)
        assert (after.pending, after.current, after.mentions) == (0, True, before.mentions)


def test_a_space_may_be_left_out(engine: Engine):
    engine.spaces.set_policy(SPACE, {"graph": "off"})
    add(engine, *TEXTS)
    assert engine.unread_graphs() == []
    assert not engine.owner.graph.status(SPACE).enabled
    with pytest.raises(Conflict, match="off"):
        engine.owner.graph.entities(SPACE)
    task = engine.owner.graph.build(SPACE)
    assert run(engine, task).result == {"read": 0, "mentions": 0, "relations": 0, "off": True}
    engine.spaces.set_policy(SPACE, {"graph": None})
    assert engine.owner.graph.entities(SPACE).items


def test_two_processes_read_at_once_and_nothing_twice(stores: Stores, monkeypatch: pytest.MonkeyPatch):
    """The other process reads the same versions between the reading and the batch of the first."""
    store = stores()
    with open_engine(store, graph_reader=toy_reader) as one, open_engine(store, graph_reader=toy_reader) as other:
        add(one, *TEXTS)
        once = [True]
        plain = Reader.read

        def meanwhile(self: Reader, sources: object) -> object:
            if once.pop() if once else False:
                other.owner.graph.extend(SPACE)
            return plain(self, sources)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(Reader, "read", meanwhile)
        assert one.owner.graph.extend(SPACE).read == 0
        assert one.owner.graph.status(SPACE).mentions == 3 * len(TEXTS)
