"""Sizes of memories are computed once, stored a little later, and erased with the memory."""

from collections.abc import Iterator

import pytest

from muisti.core.conversations.context.counting import counter
from muisti.core.conversations.context.rendering import Sizes
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.values import Draft, Memory
from muisti.core.store.database import Database, Statement
from muisti.core.views.read import Request
from tests.core.fakes import SPACE, Clock, open_engine
from tests.stores import Stores

LONG = "We deploy in Turku on Fridays. " * 40


@pytest.fixture
def opened(stores: Stores, clock: Clock) -> Iterator[Engine]:
    with open_engine(stores(), clock=clock) as engine:
        yield engine


def add(engine: Engine, *contents: str) -> list[Memory]:
    return [*engine.owner.write.add(SPACE, [Draft(content=one) for one in contents], on_conflict="keep").memories]


def database(engine: Engine) -> Database:
    return engine._database  # pyright: ignore[reportPrivateUsage]  # no view shows this table


def stored(engine: Engine) -> list[tuple[object, ...]]:
    (rows,) = database(engine).read([Statement("SELECT version_id, encoding, data FROM pieces ORDER BY 1, 2")])
    return [tuple(row) for row in rows]


def build(engine: Engine, encoding: str = "cl100k_base") -> str:
    asked = Request(query="When do we deploy?", token_budget=300, encoding=encoding, min_evidence="none")
    return engine.owner.context.build(SPACE, asked).text


def test_what_is_read_is_what_was_computed(opened: Engine):
    memories = add(opened, LONG, "Short one about Turku")
    sizes = Sizes(database(opened))
    for encoding in ("cl100k_base", "o200k_base"):
        computed = sizes.of(memories, counter(encoding))
        assert sizes.flush()
        again = Sizes(database(opened))
        assert again.of(memories, counter(encoding)) == computed
        assert not again.flush()
    assert not sizes.flush()
    assert len(stored(opened)) == 4


def test_an_add_stores_no_sizes_and_a_context_does(opened: Engine):
    add(opened, LONG, "We deploy on Mondays too")
    opened.flush_retrievals()
    assert stored(opened) == []
    text = build(opened)
    opened.flush_retrievals()
    assert len(stored(opened)) == 2
    assert build(opened) == text


def test_sizes_are_erased_with_the_memory_and_those_that_wait_are_not_written(opened: Engine):
    first, second = add(opened, LONG, "We deploy on Mondays too")
    build(opened)
    opened.flush_retrievals()
    opened.eraser.memory(SPACE, first.id, OWNER)
    assert len(stored(opened)) == 1
    build(opened, "o200k_base")
    opened.eraser.memory(SPACE, second.id, OWNER)
    opened.flush_retrievals()
    assert stored(opened) == []


def test_a_new_version_has_sizes_of_its_own(opened: Engine):
    (memory,) = add(opened, "We deploy on Mondays")
    assert "We deploy on Mondays\n" in build(opened)
    opened.owner.write.update(SPACE, memory.id, {"content": "We deploy on Sundays and every other day of the week"})
    assert "every other day of the week\n" in build(opened)


def test_of_long_memories_only_the_best_are_weighed(opened: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.conversations.context.assembly.WEIGHED", 2 * len(LONG) + 50 - 8 * 2_000)
    add(opened, *(f"{LONG}{number}" for number in range(4)))
    asked = Request(query="When do we deploy?", token_budget=2_000, encoding="cl100k_base", min_evidence="none")
    found = opened.owner.context.build(SPACE, asked)
    opened.flush_retrievals()
    assert len(stored(opened)) == len(found.citations) == 2
    assert [one for one in found.degraded if "best 2 of 4" in one]
