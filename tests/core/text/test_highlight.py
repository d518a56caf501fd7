import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.highlight import highlight
from muisti.core.text.terms import query_terms, tokenize

WORDS = ("Ann", "painted", "the", "lake", "版本三号", "QX-991", "getUserName", "cafe\u0301", "ﬁle", "x" * 90, "\n\n")
contents = st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join) | st.text(st.characters(exclude_characters="*…"))
terms = st.sets(st.sampled_from([term for word in WORDS for term in tokenize(word)]), max_size=4)


@pytest.mark.parametrize(("text", "question", "shown"), [
    ("Ann painted it.", "who paints?", "Ann **painted** it."),
    ("Closed QX-991, not QX-99.", "QX-991", "Closed **QX-991**, not **QX**-99."),
    ("Call getUserName()", "user", "Call **getUserName**()"),
    ("他们发布了版本三号。", "版本三", "他们发布了**版本三**号。"),
    ("ａ ｃａｆｅ there", "cafe", "ａ **ｃａｆｅ** there"),
    ("Ann painted it.", "lake", None),
    ("", "lake", None),
])  # fmt: skip
def test_the_words_that_match_are_bold(text: str, question: str, shown: str | None):
    assert highlight(text, set(query_terms(question))) == shown


def test_the_stretch_with_most_different_terms_is_shown_and_the_first_of_equal_ones():
    text = "lake lake lake " + "and so on " * 40 + "Ann painted the lake " + "and so on " * 40 + "Ann"
    shown = highlight(text, {"ann", "paint", "lake"}, around=60)
    assert shown is not None and "**Ann** **painted** the **lake**" in shown
    shown = highlight("one lake " + "and so on " * 40 + "two lake", {"lake"}, around=40)
    assert shown is not None and shown.startswith("one **lake**")


@given(contents, terms, st.integers(1, 300) | st.just(10_000))
def test_a_highlight_is_a_stretch_of_the_text_whose_bold_words_match(content: str, wanted: set[str], around: int):
    shown = highlight(content, wanted, around)
    assert (highlight(content, wanted) is None) == wanted.isdisjoint(tokenize(content))
    if shown is not None:
        stretch = shown.replace("**", "").removeprefix("…").removesuffix("…")
        assert stretch in content
        assert len(stretch) <= around
        assert ("…" in shown) == (len(stretch) < len(content))
        assert shown.count("**") >= 2
    whole = highlight(content, wanted, around=10_000) or ""
    assert all(not wanted.isdisjoint(tokenize(bold)) for bold in re.findall(r"\*\*(.+?)\*\*", whole, re.DOTALL))
