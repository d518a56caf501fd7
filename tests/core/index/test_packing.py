"""An index that was packed is the index that its rows make, whatever happened before, meanwhile and after."""

import random
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.index import packing
from muisti.core.index.new_rows import Inserted
from muisti.core.index.packing import pack, packed
from muisti.core.index.space_index import SpaceIndex
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import SpaceRow, space_row
from tests.core.fakes import NOON, SPACE, WordEncoder, add, open_engine
from tests.stores import Store

WORDS = ["red", "green", "blue", "house", "garden", "river", "stone", "bridge"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch):
    """Segments of a few versions, so that a few dozen make several."""
    monkeypatch.setattr(packing, "PACKED", 10)
    monkeypatch.setattr(packing, "SEGMENT_BYTES", 4_000)
    monkeypatch.setattr(packing, "READ_BYTES", 9_000)


@pytest.fixture
def database(store: Store, engine: Engine) -> Iterator[Database]:
    """Another handle on the database of the engine."""
    with closing(store.open()) as opened:
        yield opened


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    with open_engine(store) as opened:
        yield opened


def space_of(database: Database) -> SpaceRow:
    return space_row(database.read([spaces.by_name(SPACE)])[0][0])


def packs(database: Database) -> None:
    space = space_of(database)
    pack(database, space, space.generation, lambda: False)


def segments(database: Database) -> int:
    return len(list(packed(database, space_of(database), space_of(database).generation)[1]))


def loaded(database: Database, *, packed: bool) -> SpaceIndex:
    """Load a new index, from segments or without them."""
    if packed:
        return SpaceIndex(database, space_of(database))
    return SpaceIndex(_Unpacked(database), space_of(database))


class _Unpacked:
    """A database without its segments."""

    indexes = None

    def __init__(self, inner: Database) -> None:
        self._inner = inner

    def read(self, statements: Sequence[Statement]) -> list[list[tuple[object, ...]]]:
        if "FROM segments" in statements[0].sql:
            return [[]]
        return self._inner.read(statements)  # pyright: ignore[reportReturnType]


def assert_same(one: SpaceIndex, other: SpaceIndex) -> None:
    """The living rows of both, column by column, and what their words are."""
    assert one.snapshot.seq == other.snapshot.seq
    alive = [np.flatnonzero(index.snapshot.alive(0)) for index in (one, other)]
    for name in ("version", "id_high", "id_low", "number", "start", "stop", "importance", "at", "text", "length"):
        here, there = (getattr(i.snapshot.columns, name)[rows] for i, rows in zip((one, other), alive, strict=True))
        assert np.array_equal(here, there), name
    for name in ("codes", "scales", "fine", "fine_scales"):
        vectors = (getattr(index.snapshot.columns.vectors, name) for index in (one, other))
        here, there = (column[rows] for column, rows in zip(vectors, alive, strict=True))
        assert np.array_equal(here, there), name
    assert one.snapshot.unembedded == other.snapshot.unembedded
    assert _spoken(one, alive[0]) == _spoken(other, alive[1])


def _spoken(index: SpaceIndex, alive: np.ndarray) -> list[str | None]:
    codes, names = index.snapshot.rows.dialogues.speaker(), index.snapshot.rows.dialogues.speakers.names
    return [names[codes[row]] if row < len(codes) and codes[row] >= 0 else None for row in alive.tolist()]


def changed(engine: Engine, rng: random.Random, times: int) -> None:
    """Add, change and delete at random."""
    ids = [memory.id for memory in engine.owner.read.list(SPACE, limit=100).items]
    for _ in range(times):
        text = " ".join(rng.choices(WORDS, k=rng.choice((1, 5, 5, 5, 5, 5, 5, 300))))
        kind = rng.random()
        if kind < 0.6 or not ids:
            who = rng.choice((None, None, "Ann", "Bob"))
            said = {"session": "s", "turn": rng.randrange(9)} if rng.random() < 0.3 else {}
            draft = Draft(content=text, author=who, metadata=said, importance=rng.choice(("low", "critical")))
            ids += [memory.id for memory in engine.owner.write.add(SPACE, [draft], on_conflict="keep").memories]
        elif kind < 0.8:
            engine.owner.write.update(SPACE, rng.choice(ids), {"content": text})
        else:
            engine.owner.write.delete(SPACE, ids.pop(rng.randrange(len(ids))))


@pytest.mark.parametrize("seed", range(2))
def test_a_packed_index_is_the_index_that_its_rows_make(engine: Engine, database: Database, seed: int):
    rng = random.Random(seed)
    for _ in range(3):
        changed(engine, rng, 15)
        packs(database)
        changed(engine, rng, rng.randrange(8))
        assert_same(loaded(database, packed=True), loaded(database, packed=False))
    assert segments(database) > 2


