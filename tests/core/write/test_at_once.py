"""An add on the event loop has the same result as one on a thread that waits."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from queue import SimpleQueue

import pytest
from msgspec import structs

from muisti.core.engine import Engine
from muisti.core.model.choices import OnConflict
from muisti.core.model.collisions import Duplicate
from muisti.core.model.errors import MuistiError
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Outcome
from muisti.core.support.waiting import Overtaken, WouldWait
from muisti.core.write.calls import Begun
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import FileStore, Stores

DRAFTS = (
    Draft(content="the deploy runs on friday at noon"),
    Draft(content="THE deploy runs  on friday at noon"),
    Draft(content="the deploy runs on monday at noon"),
    Draft(content="the deploy never runs on friday at noon"),
    Draft(content="cats sleep", category="pets", key="cats", tags=("a", "b"), metadata={"session": "s", "turn": 1}),
    Draft(content="cats play", category="pets", key="cats"),
    Draft(content=""),
    Draft(content="an answer", parent_id="019a0000-0000-7000-8000-000000000000"),
    Draft(content="an answer", importance="urgent"),  # pyright: ignore[reportArgumentType]
    Draft(content="words " * 300),
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(FileStore(tmp_path / "one.db")) as opened:
        warmed(opened)
        yield opened


def warmed(engine: Engine) -> None:
    add(engine, "something to begin with")  # gives the space its model
    add(engine, "something more")
    engine.owner.read.search(SPACE, Query(text="something"))


def at_once(engine: Engine, draft: Draft, on_conflict: OnConflict) -> Written:
    outcomes: SimpleQueue[Outcome] = SimpleQueue()
    begun = engine.owner.write.begin_add(SPACE, draft, on_conflict, outcomes.put)
    return engine.owner.write.end_add(begun, outcomes.get(timeout=10))


def told(adding: Callable[[], Written]) -> object:
    """Return the reply or the error that the caller receives, without ids."""
    try:
        written = adding()
    except MuistiError as error:
        return type(error), str(error).partition("019")[0]
    (memory,) = written.memories
    similar = [(one.kind, one.similarity, one.content) for one in written.similar]
    at = None if written.checked_at is None else written.checked_at.number
    return structs.replace(memory, id=""), written.seq.number, written.created, similar, at


@pytest.mark.parametrize("on_conflict", ["keep", "reject"])
def test_it_tells_what_a_call_that_waits_tells(engine: Engine, tmp_path: Path, on_conflict: OnConflict):
    with open_engine(FileStore(tmp_path / "two.db")) as other:
        warmed(other)
        for draft in DRAFTS:
            here = told(lambda draft=draft: at_once(engine, draft, on_conflict))
            there = told(lambda draft=draft: other.owner.write.add(SPACE, [draft], on_conflict=on_conflict))
            assert here == there
        assert _contents(engine) == _contents(other)


def _contents(engine: Engine) -> list[str]:
    return [memory.content for memory in engine.owner.read.list(SPACE).items]


def test_the_next_search_finds_it(engine: Engine):
    assert at_once(engine, Draft(content="a rare marmoset"), "reject").created
    (hit,) = engine.owner.read.search(SPACE, Query(text="marmoset", mode="keyword")).hits
    assert hit.memory.content == "a rare marmoset"


def test_of_many_equal_ones_begun_together_one_is_stored(engine: Engine):
    """The check at first sees some of them; what it misses the batch refuses."""
    begun: list[tuple[Begun, SimpleQueue[Outcome]]] = []
    stored, refused = 0, 0
    for _ in range(20):
        outcome: SimpleQueue[Outcome] = SimpleQueue()
        try:
            one = engine.owner.write.begin_add(SPACE, Draft(content="only once"), "reject", outcome.put)
        except Duplicate:
            refused += 1
        else:
            begun.append((one, outcome))
    for one, outcome in begun:
        try:
            stored += engine.owner.write.end_add(one, outcome.get(timeout=10)).created
        except Duplicate as error:
            assert [found.content for found in error.found] == ["only once"]
            refused += 1
    assert (stored, refused) == (1, 19)


def test_in_a_space_made_anew_meanwhile_it_is_to_be_added_anew(engine: Engine):
    engine.spaces.delete(SPACE)
    engine.spaces.create(SPACE)
    with pytest.raises(Overtaken):
        at_once(engine, Draft(content="for the old one"), "keep")
    assert (
        engine.owner.write.add(SPACE, [Draft(content="for the new one")]).seq.epoch == engine.spaces.get(SPACE).at.epoch
    )
    assert _contents(engine) == ["for the new one"]


@pytest.mark.parametrize("case", ["unknown space", "long text", "not asked before", "behind"])
def test_what_would_take_long_is_left_to_a_thread(tmp_path: Path, engine: Engine, case: str):
    outcomes: SimpleQueue[Outcome] = SimpleQueue()
    space, text, conflict = SPACE, "short", "keep"
    if case == "unknown space":
        space = "elsewhere"
    elif case == "long text":
        text = "long " * 1_000
    elif case == "not asked before":
        engine.spaces.create("fresh")
        space = "fresh"
    else:
        conflict = "reject"
        add(engine, *(f"note number {n}" for n in range(100)))
    with pytest.raises(WouldWait):
        engine.owner.write.begin_add(space, Draft(content=text), conflict, outcomes.put)
    assert outcomes.empty()


def test_a_database_that_is_far_away_is_left_to_a_thread(stores: Stores):
    with open_engine(stores()) as engine:
        warmed(engine)
        near = engine.store.startswith("SQLite")
        with nullcontext() if near else pytest.raises(WouldWait):
            engine.owner.write.begin_add(SPACE, Draft(content="near or far"), "keep", SimpleQueue[Outcome]().put)
