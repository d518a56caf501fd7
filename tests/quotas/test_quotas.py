"""Quotas: a space never exceeds its quota under concurrent writes, and its counters are always right."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.model.choices import CLEAR_PHRASE
from muisti.core.model.errors import InvalidInput, NotFound, QuotaExceeded
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Quota, Usage
from muisti.core.model.values import Draft
from muisti.core.store.database import Statement
from tests.conversations.talking import named, said, stream
from tests.core.fakes import SPACE, Clock, WordEncoder, open_engine
from tests.examples import examples
from tests.stores import Stores

TRUTH = Statement(
    "SELECT s.memories, s.bytes, count(v.id), coalesce(sum(v.bytes), 0) FROM spaces s "
    "LEFT JOIN versions v ON v.space_id = s.id AND v.died IS NULL GROUP BY s.id"
)


def usage(engine: Engine, space: str = SPACE) -> Usage:
    found = engine.owner.read.stats(space).usage
    assert found is not None
    return found


def fill(engine: Engine, *contents: str, space: str = SPACE) -> list[str]:
    drafts = [Draft(content=content) for content in contents]
    return [memory.id for memory in engine.owner.write.add(space, drafts, on_conflict="keep").memories]


def test_what_is_too_much_is_refused_whole_and_says_what_there_is(engine: Engine):
    fill(engine, "one", "two")
    engine.spaces.set_quota(SPACE, {"memories": 3})
    with pytest.raises(QuotaExceeded) as caught:
        fill(engine, "three", "four")
    assert caught.value.usage == usage(engine)
    assert (usage(engine).memories, usage(engine).quota) == (2, Quota(memories=3))
    assert "it holds 2 of 3 memories" in str(caught.value)
    fill(engine, "three")
    with pytest.raises(QuotaExceeded):
        engine.owner.write.put(SPACE, Draft(content="four", category="a", key="b"))
    first = engine.owner.read.list(SPACE).items[0].id
    engine.owner.write.delete(SPACE, first)
    fill(engine, "four")


def test_bytes_are_counted_of_all_that_was_said(engine: Engine):
    said = Draft(content="é", category="c", key="k", author="a", reason="r", source="s", tags=("t",), metadata={"m": 1})
    engine.owner.write.add(SPACE, [said])
    assert usage(engine).bytes == len("é".encode()) + 5 + len('["t"]') + len('{"m":1}')


def test_what_is_held_may_become_smaller_or_end_but_not_grow_beyond_the_quota(engine: Engine):
    (memory,) = fill(engine, "x" * 100)
    stream(engine, "c", said("one", "two"))
    engine.spaces.set_quota(SPACE, {"bytes": 50, "memories": 0})
    assert engine.owner.write.update(SPACE, memory, {"content": "x" * 80}).memories[0].version == 2
    with pytest.raises(QuotaExceeded):
        engine.owner.write.update(SPACE, memory, {"content": "x" * 81})
    engine.owner.conversations.delete(SPACE, named("c"))
    engine.owner.write.update(SPACE, memory, {"content": "x" * 20})
    engine.owner.write.update(SPACE, memory, {"content": "x" * 30})
    engine.owner.timeline.clear(SPACE, CLEAR_PHRASE)
    assert usage(engine).memories == 0
    with pytest.raises(QuotaExceeded):
        fill(engine, "y")


def test_many_writers_in_several_processes_stay_within_the_quota(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as other:
        one.spaces.set_quota(SPACE, {"memories": 20})

        def write(number: int) -> bool:
            try:
                fill((one, other)[number % 2], f"text {number}", *(["more"] if number % 3 == 0 else []))
            except QuotaExceeded:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            taken = sum(pool.map(write, range(40)))
        assert 10 <= taken < 40 and 19 <= usage(other).memories <= 20
        assert one.owner.read.list(SPACE, limit=100).items == other.owner.read.list(SPACE, limit=100).items


def test_a_quota_belongs_to_the_name_and_the_default_to_all_others(stores: Stores):
    database = stores().open()
    engine = Engine(database, WordEncoder(), Clock(), quota=Quota(memories=1))
    for space in ("a", "b"):
        engine.spaces.create(space)
        fill(engine, "one", space=space)
        with pytest.raises(QuotaExceeded):
            fill(engine, "two", space=space)
    engine.spaces.set_quota("a", {"memories": 2})
    fill(engine, "two", space="a")
    engine.spaces.delete("a")
    engine.spaces.create("a")
    assert usage(engine, "a") == Usage(memories=0, bytes=0, quota=Quota(memories=2))
    engine.spaces.set_quota("a", {"memories": None, "bytes": 9})
    assert usage(engine, "a").quota == Quota(memories=1, bytes=9)
    assert [one.action for one in engine.audit().items][:2] == ["quota_set", "space_created"]
    for bad in (-1, 2**53 + 1):
        with pytest.raises(InvalidInput):
            engine.spaces.set_quota("a", {"memories": bad})
    with pytest.raises(NotFound):
        engine.spaces.set_quota("c", {"memories": 1})
    engine.close()


WRITES = st.lists(
    st.tuples(st.sampled_from(["add", "update", "put", "delete"]), st.text("aé", min_size=1)), max_size=12
)


@settings(examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=WRITES)
def test_the_counters_are_what_counting_gives(engine: Engine, writes: list[tuple[str, str]]):
    for what, text in writes:
        there = engine.owner.read.list(SPACE).items
        if what == "add" or not there:
            fill(engine, text)
        elif what == "update":
            engine.owner.write.update(SPACE, there[-1].id, {"reason": text})
        elif what == "put":
            engine.owner.write.put(SPACE, Draft(content=text, category="c", key="k"))
        else:
            engine.owner.write.delete(SPACE, there[0].id)
    stats = engine.owner.read.stats(SPACE)
    assert stats.usage is not None and stats.usage.memories == stats.memories


def test_the_counters_follow_whoever_writes(stores: Stores):
    database = stores().open()
    engine = Engine(database, None, Clock())
    one, two, three = fill(engine, "one", "two", "three", space="default")
    engine.owner.write.delete("default", two)
    engine.owner.write.update("default", three, {"reason": "because", "tags": ("a",)})
    assert database.read([TRUTH])[0] == [(2, 26, 2, 26)]
    database.write([Statement("DELETE FROM versions WHERE memory_id IN (?, ?)", (id_bytes(one), id_bytes(two)))])
    assert database.read([TRUTH])[0] == [(1, 19, 1, 19)]
    engine.close()