def test_a_search_of_a_packed_space_is_the_same_search(store: Store):
    rng = random.Random(7)
    queries = [Query(text=" ".join(rng.choices(WORDS, k=3)), explain=True, reference_time=NOON) for _ in range(10)]
    with open_engine(store) as engine:
        changed(engine, rng, 60)
        before = [engine.owner.read.search(SPACE, query).hits for query in queries]
        packs(engine._database)  # pyright: ignore[reportPrivateUsage]
    with open_engine(store) as engine:
        assert [engine.owner.read.search(SPACE, query).hits for query in queries] == before


def test_two_who_pack_at_once_make_one_chain(store: Store, engine: Engine, database: Database):
    add(engine, *(f"note number {n}" for n in range(45)))
    turns = iter(range(9))
    with closing(store.open()) as other:

        def meanwhile() -> bool:
            if next(turns) == 1:
                packs(other)
            return False

        space = space_of(database)
        pack(database, space, space.generation, meanwhile)
    assert_same(loaded(database, packed=True), loaded(database, packed=False))
    assert loaded(database, packed=True).loose == 5


def test_a_space_made_anew_has_no_old_segments(engine: Engine, database: Database):
    add(engine, *(f"note number {n}" for n in range(30)))
    old = space_of(database)
    packs(database)
    engine.spaces.delete(SPACE)
    engine.spaces.create(SPACE)
    pack(database, old, old.generation, lambda: False)
    assert segments(database) == 0 and loaded(database, packed=True).snapshot.size == 0


def test_vectors_that_came_later_are_not_missed(store: Store):
    with open_engine(store) as engine:
        add(engine, "the first has a vector")
    with open_engine(store, embeddings=False) as engine:
        add(engine, *(f"note number {n}" for n in range(30)))
    with open_engine(store) as engine, closing(store.open()) as database:
        packs(database)
        assert segments(database) and loaded(database, packed=True).snapshot.unembedded == 30
        engine.reembed(SPACE, lambda done, total: None)
        assert segments(database) == 0 and loaded(database, packed=True).snapshot.unembedded == 0


def test_another_model_has_segments_of_its_own(store: Store):
    with open_engine(store) as engine:
        add(engine, *(f"note number {n}" for n in range(30)))
        packs(engine._database)  # pyright: ignore[reportPrivateUsage]
    with open_engine(store, encoder=WordEncoder("other", 32)) as engine, closing(store.open()) as database:
        engine.reembed(SPACE, lambda done, total: None)
        assert segments(database) == 0
        packs(database)
        assert_same(loaded(database, packed=True), loaded(database, packed=False))


def test_what_is_behind_a_gap_is_read_from_the_rows(engine: Engine, database: Database):
    add(engine, *(f"note number {n} of many" for n in range(60)))
    packs(database)
    count = segments(database)
    (rows,) = database.read([Statement("SELECT first FROM segments ORDER BY first")])
    database.write([Statement("DELETE FROM segments WHERE first = ?", (rows[1][0],))])
    assert count > 2 and segments(database) == 1
    assert_same(loaded(database, packed=True), loaded(database, packed=False))


def test_much_that_is_loose_is_packed_in_the_background(
    engine: Engine, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("muisti.core.index.cache.LOOSE", 20)
    add(engine, *(f"note number {n}" for n in range(35)))
    engine.owner.read.search(SPACE, Query(text="note"))
    engine.settle()
    assert loaded(database, packed=True).loose == 5


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), min_size=1, max_size=30),
    st.integers(1, 3_000),
    st.booleans(),
)
def test_parts_and_bytes_give_back_the_rows(versions: list[tuple[int, int]], nbytes: int, spoken: bool):
    rows = [
        (version, version.to_bytes(16, "big"), 10 + version, "active", 1, version, None, bytes(16), number, 0, 5,
         bytes(8 * terms), bytes(range(24)) if terms % 2 else None, "s" if spoken else None, 1.5 if spoken else None,
         "Ann" if spoken and number else None, None)
        for version, (passages, terms) in enumerate(versions, start=1)
        for number in range(passages)
    ]  # fmt: skip
    whole = Inserted.of(rows, 8)
    parts = [Inserted.unpack(part.pack()) for part in whole.parts(nbytes)]
    assert whole.versions == len(versions) == sum(part.versions for part in parts)
    for name in ("version", "born", "ids", "terms", "term_counts", "vectors", "embedded", "expires", "text"):
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name)), name
    for name in ("sessions", "turns", "speakers"):
        assert [value for part in parts for value in getattr(part, name)] == list(getattr(whole, name))


def test_packing_ends_when_it_is_told_to(engine: Engine, database: Database):
    add(engine, *(f"note number {n}" for n in range(30)))
    space = space_of(database)
    pack(database, space, space.generation, iter((False, True)).__next__)
    assert loaded(database, packed=True).loose == 20
