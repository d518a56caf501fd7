"""Tasks: each item is worked on once, whichever process crashes; a cancelled task, or a lost one, stores nothing."""

from collections.abc import Callable, Iterator

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, RequestReused, StoreUnavailable
from muisti.core.model.tasks import Item, ItemOutcome, NewItem, Task, TaskOver
from muisti.core.model.values import Draft, RequestKey
from muisti.core.store.database import Statement
from muisti.core.tasks.claim import Claim
from muisti.core.tasks.runner import Runner
from muisti.core.tasks.tasks import PIECE, Submission
from tests.core.crashes import Died, lose_lease
from tests.core.fakes import SPACE, open_engine
from tests.core.tasks.kinds import Count, Remember
from tests.stores import Stores


@pytest.fixture
def engine(stores: Stores) -> Iterator[Engine]:
    with open_engine(stores()) as opened:
        opened.tasks.register(Remember(opened))
        opened.tasks.register(Count())
        yield opened


def runner(engine: Engine, lease: float = 60) -> Runner:
    return engine.runner(lease, 2)


def named(*names: str) -> list[NewItem]:
    return [NewItem(name, {"n": number}) for number, name in enumerate(names)]


def submit(engine: Engine, items: list[NewItem]) -> Task:
    return engine.tasks.submit(SPACE, "remember", {}, OWNER, items)


def with_work(engine: Engine, before: Callable[[Claim, Item], None]) -> None:
    engine.tasks.register(Remember(engine, before))


def now(engine: Engine, task: Task) -> Task:
    return engine.tasks.get(SPACE, task.id, OWNER)


def die(engine: Engine, task: Task, on: Callable[[Claim, Item], None]) -> None:
    """Run the task in a process that crashes in it, and let its lease run out."""
    with_work(engine, on)
    with pytest.raises(Died):
        runner(engine).run_one()
    lose_lease(engine, task)


def contents(engine: Engine) -> list[str]:
    return sorted(one.content for one in engine.owner.read.list(SPACE, limit=100).items)


def test_each_item_is_worked_on_once_and_the_task_ends(engine: Engine):
    task = submit(engine, named(*(f"item {n}" for n in range(40))))
    assert (task.state, task.total) == ("queued", 40)
    assert runner(engine).run_one() == 0
    assert runner(engine).run_one() is None
    ended = now(engine, task)
    assert (ended.state, ended.done, ended.failed, ended.result) == ("succeeded", 40, 0, {"stored": 40})
    assert len(contents(engine)) == 40
    assert ended.left == 0 and ended.expires_at is not None
    assert engine.tasks.cancel(SPACE, task.id, OWNER).state == "succeeded"


def test_items_that_fail_are_named_and_the_others_stored(engine: Engine):
    def refuse(claim: Claim, item: Item) -> None:
        if item.name == "b":
            raise ValueError("b is bad")

    with_work(engine, refuse)
    task = submit(engine, named("a", "b", "c"))
    runner(engine).run_one()
    assert now(engine, task).state == "partial"
    (bad,) = engine.tasks.items(SPACE, task.id, OWNER, states=["failed"]).items
    assert (bad.name, bad.error_code, bad.error) == ("b", "test.bad", "b is bad")
    assert contents(engine) == ["a {'n': 0}", "c {'n': 2}"]
    all_bad = submit(engine, named("b", "b"))
    runner(engine).run_one()
    assert now(engine, all_bad).state == "failed"

    def refuse_all(claim: Claim, item: Item) -> None:
        raise Conflict("no")

    with_work(engine, refuse_all)
    task = submit(engine, named("a"))
    runner(engine).run_one()
    assert (now(engine, task).state, now(engine, task).error_code) == ("failed", "conflict")


