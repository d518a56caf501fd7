"""Texts that are within their limit and grow when they are normalised."""

import pytest

from muisti.core.model.choices import CONTENT_MAX
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import NAME_MAX, QUERY_MAX, Draft
from muisti.core.query.query import Query
from muisti.core.text.forms import GROWTH, normalise, outgrows
from muisti.core.write.validate import check_draft, check_query

LONG = "\ufdfa"  # one character, 18 in NFKC


def test_no_character_grows_more_than_is_known():
    assert max(len(normalise(chr(code))) for code in range(0xA0, 0x30000) if not 0xD800 <= code <= 0xDFFF) == GROWTH


@pytest.mark.parametrize(("draft", "path"), [
    (Draft(content=LONG * CONTENT_MAX), "$.content"),
    (Draft(content="a", author=LONG * NAME_MAX), "$.author"),
    (Draft(content="a", tags=(LONG * NAME_MAX,)), "$.tags[0]"),
])  # fmt: skip
def test_a_text_that_normalising_makes_long_is_refused(draft: Draft, path: str):
    with pytest.raises(InvalidInput, match="when normalised") as caught:
        check_draft(draft, 0)
    assert [problem.path for problem in caught.value.problems] == [path]
    with pytest.raises(InvalidInput, match="when normalised"):
        check_query(Query(text=LONG * QUERY_MAX))


@pytest.mark.parametrize("unit", ["a", "ß", "é", "ﬁ", "…\u0627", "版", "ﺱ", f"{LONG} {'سلام ' * 8}"])
def test_a_text_in_any_script_is_taken_up_to_the_limit(unit: str):
    check_draft(Draft(content=(unit * CONTENT_MAX)[:CONTENT_MAX]), 0)


def test_a_text_is_measured_as_it_is_normalised():
    for text in (LONG * 500, "e\u0301" * 900, "\u1100\u1161" * 900, "ﬁ" * 700):
        length = len(normalise(text))
        assert outgrows(text, length - 30) and not outgrows(text, length + 30)
