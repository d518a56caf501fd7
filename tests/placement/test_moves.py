"""Moves of spaces between databases: everything comes, nothing is doubled, and a killed mover goes on or back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from muisti.core.identity.caller import OWNER
from muisti.core.model.buckets import bucket_of, unit_of
from muisti.core.model.errors import Conflict, NotFound, SpaceMoving
from muisti.core.model.quality import Expectation
from muisti.core.model.values import Draft, RequestKey
from muisti.core.placement.holdings import holding, unfenced
from muisti.core.placement.mover import complete
from muisti.core.placement.rows import CARRIED, STAYING
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from muisti.core.store.sql.tables import TABLES
from tests.core.crashes import Died
from tests.placement.worlds import World, contents, dump, world

SPACE = "acme"
UNIT = unit_of(bucket_of(SPACE))


@pytest.fixture
def three(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def filled(made: World, space: str = SPACE) -> None:
    """Make a space with rows in all tables that a caller can fill in a few calls."""
    engine = made.engines[0]
    engine.spaces.create(space)
    owner = engine.owner
    first = owner.write.add(space, [Draft(content=f"note {n}", tags=("red",), metadata={"n": n}) for n in range(5)])
    owner.write.add(space, [Draft(content="at an address", category="c", key="k")])
    owner.write.put(space, Draft(content="at an address, changed", category="c", key="k"))
    owner.write.delete(space, first.memories[4].id)
    owner.write.add(space, [Draft(content="once")], request=RequestKey("http x", "key", b"h" * 32))
    owner.timeline.create_checkpoint(space, "before")
    engine.probes.add(space, Expectation(query="note", memory_id=first.memories[0].id, k=5), OWNER, engine.now())
    engine.webhooks.create(space, "https://example.com/", (), "ids", OWNER, engine.now())
    engine.spaces.set_quota(space, {"memories": 50})
    owner.read.search(space, Query(text="note 1"))
    engine.flush_retrievals()


def test_each_table_of_a_space_moves_or_says_why_it_stays():
    of_spaces = {table.name for table in TABLES if table.space or table.version or table.references}
    of_spaces -= {"keys", "spaces"}  # of the server; and the row of a space, which is carried last
    carried = {one.table.name for one in CARRIED}
    assert carried | STAYING.keys() >= of_spaces
    assert not carried & STAYING.keys()


def test_a_move_brings_everything(three: World):
    filled(three)
    before, found = dump(three.databases[0], SPACE), contents(three.engines[0], SPACE)
    moved = three.move(UNIT, "a")
    assert (moved.step, moved.error) == ("ended", None)
    assert three.keepers(SPACE) == [1]
    assert dump(three.databases[1], SPACE) == before
    home = three.home(SPACE)
    assert contents(home, SPACE) == found
    assert home.owner.read.search(SPACE, Query(text="note 2")).hits[0].memory.content == "note 2"
    home.owner.write.add(SPACE, [Draft(content="after the move")])
    again = home.owner.write.add(SPACE, [Draft(content="once")], request=RequestKey("http x", "key", b"h" * 32))
    assert again.replayed


def test_a_space_comes_back_and_no_index_shows_what_was_before(three: World):
    filled(three)
    three.engines[0].owner.read.search(SPACE, Query(text="note 1"))  # its index is in memory
    for number, name in enumerate(["a", "b", "main", "a", "main"]):
        assert three.move(UNIT, name).step == "ended"
        home = three.home(SPACE)
        text = f"in {name} at {number}"
        home.owner.write.add(SPACE, [Draft(content=text)], on_conflict="keep")
        assert home.owner.read.search(SPACE, Query(text=text)).hits[0].memory.content == text
        assert len(three.keepers(SPACE)) == 1


def test_the_source_refuses_who_believes_an_old_map(three: World):
    filled(three)
    engine = three.engines[0]
    engine.owner.read.search(SPACE, Query(text="note 1"))
    three.move(UNIT, "a")
    with pytest.raises(NotFound):
        engine.owner.write.add(SPACE, [Draft(content="too late")])
    with pytest.raises(NotFound):
        engine.owner.read.search(SPACE, Query(text="note 1"))
    with pytest.raises(SpaceMoving):
        engine.spaces.create(SPACE)
    assert holding(three.databases[0], SPACE).state == "gone"


def test_a_fence_refuses_every_write_and_no_read_and_can_be_lifted(three: World):
    filled(three)
    engine = three.engines[0]
    three.ask(UNIT, "a")

    def fenced(step: str) -> None:
        if step != "fenced":
            return
        for write in (
            lambda: engine.owner.write.add(SPACE, [Draft(content="now")]),
            lambda: engine.spaces.set_policy(SPACE, {"history_days": 3}),
            lambda: engine.spaces.set_quota(SPACE, {"memories": 9}),
            lambda: engine.webhooks.create(SPACE, "https://example.org/", (), "ids", OWNER, engine.now()),
            lambda: engine.spaces.delete(SPACE),
        ):
            with pytest.raises((SpaceMoving, NotFound)):
                write()
        assert contents(engine, SPACE)
        assert engine.owner.read.search(SPACE, Query(text="note 1")).hits
        engine.owner.write.add("default", [Draft(content=f"elsewhere {three.databases[0].writes}")])
        raise Died

    mover = three.mover()
    mover._after = fenced  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(Died):
        mover.run()
    found = holding(three.databases[0], SPACE)
    assert found.state == "fenced"
    three.databases[0].write(unfenced(found.epoch))
    engine.owner.write.add(SPACE, [Draft(content="writes go on")])
    moved = three.mover().run()
    assert moved is not None and moved.step == "ended"
    assert "writes go on" in dict(contents(three.home(SPACE), SPACE)).values()


def writes_of_a_move(folder: Path) -> list[int]:
    """Return how many writes each database sees during a move."""
    with world(folder, 2) as made:
        filled(made)
        made.ask(UNIT, "a")
        for one in made.databases.values():
            one.writes = 0
        made.mover().run()
        return [one.writes for one in made.databases.values()]


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("victim", [0, 1], ids=["source", "target"])
def test_a_mover_killed_at_any_write_goes_on_or_back(tmp_path: Path, victim: int, committed: bool):
    counts = writes_of_a_move(tmp_path / "counted")
    steps = set[str]()
    for number in range(1, counts[victim] + 1):
        with world(tmp_path / f"{number}", 2) as made:
            filled(made)
            asked = made.ask(UNIT, "a")
            with made.databases[victim].crash(number, committed=committed):
                made.mover().run()
            made.abandon()
            steps.add(made.directory.move(asked.id).step)
            assert len(made.keepers(SPACE)) <= 1  # none between two databases, until somebody closes the gap
            state = holding(made.databases[0], SPACE).state
            if state == "gone" and made.directory.load().of(SPACE) == 0:
                assert complete(made.directory, made.databases.__getitem__, UNIT)
            if state in ("held", "following"):  # the source goes on
                made.engines[0].owner.write.add(SPACE, [Draft(content="between")])
            before = contents(made.home(SPACE), SPACE)
            moved = made.mover("another").run(asked.id)
            moved = made.directory.move(asked.id) if moved is None else moved
            assert moved.step == "ended", (number, moved)
            assert made.keepers(SPACE) == [1]
            assert contents(made.home(SPACE), SPACE) == before
            assert not leftovers(made)
    assert len(steps) >= 4


def test_a_move_goes_back_on_request_until_the_source_lets_go(tmp_path: Path):
    counts = writes_of_a_move(tmp_path / "counted")
    went_back = 0
    for number in range(1, counts[0] + 1, 2):
        with world(tmp_path / f"{number}", 2) as made:
            filled(made)
            before = dump(made.databases[0], SPACE)
            asked = made.ask(UNIT, "a")
            with made.databases[0].crash(number):
                made.mover().run()
            made.abandon()
            move = made.directory.claim("another", asked.id)
            if move is None:
                continue
            try:
                made.mover("another").back(move, "asked")
            except Conflict:
                continue
            went_back += 1
            assert made.keepers(SPACE) == [0]
            assert dump(made.databases[0], SPACE) == before
            assert not leftovers(made)
            assert made.move(UNIT, "a").step == "ended"
    assert went_back >= 3


def leftovers(made: World) -> list[str]:
    """Return what a move that has ended should have removed."""
    found: list[str] = []
    for one in made.databases.values():
        asks = ["SELECT name FROM spaces WHERE name LIKE '~%'"]
        asks += ["SELECT name FROM sqlite_master WHERE name LIKE 'leaving#_%' ESCAPE '#'"]
        asks += [f"SELECT '{name}' FROM {name}" for name in ("leaving", "trail", "carried", "arrivals")]
        found += [str(row[0]) for rows in one.read([Statement(ask) for ask in asks]) for row in rows]
    return found


def test_changes_while_rows_are_copied_are_followed(three: World):
    filled(three)
    engine = three.engines[0]
    made: list[str] = []

    def busy(step: str) -> None:
        if step in ("copying", "following", "followed"):
            added = engine.owner.write.add(SPACE, [Draft(content=f"during {step} {len(made)}", tags=("blue",))])
            made.append(added.memories[0].id)
            if len(made) == 3:
                engine.owner.write.delete(SPACE, made[0])
                engine.eraser.memory(SPACE, made[1], OWNER)
            engine.owner.write.put(SPACE, Draft(content=f"changed in {step}", category="c", key="k"))

    three.ask(UNIT, "a")
    mover = three.mover()
    mover._after = busy  # pyright: ignore[reportPrivateUsage]
    moved = mover.run()
    assert moved is not None and moved.step == "ended", moved
    home = three.home(SPACE)
    assert home is three.engines[1]
    assert set(made) & dict(contents(home, SPACE)).keys() == {made[2]}
    assert len(made) == 3
    assert not leftovers(three)


def test_two_movers_at_once_do_one_move(three: World):
    filled(three)
    asked = three.ask(UNIT, "a")
    second = three.mover("second")
    outcomes: list[object] = []

    def meanwhile(step: str) -> None:
        if step in ("copying", "followed", "fenced"):
            outcomes.append(second.run(asked.id))  # the first has the lease
        if step == "following":
            three.abandon()
            outcomes.append(second.run(asked.id))  # the first was slow: the second does all

    mover = three.mover("first")
    mover._after = meanwhile  # pyright: ignore[reportPrivateUsage]
    moved = mover.run(asked.id)
    assert moved is not None
    assert three.directory.move(asked.id).step == "ended"
    assert three.keepers(SPACE) == [1]
    assert len(contents(three.home(SPACE), SPACE)) == 6
    assert not leftovers(three)


def test_a_fork_keeps_two_spaces_together(three: World):
    filled(three)
    other = next(name for name in (f"fork{n}" for n in range(50)) if bucket_of(name) != bucket_of(SPACE))
    three.engines[0].owner.timeline.fork(SPACE, other)
    moved = three.move(UNIT, "a")
    assert moved.step == "back"
    assert moved.error is not None and "fork" in moved.error
    assert three.keepers(SPACE) == [0]
