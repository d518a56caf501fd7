"""Answers as CSV: the standard library reads back what was stored, whatever it is."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from muisti.service.terminal.output import as_csv

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"))


def read(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(text, newline=""))]


@given(st.lists(st.fixed_dictionaries({"content": WORDS, "tags": st.lists(WORDS.filter(lambda w: "," not in w))})))
def test_every_text_comes_back(items: list[dict[str, object]]):
    assert [row["content"] for row in read(as_csv({"items": items}))] == [item["content"] for item in items]
