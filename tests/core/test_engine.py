"""Guarantees to callers: addresses, versions, conditional changes, repeated requests, expiry, lists."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.model.choices import SORTS, Sort
from muisti.core.model.collisions import AddressTaken, Duplicate
from muisti.core.model.errors import (
    AlreadyExists,
    Conflict,
    EpochGone,
    InvalidInput,
    NotFound,
    NotYetReplicated,
    RequestReused,
    Stale,
)
from muisti.core.model.times import from_us
from muisti.core.model.values import Address, Draft, Memory, RequestKey, Seq
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from tests.core.fakes import NOON, SPACE, Clock, WordEncoder, add, open_engine
from tests.stores import Stores


def request(key: str, body: bytes = b"body") -> RequestKey:
    return RequestKey("test", key, body)


def test_a_memory_comes_back_as_it_was_given(engine: Engine):
    draft = Draft(
        content="Grüße, 世界 🌍",
        category="Facts",
        key="greeting",
        type="procedure",
        importance="critical",
        author="Ann",
        reason="asked for",
        source="https://example.org",
        tags=("One", "two"),
        metadata={"n": 2**63 - 1, "x": 0.1, "list": [True, None, {"deep": "yes"}]},
        event_at=from_us(NOON - 12_345_678),
        valid_from=from_us(NOON - 1),
        valid_to=from_us(NOON),
        expires_at=from_us(NOON + 10**12),
    )
    (written,) = engine.owner.write.add(SPACE, [draft]).memories
    assert engine.owner.read.get(SPACE, written.id).memory == written
    assert {name: getattr(written, name) for name in draft.__slots__} == {n: getattr(draft, n) for n in draft.__slots__}
    assert (written.version, written.etag) == (1, f'"{written.id}.1"')


def test_tags_that_differ_by_case_are_one(engine: Engine):
    (memory,) = engine.owner.write.add(SPACE, [Draft(content="a", tags=("Auth", "auth", "API"))]).memories
    assert memory.tags == ("Auth", "API")
    assert [(count.name, count.count) for count in engine.owner.read.tags(SPACE).items] == [("API", 1), ("Auth", 1)]


def test_a_batch_is_all_or_nothing(engine: Engine):
    before = engine.spaces.get(SPACE).at
    bad = [Draft(content="good"), Draft(content=" "), Draft(content="k", key="without category")]
    with pytest.raises(InvalidInput):
        engine.owner.write.add(SPACE, bad, path="$.memories")
    with pytest.raises(Duplicate) as refused:
        engine.owner.write.add(SPACE, [Draft(content="one"), Draft(content="two"), Draft(content="  ONE ")])
    assert refused.value.position == 2 and "says the same as another of it" in str(refused.value)
    assert engine.owner.read.list(SPACE).items == () and engine.spaces.get(SPACE).at == before


def test_every_change_has_a_number_and_a_time_that_never_goes_back(engine: Engine, clock: Clock):
    (a, b) = add(engine, "one", "two")
    clock.pass_days(-30)
    engine.owner.write.update(SPACE, a, {"content": "one changed"})
    engine.owner.write.delete(SPACE, b)
    assert engine.spaces.get(SPACE).seq == 4
    versions = engine.owner.read.history(SPACE, a).versions
    assert [(v.memory.version, v.born, v.died) for v in versions] == [(2, 3, None), (1, 1, 3)]
    assert versions[1].born_at <= versions[0].born_at == versions[1].died_at
    assert versions[0].memory.updated_at >= versions[0].memory.created_at
    assert engine.owner.read.history(SPACE, b).versions[0].died == 4


def test_the_same_text_is_refused_unless_kept(engine: Engine):
    (first,) = add(engine, "We deploy on Fridays.")
    with pytest.raises(Duplicate) as refused:
        engine.owner.write.add(SPACE, [Draft(content="we  DEPLOY on fridays.")])
    assert [one.id for one in refused.value.found] == [first]
    engine.owner.write.add(SPACE, [Draft(content="we  DEPLOY on fridays.")], on_conflict="keep")
    engine.owner.write.delete(SPACE, first)
    with pytest.raises(Duplicate):
        engine.owner.write.add(SPACE, [Draft(content="We deploy on Fridays.")])


def test_an_address_belongs_to_one_current_memory(engine: Engine):
    (first,) = add(engine, "a", category="Rules", key="deploy")
    with pytest.raises(AddressTaken) as refused:
        add(engine, "b", category="rULES", key="deploy")
    assert [one.id for one in refused.value.found] == [first]
    add(engine, "c", category="Rules", key="Deploy")  # keys compare exactly
    assert engine.owner.read.get(SPACE, Address("RULES", "deploy")).memory.id == first
    engine.owner.write.delete(SPACE, first)
    add(engine, "d", category="rules", key="deploy")
    (other,) = add(engine, "e")
    with pytest.raises(AddressTaken):
        engine.owner.write.update(SPACE, other, {"category": "rules", "key": "deploy"})


def test_putting_an_entry_makes_it_then_replaces_it(engine: Engine):
    entry = Draft(content="one", category="rules", key="k", tags=("a",))
    assert engine.owner.write.put(SPACE, entry).created
    changed = engine.owner.write.put(SPACE, Draft(content="two", category="rules", key="k"))
    (memory,) = changed.memories
    assert (changed.created, memory.version, memory.tags) == (False, 2, ())
    with pytest.raises(Stale):
        engine.owner.write.put(SPACE, entry, if_match=[f'"{memory.id}.1"'])
    engine.owner.write.put(SPACE, entry, if_match=['"else.1"', memory.etag])


def test_an_expired_memory_vanishes_and_is_replaced_when_it_is_put(engine: Engine, clock: Clock):
    add(engine, "old fox", category="c", key="k", expires_at=from_us(NOON + 86_400_000_000))
    clock.pass_days(2)
    assert engine.owner.read.list(SPACE).items == () and engine.owner.read.search(SPACE, Query(text="fox")).hits == ()
    with pytest.raises(NotFound):
        engine.owner.read.get(SPACE, Address("c", "k"))
    assert engine.owner.read.stats(SPACE).expired == 1
    assert engine.owner.write.put(SPACE, Draft(content="new fox", category="c", key="k")).created
    assert [hit.memory.content for hit in engine.owner.read.search(SPACE, Query(text="fox")).hits] == ["new fox"]


def test_a_change_keeps_what_it_does_not_name(engine: Engine):
    (memory,) = engine.owner.write.add(
        SPACE, [Draft(content="fox", author="Ann", tags=("a",), metadata={"x": 1})]
    ).memories
    (changed,) = engine.owner.write.update(SPACE, memory.id, {"author": None, "importance": "high"}).memories
    assert (changed.author, changed.importance, changed.tags, changed.metadata) == (None, "high", ("a",), {"x": 1})
    assert (changed.version, changed.created_at) == (2, memory.created_at)


def test_a_change_of_what_is_not_indexed_embeds_nothing(stores: Stores):
    encoder = WordEncoder()
    with open_engine(stores(), encoder=encoder) as engine:
        (id_,) = add(engine, "fox")
        calls = encoder.calls
        engine.owner.write.update(SPACE, id_, {"metadata": {"seen": True}, "importance": "low"})
        assert encoder.calls == calls
        assert engine.owner.read.search(SPACE, Query(text="fox", mode="semantic")).hits[0].memory.version == 2


def test_only_one_of_many_conditional_changes_wins(engine: Engine):
    (id_,) = add(engine, "start")

    def change(n: int) -> int | None:
        try:
            engine.owner.write.update(SPACE, id_, {"content": f"change {n}"}, if_match=[f'"{id_}.1"'])
        except Stale:
            return None
        return n

    with ThreadPoolExecutor(16) as pool:
        winners = [n for n in pool.map(change, range(32)) if n is not None]
    assert len(winners) == 1
    assert engine.owner.read.get(SPACE, id_).memory.content == f"change {winners[0]}"
    assert len(engine.owner.read.history(SPACE, id_).versions) == 2


def test_unconditional_changes_lose_nothing(engine: Engine):
    (id_,) = add(engine, "start")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: engine.owner.write.update(SPACE, id_, {"metadata": {"n": n}}), range(12)))
    assert engine.owner.read.get(SPACE, id_).memory.version == 13


def test_a_repeated_request_has_one_effect_and_the_same_answer(engine: Engine):
    def ask(_: int) -> Any:
        return engine.owner.write.add(SPACE, [Draft(content="once"), Draft(content="twice")], request=request("k1"))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert all((a.memories, a.seq) == (answers[0].memories, answers[0].seq) for a in answers)
    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 7
    assert len(engine.owner.read.list(SPACE).items) == 2


def test_the_answer_of_a_repeated_request_stays_the_first_one(engine: Engine):
    (first,) = engine.owner.write.add(SPACE, [Draft(content="one")], request=request("k")).memories
    engine.owner.write.update(SPACE, first.id, {"content": "changed"})
    again = engine.owner.write.add(SPACE, [Draft(content="one")], request=request("k"))
    assert (again.memories, again.replayed) == ((first,), True)
    gone = engine.owner.write.delete(SPACE, first.id, request=request("d"))
    assert engine.owner.write.delete(SPACE, first.id, request=request("d")).seq == gone.seq


def test_a_repeated_change_that_changed_nothing_changes_nothing_later_either(engine: Engine):
    (id_,) = add(engine, "one")
    first = engine.owner.write.update(SPACE, id_, {"content": "one"}, request=request("k"))
    engine.owner.write.update(SPACE, id_, {"content": "two"})
    again = engine.owner.write.update(SPACE, id_, {"content": "one"}, request=request("k"))
    assert (again.memories, again.replayed) == (first.memories, True)
    assert engine.owner.read.get(SPACE, id_).memory.content == "two"


def test_a_repeated_put_answers_like_the_first(engine: Engine, clock: Clock):
    add(engine, "old", category="c", key="k", expires_at=from_us(NOON + 86_400_000_000))
    clock.pass_days(2)
    entry = Draft(content="new", category="c", key="k")
    answers = [engine.owner.write.put(SPACE, entry, request=request("k")) for _ in range(2)]
    assert [(a.created, a.replayed) for a in answers] == [(True, False), (True, True)]


def test_a_request_key_with_another_body_is_refused_until_it_is_forgotten(engine: Engine, clock: Clock):
    engine.owner.write.add(SPACE, [Draft(content="one")], request=request("k"))
    with pytest.raises(RequestReused):
        engine.owner.write.add(SPACE, [Draft(content="two")], request=request("k", b"other"))
    clock.pass_days(1.1)
    assert not engine.owner.write.add(SPACE, [Draft(content="two")], request=request("k", b"other")).replayed


def test_a_refused_request_may_come_again(engine: Engine):
    (first,) = add(engine, "one")
    with pytest.raises(Duplicate):
        engine.owner.write.add(SPACE, [Draft(content="one")], request=request("k"))
    engine.owner.write.delete(SPACE, first)
    assert not engine.owner.write.add(SPACE, [Draft(content="one")], request=request("k")).replayed


def test_a_walk_through_the_pages_meets_each_memory_once_while_others_write(engine: Engine):
    ids = add(engine, *(f"note {n}" for n in range(57)))
    seen: list[str] = []
    cursor = None
    while True:
        page = engine.owner.read.list(SPACE, limit=10, cursor=cursor)
        seen += [memory.id for memory in page.items]
        add(engine, "written meanwhile")
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert seen == ids[::-1]


@pytest.mark.parametrize("sort", SORTS)
def test_pages_in_every_order_are_the_whole_list_in_that_order(engine: Engine, clock: Clock, sort: Sort):
    ids = add(engine, *(f"note {n}" for n in range(23)))
    for n, id_ in enumerate(random.Random(7).sample(ids, 11)):
        clock.pass_days(1)
        engine.owner.write.update(SPACE, id_, {"reason": f"changed {n}"})
    point = AsOf(number=engine.spaces.get(SPACE).at.number)
    everything = engine.owner.read.list(SPACE, limit=100).items
    field = sort.lstrip("-")
    wanted = sorted(everything, key=lambda one: (getattr(one, field), one.id), reverse=sort.startswith("-"))
    for as_of in (None, point):
        seen: list[Memory] = []
        cursor = None
        while cursor is not None or not seen:
            page = engine.owner.read.list(
                SPACE, limit=5, sort=sort if cursor is None else None, cursor=cursor, as_of=as_of
            )
            seen += page.items
            cursor = page.next_cursor
        assert seen == wanted


def test_a_cursor_belongs_to_its_order(engine: Engine):
    add(engine, "a", "b", "c")
    for sort, other in itertools.permutations(SORTS, 2):
        cursor = engine.owner.read.list(SPACE, limit=1, sort=sort).next_cursor
        with pytest.raises(InvalidInput, match="sorted by"):
            engine.owner.read.list(SPACE, sort=other, cursor=cursor)
    with pytest.raises(InvalidInput, match="none of"):
        engine.owner.read.list(SPACE, sort="content")


@given(st.text(max_size=60))
def test_a_made_up_cursor_is_refused(tmp_path_factory: Any, cursor: str):
    engine = open_engine(tmp_path_factory.mktemp("db") / "muisti.db", embeddings=False)
    with engine, pytest.raises(InvalidInput, match="cursor"):
        engine.owner.read.list(SPACE, cursor=cursor)


def test_list_and_search_agree_on_what_a_filter_means(engine: Engine):
    for n in range(40):
        add(
            engine, f"fox {n}", tags=("even",) if n % 2 == 0 else (), metadata={"n": n}, author="Ann" if n % 3 else None
        )
    for spec in (
        {"tags": "even", "metadata.n": {"gte": 10}},
        {"not": {"author": "ann"}},
        {"or": [{"metadata.n": [1, 2]}, {"author": {"exists": False}}]},
        {"status": "candidate"},
    ):
        filter_ = parse(spec)  # pyright: ignore[reportArgumentType]  # unlike dicts, joined
        listed = {memory.id for memory in engine.owner.read.list(SPACE, filter=filter_, limit=100).items}
        hits = engine.owner.read.search(SPACE, Query(text="fox", filter=filter_, limit=100)).hits
        assert listed == {hit.memory.id for hit in hits}


def test_a_parent_must_be_a_memory_of_the_same_space(engine: Engine):
    (parent,) = add(engine, "parent")
    add(engine, "child", parent_id=parent)
    engine.spaces.create("other")
    for bad in ("01999999-0000-7000-8000-000000000000", "no id"):
        with pytest.raises(InvalidInput, match="parent_id"):
            add(engine, "orphan", parent_id=bad)
    with pytest.raises(InvalidInput, match="parent_id"):
        add(engine, "stranger", space="other", parent_id=parent)


@pytest.mark.parametrize(("fields", "path"), [
    ({"content": ""}, "$.content"),
    ({"content": "x" * 102_401}, "$.content"),
    ({"content": "a\0b"}, "$.content"),
    ({"content": "\ud800"}, "$.content"),
    ({"category": "x" * 201}, "$.category"),
    ({"reason": " "}, "$.reason"),
    ({"type": "opinion"}, "$.type"),
    ({"status": "superseded"}, "$.status"),
    ({"key": "k"}, "$.key"),
    ({"tags": ("",)}, "$.tags[0]"),
    ({"tags": tuple(map(str, range(101)))}, "$.tags"),
    ({"metadata": {"n": 2**63}}, "$.metadata.n"),
    ({"metadata": {"n": float("inf")}}, "$.metadata.n"),
    ({"metadata": {"": 1}}, "$.metadata"),
    ({"metadata": {"t": "x" * 20_000}}, "$.metadata"),
    ({"expires_at": from_us(NOON - 1)}, "$.expires_at"),
    ({"event_at": from_us(NOON).replace(tzinfo=None)}, "$.event_at"),
    ({"valid_from": from_us(NOON), "valid_to": from_us(NOON)}, "$.valid_to"),
    ({"valid_from": from_us(NOON), "valid_to": from_us(NOON + 1).replace(tzinfo=None)}, "$.valid_to"),
])  # fmt: skip
def test_a_bad_field_is_refused_by_its_path(engine: Engine, fields: dict[str, Any], path: str):
    with pytest.raises(InvalidInput) as refused:
        engine.owner.write.add(SPACE, [Draft(**{"content": "fine", **fields})])
    assert [problem.path for problem in refused.value.problems] == [path]
    assert engine.owner.read.list(SPACE).items == ()


def test_metadata_nested_too_deep_is_refused_without_falling_over(engine: Engine):
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested"):
        engine.owner.write.add(SPACE, [Draft(content="x", metadata={"deep": deep})])


def test_spaces_are_made_once_and_the_default_stays(engine: Engine):
    with pytest.raises(AlreadyExists):
        engine.spaces.create(SPACE)
    for bad in ("", "Upper", "-dash", "a" * 64, "sp ace", "ä"):
        with pytest.raises(InvalidInput):
            engine.spaces.create(bad)
    with pytest.raises(Conflict):
        engine.spaces.delete("default")
    with pytest.raises(NotFound):
        engine.spaces.delete("nowhere")
    with pytest.raises(NotFound):
        add(engine, "x", space="nowhere")
    with pytest.raises(NotFound):
        engine.owner.read.search("nowhere", Query(text="x"))


def test_a_point_in_history_is_told_from_one_of_another_epoch(engine: Engine):
    add(engine, "one")
    here = engine.spaces.get(SPACE).at
    engine.spaces.require(SPACE, here)
    with pytest.raises(NotYetReplicated):
        engine.spaces.require(SPACE, Seq(here.epoch, here.number + 1))
    with pytest.raises(EpochGone):
        engine.spaces.require(SPACE, Seq("another", 0))


def test_a_space_whose_model_is_missing_is_found_by_words_and_written_to_without_vectors(stores: Stores):
    store = stores()
    with open_engine(store, encoder=WordEncoder("a")) as engine:
        (id_,) = add(engine, *(["red fox"] * 1))
        add(engine, *(f"note {n}" for n in range(1200)))
    with open_engine(store, encoder=WordEncoder("b", dimensions=32)) as engine:
        answer = engine.owner.read.search(SPACE, Query(text="fox"))
        assert answer.strategy == "keyword" and answer.hits[0].memory.id == id_
        assert any("does not have" in told for told in answer.degraded)
        (new,) = add(engine, "a blue whale")
        assert engine.owner.read.search(SPACE, Query(text="whale")).hits[0].memory.id == new
        steps: list[tuple[int, int]] = []
        engine.reembed(SPACE, lambda done, total: steps.append((done, total)))
        assert steps[0] == (0, 1202) and steps[-1] == (1202, 1202)
        answer = engine.owner.read.search(SPACE, Query(text="fox", mode="semantic"))
        assert answer.hits[0].memory.id == id_ and answer.strategy == "semantic" and answer.degraded == ()
        assert engine.owner.read.search(SPACE, Query(text="whale", mode="semantic")).hits[0].memory.id == new
        add(engine, "new")


def test_embedding_anew_can_be_stopped_and_taken_up_again(stores: Stores):
    store = stores()

    class Stop(Exception):
        pass

    def stop_half_way(done: int, total: int) -> None:
        if done:
            raise Stop

    with open_engine(store, encoder=WordEncoder("a")) as engine:
        add(engine, *(f"note {n}" for n in range(1200)))
    encoder = WordEncoder("b")
    with open_engine(store, encoder=encoder) as engine:
        with pytest.raises(Stop):
            engine.reembed(SPACE, stop_half_way)
        assert engine.spaces.get(SPACE).generation == WordEncoder("a").identity  # still the old one, whole
        calls = encoder.calls
        engine.reembed(SPACE, lambda done, total: None)
        assert encoder.calls - calls == 4  # the 256 of the first run are not embedded twice


def test_the_old_model_answers_and_writes_until_the_space_changes_over(stores: Stores):
    fox = Query(text="red fox", mode="semantic")
    path = stores()
    with open_engine(path, encoder=WordEncoder("a")) as old, open_engine(path, encoder=WordEncoder("b")) as new:
        add(old, "red fox", *(f"note {n}" for n in range(1200)))
        late: list[str] = []

        def meanwhile(done: int, total: int) -> None:
            answer = old.owner.read.search(SPACE, fox)
            assert answer.hits[0].memory.content == "red fox" and answer.degraded == ()
            if len(late) < 3:
                late.extend(add(old, f"late {len(late)}"))

        new.reembed(SPACE, meanwhile)
        assert len(late) == 3 and new.owner.read.search(SPACE, fox).hits[0].memory.content == "red fox"
        for n, id_ in enumerate(late):
            found = new.owner.read.search(SPACE, Query(text=f"late {n}", mode="semantic"))
            assert found.hits[0].memory.id == id_ and found.degraded == ()
        assert old.owner.read.search(SPACE, fox).strategy == "keyword"


def test_stats_count_what_is_there(engine: Engine):
    a, b, _ = add(engine, "one two", "three", "four")
    engine.owner.write.delete(SPACE, b)
    engine.owner.write.update(SPACE, a, {"importance": "high"})
    stats = engine.owner.read.stats(SPACE)
    assert (stats.memories, stats.versions, stats.passages, stats.tokens, stats.changes) == (2, 4, 2, 3, 5)
    assert stats.by["importance"] == {"high": 1, "medium": 1} and stats.content_bytes == len("one twofour")


def test_two_engines_on_one_file_see_each_others_writes_at_once(stores: Stores):
    store = stores()
    with open_engine(store) as one, open_engine(store) as other:
        for n in range(30):
            writer, reader = (one, other) if n % 2 else (other, one)
            (id_,) = add(writer, f"unique{n} word")
            query = Query(text=f"unique{n}", mode="keyword")
            assert [hit.memory.id for hit in reader.owner.read.search(SPACE, query).hits] == [id_]
            if n % 3 == 0:
                writer.owner.write.delete(SPACE, id_)
                assert reader.owner.read.search(SPACE, query).hits == ()