def test_another_process_goes_on_where_one_died(engine: Engine):
    def die_in_the_second_group(claim: Claim, item: Item) -> None:
        if item.name == "20":
            raise Died

    task = submit(engine, named(*map(str, range(40))))
    die(engine, task, die_in_the_second_group)
    assert now(engine, task).done == 16
    with_work(engine, lambda claim, item: None)
    runner(engine).run_one()
    ended = now(engine, task)
    assert (ended.state, ended.done, ended.attempts) == ("succeeded", 40, 2)
    assert len(set(contents(engine))) == len(contents(engine)) == 40


def test_an_item_that_kills_three_processes_fails_alone(engine: Engine):
    def die_of(claim: Claim, item: Item) -> None:
        if item.name == "5":
            raise Died

    task = submit(engine, named(*map(str, range(20))))
    for _ in range(3):
        die(engine, task, die_of)
    runner(engine).run_one()
    ended = now(engine, task)
    assert (ended.state, ended.done, ended.failed) == ("partial", 19, 1)
    (bad,) = engine.tasks.items(SPACE, task.id, OWNER, states=["failed"]).items
    assert (bad.name, bad.error_code, bad.attempts) == ("5", "test.crashed", 3)
    assert len(contents(engine)) == 19


def test_a_task_that_kills_every_process_without_progress_is_given_up(engine: Engine):
    class Deadly:
        name, crashed = "deadly", ""

        def run(self, claim: Claim) -> object:
            raise Died

    engine.tasks.register(Deadly())
    task = engine.tasks.submit(SPACE, "deadly", {}, OWNER, total=3)
    for _ in range(5):
        with pytest.raises(Died):
            runner(engine).run_one()
        lose_lease(engine, task)
    runner(engine).run_one()
    assert (now(engine, task).state, now(engine, task).error_code) == ("failed", "task.crashed")


def test_a_process_that_has_lost_its_task_stores_nothing(engine: Engine):
    others = list[float | None]()

    def be_overtaken(claim: Claim, item: Item) -> None:
        if others:
            return
        lose_lease(engine, task)
        others.append(0)
        others.append(runner(engine).run_one())

    with_work(engine, be_overtaken)
    task = submit(engine, named("a", "b"))
    runner(engine).run_one()
    assert (now(engine, task).state, now(engine, task).done, now(engine, task).attempts) == ("succeeded", 2, 2)
    assert len(contents(engine)) == 2


def test_a_cancelled_task_stores_nothing_more_and_says_what_stayed(engine: Engine):
    def cancel(claim: Claim, item: Item) -> None:
        if item.name == "20":
            engine.tasks.cancel(SPACE, task.id, OWNER)

    with_work(engine, cancel)
    task = submit(engine, named(*map(str, range(40))))
    runner(engine).run_one()
    ended = engine.tasks.cancel(SPACE, task.id, OWNER)
    assert (ended.state, ended.done) == ("cancelled", 16)
    assert len(contents(engine)) == 16
    assert len(engine.tasks.items(SPACE, task.id, OWNER, states=["cancelled"]).items) == 24
    assert runner(engine).run_one() is None


def test_a_process_that_stops_gives_its_task_back(engine: Engine):
    running = runner(engine)

    def stop(claim: Claim, item: Item) -> None:
        if item.name == "20":
            running.stop()
            claim.check()

    with_work(engine, stop)
    task = submit(engine, named(*map(str, range(40))))
    running.run_one()
    assert (now(engine, task).state, now(engine, task).done) == ("queued", 16)
    with_work(engine, lambda claim, item: None)
    assert runner(engine).run_one() == 0
    assert now(engine, task).state == "succeeded"
    assert {one.attempts for one in engine.tasks.items(SPACE, task.id, OWNER).items} == {1}


def test_a_lost_heartbeat_is_noticed(engine: Engine):
    seen = list[bool]()

    def look(claim: Claim, item: Item) -> None:
        claim.beat(prolong=True)
        engine.tasks.cancel(SPACE, task.id, OWNER)
        claim.beat(prolong=True)
        seen.append(claim.ended.is_set())
        with pytest.raises(TaskOver) as over:
            claim.check()
        seen.append(over.value.cancelled)

    with_work(engine, look)
    task = submit(engine, named("a"))
    runner(engine).run_one()
    assert seen == [True, True]
    assert contents(engine) == []


