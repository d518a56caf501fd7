from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Passage
from muisti.core.text import sentences
from muisti.core.text.sentences import MAX_TOKENS, MIN_TOKENS, OVERLAP, split
from muisti.core.text.terms import count_tokens

FRAGMENTS = (
    "The build failed. ", 'He asked "why?" and left.\n', "A paragraph ends.\n\n", "版本三号已经发布。", "真的吗？」",
    "words without an end " * 9, "x" * 700, "หนังสือ ", "… !? ... ", "   \n ", "cafe\u0301\u0301 ", "3.14-15:9/",
)  # fmt: skip
contents = (
    st.lists(st.sampled_from(FRAGMENTS), max_size=200).map("".join) | st.text() | st.text("a. 。\n", min_size=300)
)


@given(contents)
def test_passages_cover_the_content_move_forward_and_are_bounded(content: str):
    passages = split(content)
    assert passages[0].start == 0 and passages[-1].stop == len(content)
    assert [passage.number for passage in passages] == list(range(len(passages)))
    for earlier, later in pairwise(passages):
        assert earlier.start < later.start <= earlier.stop < later.stop
        assert 0 < count_tokens(content[later.start : earlier.stop]) <= OVERLAP
    sizes = [count_tokens(content[passage.start : passage.stop]) for passage in passages]
    assert max(sizes) <= MAX_TOKENS
    assert all(size >= MIN_TOKENS for size in sizes[:-1])
    assert (passages == [Passage(0, 0, len(content))]) == (count_tokens(content) <= MAX_TOKENS)


def cuts(content: str) -> list[str]:
    """Return the text of each passage but the last."""
    return [content[passage.start : passage.stop] for passage in split(content)[:-1]]


def test_a_passage_ends_with_a_paragraph_or_a_word_when_it_can():
    content = ("One two three four. " * 35 + "End of it.\n\n" + "One two three four. " * 10) * 6
    assert all(text.endswith("End of it.\n\n") for text in cuts(content)[:1])
    content = "some words that go-on " * 300
    assert all(text.endswith(" ") for text in cuts(content))
    assert all(not content[passage.start :].startswith(("-", " ")) for passage in split(content))
    passages = split("x" * 100_000)
    assert len(passages) > 10
    assert passages[-1].stop == 100_000


@pytest.mark.parametrize(("sentence", "end"), [
    ("Nine words stand here in a row without commas. ", ". "), ("She said (and she meant all of it.) ", ".) "),
    ("数据库在一个文件里。", "。"), ("他问「为什么呢？」", "？」"), ("- a line of a list without an end\n", "\n"),
])  # fmt: skip
def test_a_passage_holds_whole_sentences_when_it_can(sentence: str, end: str):
    content = sentence * 100
    assert len(split(content)) > 2
    assert all(text.endswith(end) for text in cuts(content))
    assert all(content[passage.start :].startswith(sentence) for passage in split(content))


@pytest.mark.parametrize("text", [".", ".)", "\n", "\n ", "。", "!? ", '." ', "版"])
def test_hostile_content_is_split_in_linear_time(text: str):
    """Anything quadratic would take minutes here."""
    assert split(text * 50_000)[-1].stop == len(text) * 50_000


@given(contents, st.integers(2, 80), st.data())
def test_passages_of_any_size_cover_the_content(content: str, most: int, data: st.DataObject):
    overlap = data.draw(st.integers(0, (most // 2) - 1))
    sentences = split(content, most=most, overlap=overlap)
    assert sentences[0].start == 0 and sentences[-1].stop == len(content)
    assert all(a.start < b.start <= a.stop < b.stop for a, b in pairwise(sentences))
    assert all(count_tokens(content[one.start : one.stop]) <= most for one in sentences)


@pytest.mark.parametrize(("most", "overlap"), [(1, 0), (0, 0), (64, -1), (128, 64), (128, 200)])
def test_sizes_that_could_not_move_forward_are_refused(most: int, overlap: int):
    with pytest.raises(InvalidInput):
        split("word " * 500, most=most, overlap=overlap)


@given(
    st.lists(st.sampled_from([one for one in FRAGMENTS if one.isascii()]), max_size=200).map("".join),
    st.integers(2, 300),
    st.integers(0, 150),
)
def test_texts_in_ascii_are_cut_as_all_others(content: str, most: int, overlap: int):
    overlap = min(overlap, most // 2 - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "ascii_bytes", lambda _: None)
        wanted = split(content, most=most, overlap=overlap)
    assert split(content, most=most, overlap=overlap) == wanted
