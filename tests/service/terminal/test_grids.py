"""Tables and hits on narrow terminals: nothing is cut, ids stay whole, no line is longer than the terminal."""

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from muisti.service.terminal.views import cell, fields, grid
from tests.service.conftest import Run

pytestmark = pytest.mark.one_store

LONG = "another-space-with-a-very-long-name"
ID = "c05430e1-a1ea-4550-92b9-c335fbd8ff4f"
WIDTHS = (40, 60, 80)

words = st.text("abcdefghij-_./", min_size=1, max_size=30)
texts = st.lists(words, max_size=12).map(" ".join)
rows = st.lists(st.tuples(words, texts, texts), min_size=1, max_size=5)


def printed(shown: object, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(rows, st.integers(38, 130))
def test_no_value_is_cut_and_no_line_is_longer_than_the_terminal(found: list[tuple[str, ...]], width: int):
    table = grid("Title", "task", "name", "text", "more")
    for row in found:
        table.add_row(cell(ID), *map(cell, row))
    shown = printed(table, width)
    assert all(len(line) <= width for line in shown.splitlines())
    assert sum(ID in line for line in shown.splitlines()) == len(found)
    assert "…" not in shown
    counts = {letter: sum(squeezed("".join(row)).count(letter) for row in found) for letter in "abghj"}
    heads = "Title" + "tasknametextmore" * (len(found) + 1) + ID * len(found)
    assert all(counts[one] <= shown.count(one) <= counts[one] + heads.count(one) for one in counts)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_name_in_the_first_column_stays_whole(width: int):
    table = grid(None, "space", "changes", "made", right=("changes",))
    table.add_row(cell(LONG), "12", "3 minutes ago")
    assert LONG in printed(table, width)


def test_a_column_without_values_is_left_out_only_where_room_is_short():
    table = grid(None, "id", "content", "tags")
    table.add_row(cell("…682fab9c"), cell("We deploy on Tuesdays, and never on Fridays"), cell(""))
    assert "tags" in printed(table, 80) and "tags" not in printed(table, 40)


@pytest.mark.parametrize("width", [30, *WIDTHS])
def test_an_id_beside_its_name_stays_whole(width: int):
    shown = printed(fields([(cell("created_at"), cell(ID)), (cell("id"), cell("a b"))]), width + 6)
    assert ID in shown and "a b" in shown


def test_rows_below_each_other_leave_out_empty_values():
    table = grid(None, "task", "kind", "note")
    table.add_row(cell(ID), cell("a kind of some words that go on"), cell("and more of them, to be wide"))
    table.add_row(cell(ID), cell("other"), cell(""))
    assert printed(table, 40).splitlines()[-2:] == [ID, "kind  other"]


@pytest.fixture
def stored(run: Run) -> str:
    """Store memories with long addresses and words, and return the id of the first."""
    long = ("--category", "rules", "--key", "deployment-of-the-web-application", "--tag", "infra", "--space", LONG)
    address = "https://wiki.example.com/engineering/web-application/releases/2026/november/notes.html"
    found = json.loads(run("add", f"We deploy on Tuesdays, as {address} says", *long, "--json").stdout)
    run("add", "Ann prefers tea", "--space", LONG)
    return found["id"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("words", ["search deploy", "list", "spaces", "get rules/deployment-of-the-web-application"])
def test_commands_cut_nothing_on_a_narrow_terminal(
    run: Run, stored: str, words: str, width: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run(*words.split(), "--table", "--space", LONG).stdout
    assert all(len(line) <= width for line in shown.splitlines())
    assert LONG in shown if words == "spaces" else stored[-8:] in shown
    assert "…" not in re.sub("…[0-9a-f]{8}", "", shown)
    if words != "spaces":
        assert "2026/november/notes.html" in squeezed(shown)


@pytest.mark.parametrize("width", [None, "40"])
@pytest.mark.parametrize("words", ["search deploy", "list", "spaces"])
def test_a_pipe_gets_whole_values_whatever_the_width(
    run: Run, stored: str, words: str, width: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("COLUMNS", raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", width)
    done = run(*words.split(), "--space", LONG)
    shown = done.stdout
    assert done.exit_code == 0 and "…" not in shown, done.output
    assert (LONG if words == "spaces" else stored) in shown