def test_a_fenced_commit_serves_one_batch(engine: Engine):
    class Twice:
        name, crashed = "twice", ""

        def run(self, claim: Claim) -> object:
            (item,) = claim.items()
            fenced = claim.fenced([ItemOutcome(item.number)])
            for text in ("first", "second"):
                engine.seen_by(OWNER, fenced=fenced).write.add(SPACE, [Draft(content=text)], on_conflict="keep")

    engine.tasks.register(Twice())
    task = engine.tasks.submit(SPACE, "twice", {}, OWNER, named("a"))
    runner(engine).run_one()
    assert contents(engine) == ["first"]
    assert now(engine, task).done == 1


def test_a_write_that_changes_nothing_still_counts(engine: Engine):
    (memory,) = engine.owner.write.add(SPACE, [Draft(content="red fox")]).memories

    class Same:
        name, crashed = "same", ""

        def run(self, claim: Claim) -> object:
            (item,) = claim.items()
            view = engine.seen_by(OWNER, fenced=claim.fenced([ItemOutcome(item.number, "skipped")]))
            view.write.update(SPACE, memory.id, {"content": "red fox"})

    engine.tasks.register(Same())
    task = engine.tasks.submit(SPACE, "same", {}, OWNER, named("a"))
    runner(engine).run_one()
    assert (now(engine, task).state, now(engine, task).skipped) == ("succeeded", 1)


def test_work_without_items_goes_on_from_its_position(engine: Engine):
    task = engine.tasks.submit(SPACE, "count", {}, OWNER, total=35)
    runner(engine).run_one()
    ended = now(engine, task)
    assert (ended.state, ended.done, ended.position, ended.result) == ("succeeded", 35, "35", 35)


def test_a_database_that_does_not_answer_delays_the_task(engine: Engine):
    tries = list[int]()

    def be_away(claim: Claim, item: Item) -> None:
        tries.append(item.attempts)
        if len(tries) == 1:
            raise StoreUnavailable("away")

    with_work(engine, be_away)
    task = submit(engine, named("a"))
    runner(engine).run_one()
    assert now(engine, task).state == "queued"
    wait = runner(engine).run_one()
    assert wait is not None and 0 < wait <= 2
    lose_lease(engine, task)
    runner(engine).run_one()
    assert (now(engine, task).state, tries) == ("succeeded", [1, 1])


def test_an_error_of_ours_is_reported_and_the_item_tried_again(engine: Engine):
    told = list[tuple[str, str]]()

    def break_once(claim: Claim, item: Item) -> None:
        if item.attempts < 3:
            raise KeyError("text of a memory")

    with_work(engine, break_once)
    task = submit(engine, named("a"))
    for _ in range(3):
        engine.runner(60, 2, lambda task, error, trace: told.append((task.kind, error))).run_one()
        lose_lease(engine, task)
    assert told == [("remember", "KeyError")] * 2
    assert now(engine, task).state == "succeeded"


def test_a_space_has_only_so_many_tasks_in_work(engine: Engine):
    waits = list[float | None]()

    def claim_more(claim: Claim, item: Item) -> None:
        waits.append(runner(engine).run_one())

    with_work(engine, claim_more)
    for name in "abc":
        submit(engine, named(name))
    runner(engine).run_one()
    # The first ran the second, which could not run the third; the first then ran that one.
    assert waits[0] is not None and waits[0] > 1
    assert [one.state for one in engine.tasks.list(SPACE, OWNER).items] == ["queued", "succeeded", "succeeded"]


