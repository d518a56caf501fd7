"""An earlier version can be restored, and the history shows what has changed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.collisions import AddressTaken
from muisti.core.model.errors import InvalidInput, NotFound, QuotaExceeded, Stale
from muisti.core.model.times import from_us
from muisti.core.model.values import Address, Draft, Memory, RequestKey
from muisti.core.query.query import Query
from muisti.core.read.diff import differences, stretch
from muisti.core.write.prepare import new_memory
from tests.core.fakes import NOON, SPACE, Clock, add

DAY_US = 86_400_000_000
words = st.lists(st.sampled_from(["a", "b", "c", "\n", "  "]), max_size=6).map(" ".join)
json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(-1, 1), st.text("ab.", max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text("abc", min_size=1), inner, max_size=2)
    ),
    max_leaves=5,
)
metadata = st.dictionaries(st.text("abc", min_size=1, max_size=2), json, max_size=3)


def content_of(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory, without its version and the time of its last change."""
    return {name: value for name, value in structs.asdict(memory).items() if name not in ("version", "updated_at")}


@given(words, words)
def test_what_differs_of_two_texts_stands_between_what_they_share(before: str, after: str):
    old, new = stretch(before, after)
    start = before[: before.index(old)] if old and before.find(old) == before.rfind(old) else None
    assert len(before) - len(old) == len(after) - len(new)
    assert (old == new == "") == (before == after)
    assert start is None or after.startswith(start)


@given(metadata, metadata)
def test_metadata_without_differences_is_the_same(before: dict[str, Any], after: dict[str, Any]):
    old, new = (new_memory(Draft(content="x", metadata=one), SPACE, "i", NOON, 50) for one in (before, after))
    assert (differences(old, new) == ()) == (repr(_ordered(before)) == repr(_ordered(after)))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(one) for one in value] if isinstance(value, list) else value


def test_history_tells_what_each_version_changed(engine: Engine):
    (id_,) = add(engine, "we deploy on fridays at noon", tags=("a",), metadata={"x": {"y": 1}, "z": 2})
    changes = {"content": "we deploy on mondays at noon", "tags": ("a", "b"), "metadata": {"x": {"y": True}}}
    engine.owner.write.update(SPACE, id_, {**changes, "author": "Ann", "valid_to": from_us(NOON)})
    engine.owner.write.supersede(SPACE, id_, Draft(content="new"))
    last, middle, first = engine.owner.read.history(SPACE, id_).versions
    assert first.changes == ()
    assert {(one.field, repr(one.before), repr(one.after)) for one in middle.changes} == {
        ("content", "'fridays'", "'mondays'"), ("tags", "('a',)", "('a', 'b')"), ("author", "None", "'Ann'"),
        ("valid_to", "None", repr(from_us(NOON))), ("metadata.x.y", "1", "True"), ("metadata.z", "2", "None"),
    }  # fmt: skip
    assert [one.field for one in last.changes] == ["status", "superseded_by"]


def test_any_version_stands_again_and_is_found(engine: Engine, clock: Clock):
    (id_,) = add(engine, "red fox", category="c", key="k", importance="high", metadata={"x": [1]})
    first = engine.owner.read.get(SPACE, id_).memory
    for content in ("blue whale", "green tree"):
        clock.pass_days(1)
        engine.owner.write.update(SPACE, id_, {"content": content, "importance": "low"})
    (back,) = engine.owner.write.restore(SPACE, id_, 1).memories
    assert content_of(back) == content_of(first) and (back.version, back.updated_at > first.updated_at) == (4, True)
    assert engine.owner.read.get(SPACE, Address("c", "k")).memory == back
    hits = engine.owner.read.search(SPACE, Query(text="red fox")).hits
    assert [hit.memory for hit in hits] == [back] and set(hits[0].ranks) == {"lexical", "dense"}
    (again,) = engine.owner.write.restore(SPACE, id_).memories
    assert again.content == "green tree"
    assert [v.memory.content for v in engine.owner.read.history(SPACE, id_).versions][1] == "red fox"
    before = engine.spaces.get(SPACE).seq
    for key in (None, RequestKey("t", "k", b"")):  # what is current already is left
        assert engine.owner.write.restore(SPACE, id_, again.version, request=key).memories == (again,)
    assert engine.spaces.get(SPACE).seq == before


def test_a_deleted_memory_comes_back_unless_its_address_is_taken(engine: Engine, clock: Clock):
    (id_,) = add(engine, "old fox", category="c", key="k", expires_at=from_us(NOON + DAY_US))
    before = engine.owner.read.get(SPACE, id_).memory
    engine.owner.write.delete(SPACE, id_)
    (other,) = add(engine, "new", category="C", key="k")
    with pytest.raises(AddressTaken) as refused:
        engine.owner.write.restore(SPACE, id_)
    assert [one.id for one in refused.value.found] == [other]
    engine.owner.write.delete(SPACE, other)
    with pytest.raises(Stale):
        engine.owner.write.restore(SPACE, id_, if_match=['"else.1"'])
    clock.pass_days(2)
    key = RequestKey("test", "k", b"body")
    (back,) = engine.owner.write.restore(SPACE, id_, if_match=[before.etag], request=key).memories
    assert content_of(back) == {**content_of(before), "expires_at": None}
    assert [hit.memory.id for hit in engine.owner.read.search(SPACE, Query(text="fox")).hits] == [id_]
    assert engine.owner.write.restore(SPACE, id_, if_match=[before.etag], request=key).replayed
    assert engine.owner.read.stats(SPACE).memories == 1


def test_a_superseded_memory_comes_back_beside_its_successor(engine: Engine):
    (id_,) = add(engine, "one")
    (new,) = engine.owner.write.supersede(SPACE, id_, Draft(content="two")).memories
    with pytest.raises(InvalidInput, match="the one before"):
        engine.owner.write.restore(SPACE, id_, 2)
    (back,) = engine.owner.write.restore(SPACE, id_).memories
    assert (back.content, back.status, back.superseded_by) == ("one", "active", None)
    assert {memory.id for memory in engine.owner.read.list(SPACE).items} == {id_, new.id}
    with pytest.raises(InvalidInput):
        engine.owner.write.restore(SPACE, id_, 2)
    engine.owner.write.delete(SPACE, new.id)
    assert engine.owner.write.restore(SPACE, new.id).memories[0].supersedes == id_


def test_what_is_not_there_is_not_restored(engine: Engine):
    (id_,) = add(engine, "one", category="finance")
    with pytest.raises(InvalidInput, match="only one version"):
        engine.owner.write.restore(SPACE, id_)
    engine.owner.write.update(SPACE, id_, {"category": "ops"})
    for gone, version in (("019a0000-0000-7000-8000-000000000000", None), ("x", 1), (id_, 3)):
        with pytest.raises(NotFound):
            engine.owner.write.restore(SPACE, gone, version)
    with pytest.raises(NotFound):
        engine.seen_by(Caller("ops", "ops")).write.restore(SPACE, id_, 1)
    with pytest.raises(NotFound):
        engine.seen_by(Caller("finance", "finance")).write.restore(SPACE, id_, 1)


def test_a_full_space_takes_nothing_back(engine: Engine):
    gone, _ = add(engine, "one", "two")
    engine.owner.write.delete(SPACE, gone)
    engine.spaces.set_quota(SPACE, {"memories": 1})
    with pytest.raises(QuotaExceeded):
        engine.owner.write.restore(SPACE, gone)
    assert engine.owner.read.stats(SPACE).memories == 1
