"""Rows of filters are remembered, and are what the store selects after every write, at every time and point."""

from collections.abc import Sequence
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.index import selections as module
from muisti.core.index import space_index
from muisti.core.index.columns import Keywords
from muisti.core.index.rows import Rows
from muisti.core.index.selections import Selections
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft
from muisti.core.query.filters import And, Filter, Leaf, Not, fields_of, parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.support.waiting import WouldWait, without_waiting
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.examples import few

DAY = 86_400_000_000
LONG = " ".join(f"word{n}" for n in range(700))  # several passages

fields = st.fixed_dictionaries({
    "content": st.sampled_from(["a red fox", "a green tree", "a blue lake", LONG]),
    "category": st.sampled_from([None, "Infra", "home"]),
    "author": st.sampled_from([None, "ann", "bob"]),
    "tags": st.lists(st.sampled_from("abc"), unique=True, max_size=2).map(tuple),
    "metadata": st.sampled_from([{}, {"x": 1}, {"x": True}, {"x": "1"}, {"x": 5, "y": [1, 2]}, {"y": 2}]),
    "status": st.sampled_from(["active", "active", "candidate"]),
    "expires_at": st.sampled_from([None, None, 1, 3]),  # days from then
})  # fmt: skip
operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), fields),
        st.tuples(st.just("change"), st.tuples(st.integers(0, 99), fields)),
        st.tuples(st.just("delete"), st.integers(0, 99)),
        st.tuples(st.just("wait"), st.integers(1, 2)),
    ),
    min_size=1,
    max_size=10,
)
ASKED: list[Any] = [
    {"category": "infra"}, {"category": {"exists": False}}, {"not": {"category": "infra"}}, {"tags": "a"},
    {"tags": {"all": ["a", "b"]}, "not": {"author": "bob"}}, {"or": [{"tags": "a"}, {"metadata.x": 1}]},
    {"metadata.x": {"gte": 1}}, {"metadata.x": True}, {"metadata.y": {"ne": 1}}, {"metadata.x": {"glob": "?"}},
    {"not": {"metadata.y": {"lt": 2}}}, {"expires_at": {"gt": "2026-01-01"}}, {"status": "candidate"},
    {"or": [{"status": "candidate"}, {"tags": "c"}]},
]  # fmt: skip
chosen = st.lists(st.sampled_from(ASKED).map(parse), min_size=1, max_size=4, unique_by=repr)


def listed(engine: Engine, filter: Filter, as_of: AsOf | None = None) -> set[tuple[str, int]]:
    """The id and version of what the store selects, as searches see it."""
    items = engine.owner.read.list(SPACE, filter=filter, limit=100, as_of=as_of).items
    every = "status" in fields_of(filter)
    return {(item.id, item.version) for item in items if every or item.status == "active"}


def searched(engine: Engine, filter: Filter, as_of: AsOf | None = None) -> set[tuple[str, int]]:
    """The id and version of what a search selects, whose total must be right in every mode."""
    query = Query(text="fox tree lake word1", filter=filter, limit=100, mode="metadata", as_of=as_of)
    answer = engine.owner.read.search(SPACE, query)
    found = {(hit.memory.id, hit.memory.version) for hit in answer.hits}
    assert answer.total == len(answer.hits) == len(found)
    ranked = engine.owner.read.search(SPACE, Query(text="fox tree lake word1", filter=filter, limit=100, as_of=as_of))
    assert ranked.total == len(found)
    assert {(hit.memory.id, hit.memory.version) for hit in ranked.hits} <= found
    return found


def dated(chosen: dict[str, Any], clock: Clock) -> dict[str, Any]:
    days = chosen["expires_at"]
    return {**chosen, "expires_at": None if days is None else from_us(clock.at + days * DAY)}


