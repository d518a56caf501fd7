"""Reads as of a point of history: what the space showed then, or a clear refusal."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.model.errors import EpochGone, InvalidInput, MuistiError, NotFound, PastRetention, PointAhead
from muisti.core.model.hits import Answer
from muisti.core.model.outcomes import Stats
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import Address, Draft
from muisti.core.query.filters import parse as parse_filter
from muisti.core.query.points import AsOf, parse
from muisti.core.query.query import Query
from tests.core.fakes import SPACE, Clock, add, open_engine
from tests.stores import Store, Stores


def listed(engine: Engine, as_of: AsOf | None, **asked: object) -> list[str]:
    page = engine.owner.read.list(SPACE, as_of=as_of, **asked)  # pyright: ignore[reportArgumentType]
    return [memory.content for memory in page.items]


def sizes(stats: Stats) -> dict[str, object]:
    names = ("memories", "versions", "passages", "tokens", "content_bytes", "expired", "changes", "by")
    return {name: getattr(stats, name) for name in names}


def test_each_point_shows_what_stood_then(engine: Engine):
    (first,) = add(engine, "red fox", category="c", key="k", tags=("t",))
    engine.owner.write.update(SPACE, first, {"content": "blue fox"})
    new = engine.owner.write.supersede(SPACE, first, Draft(content="green fox")).memories[0]
    engine.owner.write.delete(SPACE, new.id)
    assert [listed(engine, AsOf(number=number)) for number in range(6)] == [
        [], ["red fox"], ["blue fox"], [], ["green fox"], []
    ]  # fmt: skip
    assert engine.owner.read.get(SPACE, first, as_of=AsOf(number=1)).memory.content == "red fox"
    assert engine.owner.read.get(SPACE, Address("C", "k"), as_of=AsOf(number=2)).memory.version == 2
    assert engine.owner.read.get(SPACE, Address("c", "k"), as_of=AsOf(number=4)).memory.id == new.id
    for number in (0, 5):
        with pytest.raises(NotFound):
            engine.owner.read.get(SPACE, Address("c", "k"), as_of=AsOf(number=number))
    with pytest.raises(NotFound, match=new.id):
        engine.owner.read.get(SPACE, first, as_of=AsOf(number=4))
    superseded = parse_filter({"status": "superseded"})
    assert listed(engine, AsOf(number=2), filter=superseded) == []
    assert listed(engine, AsOf(number=4), filter=superseded) == ["blue fox"]


def test_counts_and_sizes_are_those_that_were_told_then(engine: Engine):
    seen: list[tuple[object, ...]] = []

    def look(as_of: AsOf | None) -> tuple[object, ...]:
        counts = [
            engine.owner.read.categories(SPACE, as_of=as_of).items,
            engine.owner.read.tags(SPACE, as_of=as_of).items,
        ]
        return (*counts, sizes(engine.owner.read.stats(SPACE, as_of=as_of)))

    first, second = add(engine, "red fox", "blue lake", category="c", tags=("t", "u"))
    seen.append(look(None))
    engine.owner.write.update(SPACE, first, {"category": "D", "tags": ("t",), "importance": "high"})
    seen.append(look(None))
    engine.owner.write.delete(SPACE, second)
    seen.append(look(None))
    assert [look(AsOf(number=number)) for number in (2, 3, 4)] == seen
    assert (
        engine.owner.read.stats(SPACE).usage is not None
        and engine.owner.read.stats(SPACE, as_of=AsOf(number=4)).usage is None
    )


def test_a_time_is_the_last_change_up_to_it_and_expiry_counts_from_it(engine: Engine, clock: Clock):
    clock.pass_days(1)
    add(engine, "red fox", expires_at=from_us(clock.at + 2 * 86_400_000_000))
    clock.pass_days(1)
    between = clock.at
    clock.pass_days(2)
    add(engine, "blue lake")
    assert listed(engine, None) == ["blue lake"]
    assert listed(engine, AsOf(time=between)) == ["red fox"]
    assert listed(engine, AsOf(time=between + 86_400_000_000)) == []
    assert listed(engine, AsOf(time=clock.at)) == []  # a moment before it was added
    assert listed(engine, AsOf(number=1)) == ["red fox"]


def test_an_answer_names_the_point_that_it_shows(engine: Engine, clock: Clock):
    add(engine, "red fox")
    clock.pass_days(1)
    at = clock.at
    add(engine, "blue lake")
    page = engine.owner.read.list(SPACE, as_of=AsOf(time=at))
    assert page.seq.number == 1
    assert listed(engine, parse(str(page.seq))) == ["red fox"]


def test_a_list_goes_on_where_it_was(engine: Engine):
    ids = add(engine, "one", "two", "three")
    then = AsOf(number=3)
    page = engine.owner.read.list(SPACE, limit=2, as_of=then)
    for id_ in ids:
        engine.owner.write.delete(SPACE, id_)
    rest = engine.owner.read.list(SPACE, limit=2, cursor=page.next_cursor, as_of=then)
    assert [memory.content for memory in (*page.items, *rest.items)] == ["three", "two", "one"]


@pytest.mark.parametrize(("point", "error"), [
    (lambda engine, clock: AsOf(number=2), PointAhead),
    (lambda engine, clock: AsOf(time=clock.at + 10**9), PointAhead),
    (lambda engine, clock: AsOf(time=clock.at - 10**9), PastRetention),
    (lambda engine, clock: AsOf(number=1, epoch="00000000-0000-0000-0000-000000000000"), EpochGone),
])  # fmt: skip
def test_what_is_not_in_the_history_is_refused(
    engine: Engine, clock: Clock, point: Callable[[Engine, Clock], AsOf], error: type[MuistiError]
):
    add(engine, "red fox")
    read, as_of = engine.owner.read, point(engine, clock)
    for call in (
        lambda: read.list(SPACE, as_of=as_of),
        lambda: read.get(SPACE, "0197a3c0-5f4e-7000-8000-0123456789ab", as_of=as_of),
        lambda: read.stats(SPACE, as_of=as_of),
        lambda: read.search(SPACE, Query(text="fox", as_of=as_of)),
    ):
        with pytest.raises(error):
            call()


WORDS = ("red", "fox", "blue", "lake", "sun", "tea", "ann", "bob")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
changes = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "patch", "patch", "delete", "supersede", "status", "wait"]),
        st.integers(0, 30),
        texts,
        st.sampled_from([{}, {"author": "ann lee"}, {"author": "bob lee"}, {"metadata": {"session": "s", "turn": 1}}]),
    ),
    min_size=8,
    max_size=20,
)


@dataclass(frozen=True)
class Asked:
    """A search, the point and time at which it was asked, and what was answered."""

    query: Query
    number: int
    answer: Answer


def described(answer: Answer) -> tuple[object, ...]:
    """Return the parts of an answer that describe its memories."""
    hits = [(hit.memory, hit.score, hit.ranks, hit.passage, hit.explain) for hit in answer.hits]
    return hits, answer.total, answer.evidence, answer.strength, answer.strategy, answer.seq


def change(
    engine: Engine, clock: Clock, ids: list[str], what: str, choice: int, text: str, more: dict[str, Any]
) -> None:
    id_ = ids[choice % len(ids)] if ids else None
    if what == "wait":
        clock.pass_days(1)
    elif what == "add" or id_ is None:
        end = from_us(clock.at + 2 * DAY_US) if choice % 4 == 0 else None
        ids.append(add(engine, text, expires_at=end, **more)[0])
    elif what == "supersede":
        ids.append(engine.owner.write.supersede(SPACE, id_, Draft(content=text, **more)).memories[0].id)
    elif what == "delete":
        engine.owner.write.delete(SPACE, id_)
    else:
        given = {"content": text, **more} if what == "patch" else {"status": ("candidate", "active")[choice % 2]}
        engine.owner.write.update(SPACE, id_, given)


def search(engine: Engine, query: Query, number: int | None = None) -> Answer:
    return engine.owner.read.search(SPACE, replace(query, as_of=None if number is None else AsOf(number=number)))


def lived_and_asked(store: Store, done: list[Any], asked: list[str]) -> None:
    clock, ids, before = Clock(), list[str](), list[Asked]()
    superseded = parse_filter({"status": ["superseded", "candidate"]})
    with open_engine(store, clock=clock) as engine:
        add(engine, "tea")  # from here on the space has a model
        for one in done:
            with suppress(NotFound):
                change(engine, clock, ids, *one)
            for text in asked:
                plain = Query(text=text, reference_time=clock.at, explain=True, limit=5)
                for query in (plain, replace(plain, mode="keyword", filter=superseded)):
                    answer = search(engine, query)
                    before.append(Asked(query, answer.seq.number, answer))
        for one in before:
            assert described(search(engine, one.query, one.number)) == described(one.answer)
    with open_engine(store, clock=clock) as engine:
        for one in before[::3]:
            assert described(search(engine, one.query, one.number)) == described(one.answer)


@pytest.mark.timeout(3_600)
def test_a_search_of_the_past_answers_as_it_did_then(stores: Stores, long: bool):
    """Whatever happened since, in an engine that has seen it and in one that has just been started."""
    chosen = settings(settings(), max_examples=300 if long else 3)
    lived = given(changes, st.lists(texts, min_size=1, max_size=2))(
        lambda done, asked: lived_and_asked(stores(), done, asked)
    )
    chosen(lived)()


def test_the_index_of_all_versions_is_loaded_when_it_is_asked_for(engine: Engine):
    (id_,) = add(engine, "red fox")
    engine.owner.read.search(SPACE, Query(text="fox", filter=parse_filter({"status": "candidate"})))
    live = engine.index_bytes
    search(engine, Query(text="fox"), 1)
    assert (engine.indexes_loaded, engine.index_bytes > live) == (1, True)
    engine.owner.write.supersede(SPACE, id_, Draft(content="blue fox"))
    found = engine.owner.read.search(SPACE, Query(text="fox", filter=parse_filter({"status": "superseded"})))
    assert [hit.memory.content for hit in found.hits] == ["red fox"]


def test_the_index_of_all_versions_is_forgotten_when_memory_is_scarce(stores: Stores):
    with open_engine(stores(), index_memory=1) as engine:
        add(engine, "red fox")
        search(engine, Query(text="fox"), 1)
        engine.owner.read.search(SPACE, Query(text="fox"))
        assert engine.indexes_evicted == 1
        assert len(search(engine, Query(text="fox"), 1).hits) == 1


@pytest.mark.parametrize("text", ["", "yesterday", "-1", "1.5", "2026-02-30", "b0c5a3de:17", "9" * 19])
def test_a_point_that_cannot_be_read_is_refused(text: str):
    with pytest.raises(InvalidInput, match="as_of"):
        parse(text)
