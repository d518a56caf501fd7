"""A column that is read in parts, by ranges or version by version, equals one that is read as a whole."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.engine import Engine
from muisti.core.index.columns import MISSING_CODE, MISSING_NUMBER, Column, Keywords, Lists, Numbers
from muisti.core.index.fields import Fields
from muisti.core.index.space_index import SpaceIndex
from muisti.core.model.values import Draft
from tests.core.fakes import SPACE, add, open_engine
from tests.examples import few

FIELDS = ["category", "author", "kind", "importance", "created_at", "tags", "derived_from", "metadata.x", "metadata.y"]

drafts = st.builds(
    lambda **fields: Draft(content="a fox", **fields),
    category=st.sampled_from([None, "Infra", "home"]),
    author=st.sampled_from([None, "ann"]),
    importance=st.sampled_from(["low", "high"]),
    tags=st.lists(st.sampled_from("abc"), unique=True, max_size=2).map(tuple),
    metadata=st.sampled_from([{}, {"x": 1}, {"x": True}, {"x": "1"}, {"x": [1, 2]}, {"x": 5, "y": {"x": 1}}, {"y": 2}]),
)


def values_of(column: Column, size: int) -> list[list[Any]]:
    """The values of each row, with their types."""
    if isinstance(column, Numbers):
        return [[] if number == MISSING_NUMBER else [(int, number)] for number in column.view(size).tolist()]
    known = column.dictionary.values
    if isinstance(column, Keywords):
        return [
            [] if code == MISSING_CODE else [(type(known[code]), known[code])] for code in column.view(size).tolist()
        ]
    found: list[list[Any]] = [[] for _ in range(size)]
    for row, code in zip(*column.view(size), strict=True):
        found[row].append((type(known[code]), known[code]))
    return [sorted(row, key=repr) for row in found]


def index_of(engine: Engine) -> SpaceIndex:
    return engine._indexes.fresh(SPACE)[0]  # pyright: ignore[reportPrivateUsage]


def fields_of(engine: Engine) -> Fields:
    """Columns of the space of which none has been read."""
    index = index_of(engine)
    return Fields(index._database, index.space, index.snapshot.rows)  # pyright: ignore[reportPrivateUsage]


@few
@given(st.lists(drafts, min_size=10, max_size=30), st.lists(st.integers(1, 30), max_size=4))
def test_reading_in_parts_equals_reading_at_once(tmp_path_factory: Any, written: list[Draft], steps: list[int]):
    with open_engine(tmp_path_factory.mktemp("db") / "muisti.db") as engine:
        engine.owner.write.add(SPACE, written, on_conflict="keep")
        whole, parts, size = fields_of(engine), fields_of(engine), len(written)
        for step in [*sorted(step for step in steps if step < size), size]:
            for field in FIELDS:
                assert values_of(parts.column(field, step), step) == values_of(whole.column(field, size), size)[:step]


def test_single_versions_are_read_on_every_store(engine: Engine):
    add(engine, *(f"fox {n}" for n in range(20)), tags=("a", "b"), metadata={"x": 1}, category="Infra", author="ann")
    whole, parts = fields_of(engine), fields_of(engine)
    for size in (18, 19, 20):
        for field in FIELDS:
            assert values_of(parts.column(field, size), size) == values_of(whole.column(field, 20), 20)[:size]


def test_a_path_with_one_value_a_memory_has_a_place_for_each_row_until_a_memory_has_two(engine: Engine):
    add(engine, *(f"fox {n}" for n in range(9)), metadata={"x": 1})
    fields = fields_of(engine)
    early = fields.column("metadata.x", 9)
    assert isinstance(early, Keywords)
    add(engine, "two", metadata={"x": [1, 2]})
    index_of(engine)
    late = fields.column("metadata.x", 10)
    assert isinstance(late, Lists)
    assert values_of(early, 9) == values_of(late, 9) == [[(int, 1)]] * 9
    assert values_of(late, 10)[9] == [(int, 1), (int, 2)]
    np.testing.assert_array_equal(late.present(10), np.ones(10, np.bool_))
    add(engine, "a dog", metadata={"rare": 1}, tags=("a",))
    assert all(isinstance(fields_of(engine).column(field, 11), Lists) for field in ("metadata.rare", "tags"))
