import sys
import time
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.index.usage import ENTRY, Recent
from muisti.core.model.values import Draft, Memory
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from tests.core.fakes import SPACE

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def memory(version: int, size: int) -> Memory:
    return Memory(
        id=str(version), space="s", version=1, kind="memory", category=None, key=None, content="x" * size, type="fact",
        status="active", importance="medium", author=None, reason=None, source=None, tags=(), metadata={},
        event_at=None, valid_from=None, valid_to=None, created_at=NOW, updated_at=NOW, expires_at=None,
        supersedes=None, superseded_by=None, parent_id=None, source_class="user", derived_from=(), trust=100, tokens=1,
    )  # fmt: skip


STEPS = st.lists(st.one_of(st.lists(st.integers(0, 30), max_size=5, unique=True), st.just(None)), max_size=30)


@given(STEPS)
def test_it_has_the_last_of_half_its_limit_and_nothing_from_before_it_was_emptied(steps: list[list[int] | None]):
    limit = 8 * (ENTRY + 200)
    recent, sizes = Recent(limit), dict[int, int]()  # version: bytes, those that came last at the end
    for step in steps:
        if step is None:
            recent.forget()
            sizes.clear()
        else:
            known, before = recent.of(step), recent.nbytes
            found = {one: memory(one, 50 * one) for one in step if one not in known}
            assert recent.note(1, found, 0.0, recent.forgotten) == recent.nbytes - before
            for one in found:
                sizes.pop(one, None)
                sizes[one] = ENTRY + sys.getsizeof("x" * 50 * one)
        found = recent.of(range(40))
        assert {one: found[one].id for one in found} == {one: str(one) for one in found}
        assert recent.nbytes == sum(sizes[one] for one in found) <= limit
        last = list[int]()
        while len(last) < len(sizes) and sum(sizes[one] for one in [*sizes][-len(last) - 1 :]) <= limit // 2:
            last = [*sizes][-len(last) - 1 :]
        assert set(last) <= set(found)


def test_what_would_displace_most_others_or_was_read_before_all_was_dropped_is_not_kept():
    recent = Recent(4 * ENTRY)
    recent.note(1, {1: memory(1, 9), 2: memory(2, 4 * ENTRY)}, 0.0, recent.forgotten)
    assert [*recent.of([1, 2])] == [1]
    assert Recent(0).note(1, {1: memory(1, 9)}, 0.0, 0) == 0
    before = recent.forgotten
    recent.forget()
    assert recent.note(1, {1: memory(1, 9)}, 0.0, before) == 0
    assert not recent.of([1]) and not recent.was_at(1, 1e9)


def test_it_says_how_long_ago_the_space_was_at_a_change():
    recent = Recent()
    recent.note(7, {}, time.monotonic(), recent.forgotten)
    assert recent.was_at(7, 1_000.0) and not recent.was_at(8, 1_000.0)
    recent.note(8, {}, time.monotonic() - 500.0, recent.forgotten)
    assert recent.was_at(8, 1_000.0) and not recent.was_at(8, 100.0) and not recent.was_at(7, 1_000.0)


def search(engine: Engine, text: str, as_of: AsOf | None = None) -> list[str]:
    return [hit.memory.content for hit in engine.owner.read.search(SPACE, Query(text=text, as_of=as_of)).hits]


def test_a_search_shows_the_newest_version_and_nothing_erased(engine: Engine):
    contents = [f"river stone {number}" for number in range(5)]
    drafts = [Draft(content=content) for content in contents]
    ids = [one.id for one in engine.owner.write.add(SPACE, drafts, on_conflict="keep").memories]
    assert sorted(search(engine, "river stone")) == contents
    index, snapshot = engine._indexes.fresh(SPACE)
    assert len(index.recent.of(range(100))) == 5
    engine.owner.write.update(SPACE, ids[0], {"content": "river stone renamed"})
    engine.eraser.memory(SPACE, ids[1], OWNER)
    assert sorted(search(engine, "river stone")) == [*contents[2:], "river stone renamed"]
    assert ids[1] not in {one.id for one in index.recent.of(range(100)).values()}
    past = AsOf(number=snapshot.seq.number)
    assert sorted(search(engine, "river stone", as_of=past)) == [contents[0], *contents[2:]]
    then, _ = engine._indexes.past(SPACE, snapshot.seq.number)
    assert not then.recent.nbytes
