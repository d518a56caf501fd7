import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.columns import MISSING_CODE, MISSING_NUMBER, Column, Keywords, Lists, Numbers

texts = st.none() | st.sampled_from(["a", "b", "ß", ""])
numbers = st.none() | st.integers(-(2**63) + 1, 2**63 - 1)
scalars = st.sampled_from([0, 1, 1.0, True, False, "1", "true", 2**53 + 1, float(2**53)])
lists = st.lists(scalars, max_size=3)


def batches(rows):
    return st.lists(st.lists(rows, max_size=5), max_size=6)


def filled(column: Column, parts):
    for part in parts:
        column.extend(part)
    return column


def same(a, b) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


@given(batches(texts), st.sets(st.sampled_from(["a", "b", "ß", ""])))
def test_keywords_give_back_what_was_put_in_and_select_the_rows_of_chosen_values(parts, chosen):
    rows = [row for part in parts for row in part]
    column = filled(Keywords(), parts)
    values = column.dictionary.values
    assert [None if code == MISSING_CODE else values[code] for code in column.view(len(column))] == rows
    assert column.present(len(rows)).tolist() == [row is not None for row in rows]
    assert len(set(values)) == len(values)
    flags = np.array([value in chosen for value in values], np.bool_)
    assert column.select(flags, len(rows)).tolist() == [row in chosen for row in rows]


@given(batches(numbers))
def test_numbers_give_back_what_was_put_in(parts):
    rows = [row for part in parts for row in part]
    column = filled(Numbers(), parts)
    assert [None if number == MISSING_NUMBER else number for number in column.view(len(column)).tolist()] == rows
    assert column.present(len(rows)).tolist() == [row is not None for row in rows]


@given(batches(lists), scalars)
def test_lists_give_back_what_was_put_in_and_select_the_rows_of_a_chosen_element(parts, chosen):
    rows = [row for part in parts for row in part]
    column = filled(Lists(), parts)
    found = [[] for _ in range(len(column))]
    for row, code in zip(*column.view(len(column)), strict=True):
        found[row].append(column.dictionary.values[code])
    assert len(found) == len(rows)
    for got, put in zip(found, rows, strict=True):
        assert len(got) == len(put) and all(map(same, got, put))
    assert column.present(len(rows)).tolist() == [bool(row) for row in rows]
    flags = np.array([same(value, chosen) for value in column.dictionary.values], np.bool_)
    assert column.select(flags, len(rows)).tolist() == [any(same(item, chosen) for item in row) for row in rows]


@pytest.mark.parametrize(
    ("kind", "row", "later"),
    [(Keywords, "a", "b"), (Numbers, 1, None), (Lists, ["a", 1], ["b", 2])],
    ids=["keywords", "numbers", "lists"],
)
def test_a_prefix_that_was_seen_stays_as_it_was(kind, row, later):
    column = kind()
    column.extend([row, row])
    seen = np.copy(column.view(2))
    present = column.present(2)
    for _ in range(100):
        column.extend([later] * 7)
    np.testing.assert_array_equal(column.view(2), seen)
    np.testing.assert_array_equal(column.present(2), present)
    assert len(column) == 702


def test_a_reader_beside_a_writer_sees_whole_rows():
    column = Lists()
    wrong = []
    done = threading.Event()

    def read():
        while not done.is_set():
            n = len(column)
            rows, codes = column.view(n)
            values = [column.dictionary.values[code] for code in codes]
            if np.bincount(rows, minlength=n).tolist() != [2] * n or values != [i // 2 for i in range(2 * n)]:
                wrong.append(n)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(300):
        column.extend([[i, i]])
    done.set()
    reader.join()
    assert wrong == []


def test_the_size_in_bytes_grows_with_rows_and_with_distinct_values():
    column = Keywords()
    column.extend(["a"] * 1000)
    few = column.nbytes
    column.extend([f"value {i}" for i in range(1000)])
    assert few >= 4000
    assert column.nbytes > few + 1000 * (4 + len("value 0"))