def test_bytes_come_in_pieces_and_go_when_the_task_ends(engine: Engine):
    read = list[bytes]()

    def take(claim: Claim, item: Item) -> None:
        read.extend(claim.read(item.name))

    with_work(engine, take)
    begun = engine.tasks.begin(SPACE, "remember", {}, OWNER)
    assert isinstance(begun, Submission)
    assert runner(engine).run_one() is None  # not before all has come
    sent = bytes(range(256)) * 10_000
    begun.add_blob("a", (sent[at : at + 70_000] for at in range(0, len(sent), 70_000)))
    begun.add_items([NewItem("a")])
    task = begun.end()
    runner(engine).run_one()
    assert b"".join(read) == sent and len(read[0]) == PIECE
    (left,) = engine._database.read([Statement("SELECT count(*) FROM blobs")])
    assert now(engine, task).state == "succeeded" and left == [(0,)]


def test_a_request_that_broke_off_leaves_a_task_that_failed(engine: Engine):
    begun = engine.tasks.begin(SPACE, "remember", {}, OWNER)
    assert isinstance(begun, Submission)
    begun.add_blob("a", [b"half"])
    engine._database.write([Statement("UPDATE tasks SET lease_until = 0")])
    assert runner(engine).run_one() is None
    engine.tasks.forget()
    (task,) = engine.tasks.list(SPACE, OWNER).items
    assert (task.state, task.error_code) == ("failed", "task.incomplete")
    with pytest.raises(Conflict):
        begun.end()


def test_a_request_with_a_key_makes_one_task(engine: Engine):
    key = RequestKey("scope", "key", b"hash")
    first, again = (engine.tasks.submit(SPACE, "count", {}, OWNER, total=1, request=key) for _ in range(2))
    assert first.id == again.id
    with pytest.raises(RequestReused):
        engine.tasks.submit(SPACE, "count", {}, OWNER, total=1, request=RequestKey("scope", "key", b"other"))


def test_old_tasks_are_forgotten(engine: Engine):
    task = submit(engine, named("a"))
    runner(engine).run_one()
    engine.tasks.forget()
    assert now(engine, task).state == "succeeded"
    engine._database.write([Statement("UPDATE tasks SET expires_at = 0")])
    engine.tasks.forget()
    with pytest.raises(NotFound):
        now(engine, task)


def test_tasks_are_listed_newest_first_by_page_state_and_kind(engine: Engine):
    tasks = [submit(engine, named(name)) for name in "abc"]
    engine.tasks.submit(SPACE, "count", {}, OWNER, total=1)
    engine.tasks.cancel(SPACE, tasks[0].id, OWNER)
    first = engine.tasks.list(SPACE, OWNER, kinds=["remember"], limit=2)
    assert [one.id for one in first.items] == [tasks[2].id, tasks[1].id]
    rest = engine.tasks.list(SPACE, OWNER, kinds=["remember"], limit=2, cursor=first.next_cursor)
    assert [one.id for one in rest.items] == [tasks[0].id] and rest.next_cursor is None
    assert [one.id for one in engine.tasks.list(SPACE, OWNER, states=["cancelled"]).items] == [tasks[0].id]
    with pytest.raises(InvalidInput):
        engine.tasks.list(SPACE, OWNER, states=["asleep"])


def test_a_caller_who_does_not_see_the_space_sees_only_its_own_tasks(engine: Engine):
    submit(engine, named("a"))
    some = Caller(actor="some", category="work")
    own = engine.tasks.submit(SPACE, "count", {}, some, total=1)
    assert [one.id for one in engine.tasks.list(SPACE, some).items] == [own.id]
    with pytest.raises(NotFound):
        engine.tasks.cancel(SPACE, engine.tasks.list(SPACE, OWNER).items[1].id, some)
    engine.tasks.submit(SPACE, "remember", {}, some, named("b"))
    while runner(engine).run_one() is not None:
        pass
    assert {one.content[0]: one.category for one in engine.owner.read.list(SPACE).items} == {"a": None, "b": "work"}
