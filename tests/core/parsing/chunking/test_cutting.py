"""Chunks of any text, cut by any strategy: they join exactly, are bounded, and do not depend on windows."""

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.errors import InvalidInput
from muisti.core.parsing.chunking import cutting as fixed
from muisti.core.parsing.chunking import units
from muisti.core.parsing.chunking.cutting import cut, preview
from muisti.core.parsing.chunking.options import STRATEGIES, Chunking, check
from muisti.core.parsing.pieces import Cut, Piece
from muisti.core.text.terms import WORD_MAX, count_tokens

FRAGMENTS = (
    "The build failed. ", 'He asked "why?" and left.\n', "A paragraph ends.\n\n", "def f(x):\n    return x\n\n",
    "class A:\n    def g(self): pass\n", "版本三号已经发布。", "真的吗？」", "words without an end " * 9, "x" * 300,
    "หนังสือ ", "… !? ... ", "   \n ", "\r\n", "\t" * 60, "cafe\u0301\u0301 ", "مرحبا بالعالم. ", "3.14-15:9/",
    "| a | b |\n", "\ud800", "\x00\x1c\u2028\u0085",
)  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join) | st.text(max_size=200)
pieces = st.builds(
    Piece,
    text=texts,
    kind=st.sampled_from(("text", "heading", "table", "code", "list", "note")),
    page=st.none() | st.integers(1, 9),
    headings=st.lists(st.sampled_from("ABC"), max_size=2).map(tuple),
    language=st.sampled_from((None, "python", "typescript", "cobol")),
)
documents = st.lists(pieces, max_size=8)


@st.composite
def chunkings(draw: st.DrawFn) -> Chunking:
    size = draw(st.integers(16, 200))
    strategies = [strategy for strategy in STRATEGIES if strategy != "ast"]
    return Chunking(
        strategy=draw(st.sampled_from(strategies)), size=size, overlap=draw(st.integers(0, (size - 1) // 2))
    )


def joined(cuts: list[Cut]) -> str:
    return "".join(one.text[one.overlap :] for one in cuts)


@given(documents, chunkings())
def test_chunks_join_to_the_text_repeat_the_end_before_them_and_are_bounded(document: list[Piece], options: Chunking):
    text, at = "".join(piece.text for piece in document), 0
    for one in cut(document, options):
        assert one.text == text[at - one.overlap : at + len(one.text) - one.overlap]
        assert count_tokens(one.text[: one.overlap]) <= options.overlap < options.size
        assert count_tokens(one.text) <= options.size
        assert one.overlap < len(one.text) <= options.size * WORD_MAX
        at += len(one.text) - one.overlap
    assert at == len(text)


@given(documents, chunkings(), st.randoms(use_true_random=False), st.integers(2_500, 4_000))
def test_windows_make_no_difference(document: list[Piece], options: Chunking, random: Random, read: int):
    """Parsers give long texts in windows, whose ends are no borders. Nor are those of the text that is read ahead."""
    windows: list[Piece] = []
    for piece in document:
        rest = piece.text
        while rest:
            length = random.randint(1, 200)
            windows.append(msgspec.structs.replace(piece, text=rest[:length]))
            rest = rest[length:]
    whole = list(cut(document, options))
    with pytest.MonkeyPatch.context() as patch:
        for module in (units, fixed):
            patch.setattr(module, "READ", read)
        assert list(cut(windows, options)) == whole


@given(documents, chunkings())
def test_a_preview_tells_offsets_and_tokens(document: list[Piece], options: Chunking):
    text, at = "".join(piece.text for piece in document), 0
    for one, shown in zip(cut(document, options), preview(document, options), strict=True):
        assert text[shown.start : shown.stop] == one.text
        assert shown.start + shown.overlap == at
        assert (shown.tokens, shown.headings, shown.symbol) == (count_tokens(one.text), one.headings, one.symbol)
        at = shown.stop
    assert at == len(text)


@pytest.mark.parametrize(("options", "problem"), [
    (Chunking(size=15, overlap=0), "$.size"),
    (Chunking(size=4_097), "$.size"),
    (Chunking(overlap=-1), "$.overlap"),
    (Chunking(overlap=256), "$.overlap"),
    (Chunking(strategy="semantic"), "$.strategy"),  # pyright: ignore[reportArgumentType]
])  # fmt: skip
def test_parameters_are_validated(options: Chunking, problem: str):
    check(Chunking(size=512, overlap=255))
    with pytest.raises(InvalidInput) as refused:
        cut([Piece(text="text")], options)
    assert [one.path for one in refused.value.problems] == [problem]


@pytest.mark.parametrize("text", [" " * 200_000, "\t\n" * 90_000, "a" * 200_000, "." * 200_000, "a\u0301" * 90_000])
def test_long_stretches_without_a_border_are_cut_and_bounded(text: str):
    cuts = list(cut([Piece(text=text[at : at + 5_000]) for at in range(0, len(text), 5_000)]))
    assert joined(cuts) == text
    assert max(len(one.text) for one in cuts) <= 512 * WORD_MAX
    assert max(count_tokens(one.text) for one in cuts) <= 512
