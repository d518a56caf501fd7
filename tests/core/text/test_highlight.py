import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.highlight import highlight
from muisti.core.text.terms import query_terms, tokenize

WORDS = ("Ann", "painted", "the", "lake", "版本三号", "QX-991", "getUserName", "cafe\u0301", "ﬁle", "x" * 90, "\n\n")
contents = st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join) | st.text(st.characters(exclude_characters="*…"))
terms = st.sets(st.sampled_from([term for word in WORDS for term in tokenize(word)]), max_size=4)


@pytest.mark.parametrize(
    ("text", "question", "shown"),
    [
        ("Ann painted it.", "who paints?", "Ann **painted** it."),
        ("Closed QX-991, not QX-99.", "QX-991", "Closed **QX-991**, not **QX**-99."),
        ("Call getUserName()", "user", "Call **getUserName**()"),
        ("他们发布了版本三号。", "版本三", "他们发布了**版本三**号。"),
        ("ａ ｃａｆｅ there", "cafe", "ａ **ｃａｆｅ** there"),
        ("Ann painted it.", "lake", None),
        ("", "lake", None),
    ],
)
def test_the_words_that_match_are_bold(text: str, question: str, shown: str | None):
    assert highlight(text, set(query_terms(question))) == shown


def test_the_stretch_with_most_different_terms_is_shown():
    text = "lake lake lake " + "and so on " * 40 + "Ann painted the lake " + "and so on " * 40 + "Ann"
    shown = highlight(text, {"ann", "paint", "lake"}, around=60)
    assert shown is not None and "**Ann** **painted** the **lake**" in shown


def test_the_first_of_equal_stretches_is_shown():
    shown = highlight("one lake " + "and so on " * 40 + "two lake", {"lake"}, around=40)
    assert shown is not None and shown.startswith("one **lake**")


@given(contents, terms)
def test_nothing_is_shown_exactly_when_no_term_occurs(content: str, wanted: set[str]):
    assert (highlight(content, wanted) is None) == wanted.isdisjoint(tokenize(content))


@given(contents, terms, st.integers(1, 300))
def test_a_highlight_is_a_stretch_of_the_text(content: str, wanted: set[str], around: int):
    shown = highlight(content, wanted, around)
    if shown is not None:
        stretch = shown.replace("**", "").removeprefix("…").removesuffix("…")
        assert stretch in content
        assert len(stretch) <= around
        assert ("…" in shown) == (len(stretch) < len(content))


@given(contents, terms)
def test_every_bold_word_matches(content: str, wanted: set[str]):
    shown = highlight(content, wanted, around=10_000) or ""
    assert all(not wanted.isdisjoint(tokenize(bold)) for bold in re.findall(r"\*\*(.+?)\*\*", shown, re.DOTALL))


@given(contents, terms, st.integers(1, 300))
def test_what_is_shown_has_a_bold_word(content: str, wanted: set[str], around: int):
    shown = highlight(content, wanted, around)
    assert shown is None or shown.count("**") >= 2
