"""The index is a cache of the store: however it was built, it gives the same answers."""

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.index.postings import Postings, build, in_units, keep, merge
from muisti.core.model.hits import Answer
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.text.terms import encode_terms
from tests.core.fakes import SPACE, WordEncoder, add, open_engine
from tests.examples import few
from tests.stores import Stores, at

WORDS = ["red", "green", "blue", "fox", "dog", "tree", "lake", "sun"]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)
UNITS = in_units(np.ones(6, np.float32))


def postings(rows: list[str], first: int = 0) -> Postings:
    codes = [encode_terms(text.split(), 0) for text in rows]
    starts = np.cumsum([0, *map(len, codes)])
    (piece,), _ = build(first, np.concatenate(codes), starts, UNITS)
    return piece


def contents(p: Postings) -> tuple[dict[int, list[tuple[int, int, int]]], list[list[int]]]:
    """Postings and token rows with the terms written out, so that numbering does not count."""
    lists = {
        int(term): [
            (p.first + (x >> 16), int(p.tf[x & 0xFFFF]), int(p.lengths[x & 0xFFFF])) for x in p.packed[a:b].tolist()
        ]
        for term, a, b in zip(p.terms, p.starts[:-1], p.starts[1:], strict=True)
    }
    tokens = [p.terms[p.tokens[a:b]].tolist() for a, b in zip(p.token_starts[:-1], p.token_starts[1:], strict=True)]
    return lists, tokens


@given(texts, texts)
def test_merging_equals_building_together(left: list[str], right: list[str]):
    apart = merge(postings(left), postings(right, first=len(left)))
    assert contents(apart) == contents(postings(left + right))


@given(texts, st.data())
def test_keeping_equals_never_having_had_the_others(rows: list[str], data: st.DataObject):
    alive = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)).filter(any))
    kept = keep(postings(rows), np.array(alive), 0)
    assert contents(kept) == contents(postings([row for row, living in zip(rows, alive, strict=True) if living]))


@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_a_phrase_is_found_where_its_words_stand_together(rows: list[str], phrase: list[str]):
    found = postings(rows).with_phrase(encode_terms(phrase, 0).tolist())
    wanted = [n for n, row in enumerate(rows) if f" {' '.join(phrase)} " in f" {row} "]
    assert sorted(found.tolist()) == wanted


def answers(engine: Engine, space: str = SPACE) -> list[list[tuple[str, float]]]:
    """Return a space's answers by content, since ids differ between stores."""
    queries = [Query(text=word, mode=mode, limit=50) for word in WORDS for mode in ("hybrid", "keyword", "semantic")]
    found: list[Answer] = [engine.owner.read.search(space, query) for query in queries]
    return [sorted((hit.memory.content, round(hit.score, 5)) for hit in answer.hits) for answer in found]


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)),
        st.tuples(st.just("delete"), st.integers(0, 99)),
        st.tuples(st.just("change"), st.integers(0, 99)),
        st.tuples(st.just("search"), st.just(0)),
    ),
    min_size=1,
    max_size=15,
)


def play(engine: Engine, script: list[tuple[str, object]]) -> list[str]:
    """Run a script, and return the texts that are current at its end."""
    living: dict[str, str] = {}
    for verb, value in script:
        ids = sorted(living)
        if verb == "add":
            living[add(engine, str(value))[0]] = str(value)
        elif verb == "search":
            engine.owner.read.search(SPACE, Query(text="fox"))
        elif ids and verb == "delete":
            chosen = ids[int(str(value)) % len(ids)]
            engine.owner.write.delete(SPACE, chosen)
            del living[chosen]
        elif ids:
            chosen = ids[int(str(value)) % len(ids)]
            living[chosen] += " lake"
            engine.owner.write.update(SPACE, chosen, {"content": living[chosen]})
    return list(living.values())


@few
@given(operations)
def test_an_index_that_followed_every_change_equals_one_that_was_loaded(
    tmp_path_factory: Any, script: list[tuple[str, object]]
):
    folder = tmp_path_factory.mktemp("db")
    with open_engine(folder / "muisti.db") as engine:
        play(engine, script)
        followed = answers(engine)
    with open_engine(folder / "muisti.db") as engine:
        assert answers(engine) == followed


@few
@given(operations)
def test_what_was_removed_leaves_no_trace_in_the_ranking(tmp_path_factory: Any, script: list[tuple[str, object]]):
    folder = tmp_path_factory.mktemp("db")
    with open_engine(folder / "a.db") as lived, open_engine(folder / "b.db") as clean:
        survivors = play(lived, script)
        if survivors:
            add(clean, *survivors)
        assert answers(lived) == answers(clean)


