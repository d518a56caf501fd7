"""Tests that no behaviour of other memory systems is left out, and that each of ours has a test that exists."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = HERE.parent


def rows_of(name: str) -> list[tuple[str, ...]]:
    """Return the rows of a table below the titles of its columns."""
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines[1:]]


ROWS = rows_of("memory.tsv")
COUNTS = {"Z": 38, "V": 57, "M": 25, "H": 24, "D": 13}  # of their behaviours, counted when their code was read
DOCUMENTS = rows_of("documents.tsv")
DOCUMENT_COUNTS = {"Z": 68, "H": 24}
MARKS = ("works", "partly", "missing")  # what has no test is last


def names_a_test(text: str) -> bool:
    path, _, name = text.partition("::")
    named = re.compile(rf"^((async )?def {name}\(|# {name}$)", re.MULTILINE)
    return named.search((TESTS / path).read_text("utf-8")) is not None


@pytest.mark.parametrize(("rows", "counts"), [(ROWS, COUNTS), (DOCUMENTS, DOCUMENT_COUNTS)])
def test_no_behaviour_is_left_out(rows: list[tuple[str, ...]], counts: dict[str, int]):
    numbers = [row[0] for row in rows]
    assert numbers == [f"{letter}{number}" for letter, count in counts.items() for number in range(1, count + 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_row_names_a_test(row: tuple[str, ...]):
    assert len(row) == 4 and all(row), row
    assert names_a_test(row[3]), row[3]


@pytest.mark.parametrize("row", DOCUMENTS, ids=lambda row: row[0])
def test_every_row_about_documents_is_marked_and_names_a_test_unless_it_is_missing(row: tuple[str, ...]):
    _, theirs, mark, ours, shown = row
    assert theirs and mark in MARKS, row
    assert (ours and names_a_test(shown)) if mark in MARKS[:2] else not shown, row


def test_every_error_of_ours_has_this_status():
    documented = (TESTS.parent / "docs" / "reference" / "http.md").read_text("utf-8")
    named = [found for row in ROWS for found in re.findall(r"`(\d{3}) (\w+)`", row[2])]
    assert len(named) > 5
    for status, code in named:
        assert f"|`{code}`|{status}|" in documented
