"""A task makes the topics and summaries of all conversations, wherever a process crashes, and nothing twice."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from muisti.core.conversations.following import KIND
from muisti.core.conversations.view import Stream
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.tasks import Task
from tests.conversations.test_following import CAT, FLAT, NOON, said
from tests.core.crashes import Deadly, lose_lease, opened
from tests.core.fakes import SPACE
from tests.stores import Stores

NAMES = ("cat", "flat")


@pytest.fixture
def deadly(stores: Stores) -> Iterator[tuple[Deadly, Engine]]:
    with opened(stores()) as deadly:
        yield deadly


def talk(engine: Engine, space: str = SPACE, category: str | None = None) -> None:
    for name in NAMES:
        turns = (*said(FLAT, 6), *said(CAT, 6, 6, NOON + timedelta(hours=5)))
        stream = Stream(conversation=name, turns=turns, category=category)
        engine.owner.conversations.add_exchanges(space, stream)


def submit(engine: Engine, space: str = SPACE, caller: Caller = OWNER, category: str | None = None) -> Task:
    return engine.tasks.submit(space, KIND, {"category": category}, caller)


def run(engine: Engine, task: Task) -> Task:
    while engine.runner(60, 9).run_one() is not None:
        pass
    return engine.tasks.get(task.space, task.id, OWNER)


def made(engine: Engine, space: str, category: str | None = None) -> dict[str, list[str]]:
    """Return what each conversation has summaries of; none of them is stale, and none is there twice."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        summaries = engine.owner.discourse.summaries(space, name, category)
        assert not any(one.stale for one in summaries)
        found[name] = [str(one.memory.topic) for one in summaries]
        assert len(set(found[name])) == len(found[name])
    return found


def test_all_conversations_get_their_summaries_and_a_second_task_has_nothing_to_do(deadly: tuple[Deadly, Engine]):
    _, engine = deadly
    talk(engine)
    ended = run(engine, submit(engine))
    assert (ended.state, ended.total, ended.done) == ("succeeded", 2, 2)
    assert [len(one) for one in made(engine, SPACE).values()] == [2, 2]  # a topic, and the conversation
    before = engine.spaces.get(SPACE).at
    again = run(engine, submit(engine))
    assert (again.state, again.done, again.skipped) == ("succeeded", 0, 2)
    assert engine.spaces.get(SPACE).at == before


@pytest.mark.parametrize("committed", [False, True])
def test_it_goes_on_wherever_a_process_crashes(deadly: tuple[Deadly, Engine], committed: bool):
    database, engine = deadly

    def summarised(number: int, last: int | None) -> dict[str, list[str]]:
        space = f"space-{number}"
        engine.spaces.create(space)
        talk(engine, space)
        task = submit(engine, space)
        with database.crash(last, committed=committed):
            ended = run(engine, task)
        if last is not None:
            lose_lease(engine, task)
            ended = run(engine, task)
        assert (ended.state, ended.finished, ended.total) == ("succeeded", 2, 2), (number, ended.error)
        return made(engine, space)

    whole = summarised(0, None)
    writes = database.writes
    for number in range(1, writes, 1 if database.local else 4):
        assert summarised(number, number) == whole, number


def test_a_caller_of_a_category_works_on_its_conversations_alone(deadly: tuple[Deadly, Engine]):
    _, engine = deadly
    talk(engine)
    talk(engine, category="home")
    before = engine.owner.discourse.summaries(SPACE, "cat")
    ended = run(engine, submit(engine, caller=Caller(actor="ann", category="home")))
    assert (ended.state, ended.total) == ("succeeded", 2)
    assert [len(one) for one in made(engine, SPACE, "home").values()] == [2, 2]
    assert engine.owner.discourse.summaries(SPACE, "cat") == before


def test_a_cancelled_task_stops_between_conversations(deadly: tuple[Deadly, Engine]):
    database, engine = deadly
    talk(engine)
    task = submit(engine)
    with database.crash(6):
        run(engine, task)
    cancelled = engine.tasks.cancel(SPACE, task.id, OWNER)
    assert cancelled.state == "cancelled" and cancelled.done < 2
    before = engine.spaces.get(SPACE).at
    assert run(engine, task).state == "cancelled" and engine.spaces.get(SPACE).at == before