@few
@given(texts, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(tmp_path_factory: Any, rows: list[str], random: Any):
    folder = tmp_path_factory.mktemp("db")
    shuffled = list(rows)
    random.shuffle(shuffled)
    with open_engine(folder / "a.db") as one, open_engine(folder / "b.db") as other:
        for text in rows:
            add(one, text)
            one.owner.read.search(SPACE, Query(text="fox"))
        add(other, *shuffled)
        assert answers(one) == answers(other)


def test_an_index_compacts_when_most_of_it_is_dead(stores: Stores, monkeypatch: Any):
    monkeypatch.setattr("muisti.core.index.space_index.COMPACT_AT", 10)
    with open_engine(stores()) as engine:
        ids = add(engine, *(f"fox number {n}" for n in range(60)))
        engine.owner.read.search(SPACE, Query(text="fox"))
        before = engine.index_bytes
        for memory_id in ids[:50]:
            engine.owner.write.delete(SPACE, memory_id)
        assert {h.memory.id for h in engine.owner.read.search(SPACE, Query(text="fox", limit=100)).hits} == set(
            ids[50:]
        )
        assert engine.index_bytes < before
        add(engine, "fox number 99")
        assert (
            engine.owner.read.search(SPACE, Query(text="99", mode="keyword")).hits[0].memory.content == "fox number 99"
        )


def test_an_index_is_loaded_whole_whatever_fits_on_a_page(stores: Stores, monkeypatch: Any):
    monkeypatch.setattr("muisti.core.index.space_index.FIRST_PAGE", 2)
    monkeypatch.setattr("muisti.core.index.space_index.PAGE_ROWS", 5)
    store = stores()
    with open_engine(store, embeddings=False) as engine:
        ids = add(engine, *("fox " * 300 * (n % 3) + f"fox {n}" for n in range(20)))
    with open_engine(store, embeddings=False) as engine:
        hits = engine.owner.read.search(SPACE, Query(text="fox", limit=100)).hits
        assert {hit.memory.id for hit in hits} == set(ids)


def test_the_memory_cap_holds_under_200_spaces_in_random_order(tmp_path: Path):
    store = at(tmp_path / "muisti.db")
    names = [f"space-{n}" for n in range(200)]
    with open_engine(store) as engine:
        for name in names:
            engine.spaces.create(name, CONTENT_ONLY)
            engine.owner.write.add(name, [Draft(content=f"fox of {name}"), Draft(content="a lake")], on_conflict="keep")
        engine.owner.read.search(names[0], Query(text="fox"))
        one = engine.index_bytes
    order = np.random.default_rng(5).integers(0, 200, 600).tolist()
    with open_engine(store, index_memory=20 * one) as engine:
        largest = 0
        for number in order:
            hits = engine.owner.read.search(names[number], Query(text="fox")).hits
            assert hits[0].memory.content == f"fox of {names[number]}"
            largest = max(largest, engine.index_bytes)
        assert largest <= 20 * one
        assert 100 < engine.indexes_evicted < 600


@few
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(WORDS)), min_size=1, max_size=15))
def test_two_spaces_never_leak_into_each_other(tmp_path_factory: Any, notes: list[tuple[str, str]]):
    folder = tmp_path_factory.mktemp("db")
    with open_engine(folder / "both.db") as both, open_engine(folder / "alone.db") as alone:
        for name in ("a", "b"):
            both.spaces.create(name)
            alone.spaces.create(name)
        for space, word in notes:
            both.owner.write.add(space, [Draft(content=f"{word} note", tags=(word,))], on_conflict="keep")
            if space == "a":
                alone.owner.write.add(space, [Draft(content=f"{word} note", tags=(word,))], on_conflict="keep")
        assert answers(both, "a") == answers(alone, "a")
        ours = {memory.id for memory in both.owner.read.list("a", limit=100).items}
        assert all(
            hit.memory.id in ours for word in WORDS for hit in both.owner.read.search("a", Query(text=word)).hits
        )


def test_a_space_made_anew_is_not_confused_with_the_old_one(engine: Engine):
    engine.spaces.create("again")
    add(engine, "the old fox", space="again")
    assert engine.owner.read.search("again", Query(text="fox")).total == 1
    engine.spaces.delete("again")
    engine.spaces.create("again")
    assert engine.owner.read.search("again", Query(text="fox")).total == 0
    add(engine, "a new dog", space="again")
    assert [hit.memory.content for hit in engine.owner.read.search("again", Query(text="fox dog")).hits] == [
        "a new dog"
    ]


def test_loading_neither_embeds_nor_tokenises(stores: Stores, monkeypatch: Any):
    store = stores()
    with open_engine(store) as engine:
        add(engine, "red fox", "blue lake")
        wanted = answers(engine)
    encoder = WordEncoder()
    with open_engine(store, encoder=encoder) as engine:
        engine.owner.read.search(SPACE, Query(text="fox", mode="keyword"))
        engine.owner.read.list(SPACE)
        assert encoder.calls == 0
        assert answers(engine) == wanted
