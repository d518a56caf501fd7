"""Reads as of a point of history: what the space showed then, or a clear refusal."""

from collections.abc import Callable

import pytest

from core.engine import Engine
from core.errors import EpochGone, InvalidInput, MuistiError, NotFound, PastRetention, PointAhead
from core.filters import parse as parse_filter
from core.points import AsOf, parse
from core.times import from_us
from core.values import Draft, Stats
from tests.core.fakes import SPACE, Clock, add


def listed(engine: Engine, as_of: AsOf | None, **asked: object) -> list[str]:
    page = engine.list_memories(SPACE, as_of=as_of, **asked)  # pyright: ignore[reportArgumentType]
    return [memory.content for memory in page.items]


def sizes(stats: Stats) -> dict[str, object]:
    names = ("memories", "versions", "passages", "tokens", "content_bytes", "expired", "changes", "by")
    return {name: getattr(stats, name) for name in names}


def test_each_point_shows_what_stood_then(engine: Engine):
    (first,) = add(engine, "red fox", category="c", key="k", tags=("t",))
    engine.update(SPACE, first, {"content": "blue fox"})
    new = engine.supersede(SPACE, first, Draft(content="green fox")).memories[0]
    engine.delete(SPACE, new.id)
    assert [listed(engine, AsOf(number=number)) for number in range(6)] == [
        [], ["red fox"], ["blue fox"], [], ["green fox"], []
    ]  # fmt: skip
    assert engine.get(SPACE, first, as_of=AsOf(number=1)).memory.content == "red fox"
    assert engine.get_entry(SPACE, "C", "k", as_of=AsOf(number=2)).memory.version == 2
    assert engine.get_entry(SPACE, "c", "k", as_of=AsOf(number=4)).memory.id == new.id
    for number in (0, 5):
        with pytest.raises(NotFound):
            engine.get_entry(SPACE, "c", "k", as_of=AsOf(number=number))
    with pytest.raises(NotFound, match=new.id):
        engine.get(SPACE, first, as_of=AsOf(number=4))
    superseded = parse_filter({"status": "superseded"})
    assert listed(engine, AsOf(number=2), filter=superseded) == []
    assert listed(engine, AsOf(number=4), filter=superseded) == ["blue fox"]


def test_counts_and_sizes_are_those_that_were_told_then(engine: Engine):
    seen: list[tuple[object, ...]] = []

    def look(as_of: AsOf | None) -> tuple[object, ...]:
        counts = [engine.categories(SPACE, as_of=as_of).items, engine.tags(SPACE, as_of=as_of).items]
        return (*counts, sizes(engine.stats(SPACE, as_of=as_of)))

    first, second = add(engine, "red fox", "blue lake", category="c", tags=("t", "u"))
    seen.append(look(None))
    engine.update(SPACE, first, {"category": "D", "tags": ("t",), "importance": "high"})
    seen.append(look(None))
    engine.delete(SPACE, second)
    seen.append(look(None))
    assert [look(AsOf(number=number)) for number in (2, 3, 4)] == seen
    assert engine.stats(SPACE).usage is not None and engine.stats(SPACE, as_of=AsOf(number=4)).usage is None


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
    page = engine.list_memories(SPACE, as_of=AsOf(time=at))
    assert page.seq.number == 1
    assert listed(engine, parse(str(page.seq))) == ["red fox"]


def test_a_list_goes_on_where_it_was(engine: Engine):
    ids = add(engine, "one", "two", "three")
    then = AsOf(number=3)
    page = engine.list_memories(SPACE, limit=2, as_of=then)
    for id_ in ids:
        engine.delete(SPACE, id_)
    rest = engine.list_memories(SPACE, limit=2, cursor=page.next_cursor, as_of=then)
    assert [memory.content for memory in (*page.items, *rest.items)] == ["three", "two", "one"]


@pytest.mark.parametrize(
    ("point", "error"),
    [
        (lambda engine, clock: AsOf(number=2), PointAhead),
        (lambda engine, clock: AsOf(time=clock.at + 10**9), PointAhead),
        (lambda engine, clock: AsOf(time=clock.at - 10**9), PastRetention),
        (lambda engine, clock: AsOf(number=1, epoch="00000000-0000-0000-0000-000000000000"), EpochGone),
    ],
)
def test_what_is_not_in_the_history_is_refused(
    engine: Engine, clock: Clock, point: Callable[[Engine, Clock], AsOf], error: type[MuistiError]
):
    add(engine, "red fox")
    with pytest.raises(error):
        engine.list_memories(SPACE, as_of=point(engine, clock))
    with pytest.raises(error):
        engine.get(SPACE, "0197a3c0-5f4e-7000-8000-0123456789ab", as_of=point(engine, clock))
    with pytest.raises(error):
        engine.stats(SPACE, as_of=point(engine, clock))


@pytest.mark.parametrize("text", ["", "yesterday", "-1", "1.5", "2026-02-30", "b0c5a3de:17", "9" * 19])
def test_a_point_that_cannot_be_read_is_refused(text: str):
    with pytest.raises(InvalidInput, match="as_of"):
        parse(text)
