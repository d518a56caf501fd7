"""Marks of matched words are kept apart from asterisks of the text, whatever the text is, and no character is lost."""

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.highlight import highlight
from muisti.service.pages.asking.marking import marked

pieces = st.sampled_from(["lake", "noon", "**", "*", " ", "…", "<b>", "&amp;", "_x_", "\n", "tree", "ä"])
texts = st.lists(pieces, min_size=1, max_size=60).map("".join)


@given(texts, st.integers(20, 200))
def test_marks_never_change_the_text(passage: str, around: int):
    found = highlight(passage, {"lake", "noon"}, around)
    runs = marked(found, passage)
    if found is None:
        assert "".join(run.text for run in runs) == passage and not any(run.is_match for run in runs)
        return
    text = "".join(run.text for run in runs)
    assert passage in text or text.removeprefix("…").removesuffix("…") in passage
    assert any(run.is_match for run in runs)
    assert all("lake" in run.text.lower() or "noon" in run.text.lower() for run in runs if run.is_match)


def test_bold_text_of_the_author_is_no_match():
    passage = "**Never** deploy on **Fridays**"
    assert [run.text for run in marked(highlight(passage, {"deploy"}), passage) if run.is_match] == ["deploy"]
