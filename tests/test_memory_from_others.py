"""The page for users of other memory systems: no row is missing, and everything that it names exists."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
LINES = (DOCS / "memory-from-others.md").read_text("utf-8").splitlines()
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in LINES if re.match(r"\| [ZVMHD]\d", line)
]
COUNTS = {"Z": 38, "V": 57, "M": 25, "H": 24, "D": 13}  # of their behaviours, counted when their code was read


def test_no_behaviour_is_left_out():
    numbers = [row[0] for row in ROWS]
    assert numbers == [f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_row_names_a_test(row: tuple[str, ...]):
    assert len(row) == 4 and all(row), row
    path, _, name = row[3].partition("::")
    assert re.search(rf"^(async )?def {name}\(", (HERE / path).read_text("utf-8"), re.MULTILINE), row[3]


def test_every_error_of_ours_has_this_status():
    documented = (DOCS / "http.md").read_text("utf-8")
    named = [found for row in ROWS for found in re.findall(r"`(\d{3}) (\w+)`", row[2])]
    assert len(named) > 5
    for status, code in named:
        assert f"| `{code}` | {status} |" in documented