def play(engine: Engine, clock: Clock, verb: str, value: Any, living: list[str]) -> None:
    if verb == "add":
        living.append(engine.owner.write.add(SPACE, [Draft(**dated(value, clock))], on_conflict="keep").memories[0].id)
    elif verb == "wait":
        clock.pass_days(value)
    elif living and verb == "delete":
        current = {item.id for item in engine.owner.read.list(SPACE, limit=100).items}
        if (gone := living.pop(value % len(living))) in current:
            engine.owner.write.delete(SPACE, gone)
    elif living:
        number, changed = value
        current = {item.id for item in engine.owner.read.list(SPACE, limit=100).items}
        if (one := living[number % len(living)]) in current:
            engine.owner.write.update(SPACE, one, dated(changed, clock))


@few
@given(operations, chosen, st.booleans())
def test_a_remembered_filter_selects_what_the_store_does_after_each_write(
    tmp_path_factory: Any, script: list[tuple[str, Any]], asked: list[Filter], compacting: bool
):
    clock, living, points = Clock(), list[str](), list[int]()
    with (
        pytest.MonkeyPatch.context() as patch,
        open_engine(tmp_path_factory.mktemp("db") / "muisti.db", clock=clock) as engine,
    ):
        if compacting:
            patch.setattr(space_index, "COMPACT_AT", 1)
        add(engine, "a first fox", metadata={"x": 1})
        for verb, value in script:
            play(engine, clock, verb, value, living)
            for filter in asked:
                assert searched(engine, filter) == listed(engine, filter)
            points.append(engine.owner.read.search(SPACE, Query(text="fox")).seq.number)
        for number in points:
            for filter in asked:
                point = AsOf(number=number)
                assert searched(engine, filter, point) == listed(engine, filter, point)


def selections(values: Sequence[str | None]) -> Selections:
    """Selections over the rows of one field, each of them a memory."""
    column, rows = Keywords(), Rows(0)
    column.extend(values)
    rows.number.append(np.zeros(len(values), np.int32))
    return Selections(rows, lambda field, size: column)


def test_a_little_memory_suffices_for_any_number_of_filters(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LEAST", 3_000)
    values = [f"v{n % 50}" for n in range(1_000)]
    found = selections(values)
    for _ in range(2):
        for n in range(50):
            mask = found.mask(Leaf("category", "eq", f"v{n}"), 1_000)
            assert np.flatnonzero(mask).tolist() == list(range(n, 1_000, 50))
            assert 0 < found.nbytes <= 6_000


def test_a_thread_that_may_not_wait_gets_only_what_is_remembered_or_short():
    values = ["a", "b", "c"] * 4_000
    found, filter = selections(values), And((Leaf("category", "eq", "a"), Not(Leaf("category", "eq", "b"))))
    with without_waiting(), pytest.raises(WouldWait):
        found.mask(filter, 12_000)
    found.mask(filter, 11_900)
    with without_waiting():
        assert found.mask(filter, 12_000).tolist() == [value == "a" for value in values]


def test_readers_of_unlike_sizes_do_not_disturb_each_other():
    values = ["a", "b", None] * 5_000
    found, filter = selections(values), parse({"or": [{"category": "a"}, {"category": {"exists": False}}]})
    wanted = np.array([value != "b" for value in values])
    start, wrong = Barrier(4), list[int]()

    def read(step: int) -> None:
        start.wait()
        for size in range(step, 15_000, 97 * step):
            if not np.array_equal(found.mask(filter, size), wanted[:size]):
                wrong.append(size)

    threads = [Thread(target=read, args=(step,)) for step in (1, 2, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_filters_remember_counts_as_memory_of_the_index(engine: Engine):
    add(engine, *(f"fox {n}" for n in range(200)), category="infra")
    before = engine.index_bytes
    engine.owner.read.search(SPACE, Query(text="fox", filter=parse({"category": "infra"})))
    once = engine.index_bytes
    assert once > before
    engine.owner.read.search(SPACE, Query(text="fox", filter=parse({"category": "infra"})))
    assert engine.index_bytes - once < 1_000_000
