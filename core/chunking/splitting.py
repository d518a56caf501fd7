"""Text to units: sentences and lines, and parts of those that are too long. Equal text gives equal units anywhere."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from muisti.core.chunking.unit import ANYWHERE, DEEPEST, LINE, PARAGRAPH, SENTENCE, WORD, section_rank
from muisti.core.model.documents import PieceKind
from muisti.core.text.sentences import ends as sentence_ends
from muisti.core.text.terms import WORD_MAX, token_starts

_LINES = re.compile(r"\n\s*+")
LINED: frozenset[PieceKind] = frozenset({"table", "code"})  # kinds in which a full stop ends nothing
CLOSING = frozenset("})]")  # beginnings of lines that belong to the block before
_TERMINAL = frozenset(".!?…。！？｡\"')]”’»」』）】")
CHANCE = 4  # one token in so many may begin a part


class Border(NamedTuple):
    """A place where a unit begins, how good a chunk's border there is, and what `Unit` says of definitions."""

    at: int
    rank: int
    symbol: str | None = None
    whole: int = 0
    begins: tuple[str, ...] = ()


def line_ends(text: str) -> Iterator[int]:
    r"""Yield the places after the ends of lines; the indentation of a line belongs to it.

    >>> list(line_ends("if x:\n    y\n\nz"))
    [6, 13]
    """
    for end in _LINES.finditer(text):
        yield end.start() + end[0].rindex("\n") + 1


def borders(text: str, kind: PieceKind) -> Iterator[Border]:
    r"""Yield the places where units begin after the first one.

    Sentences count in prose only; after abbreviations there is no border. In code the best borders are blank lines,
    the less a line is indented the better.

    >>> [border.at for border in borders("It rained, e.g. here.\nWe left! Now\nit is dry.\n\nSo.", "text")]
    [22, 31, 35, 47]
    """
    past = 0
    prose = kind not in LINED
    for end in sentence_ends(text) if prose else line_ends(text):
        bare = text[past:end].rstrip()
        lines = text.count("\n", past + len(bare), end)
        past = end
        if lines > 1:
            rank = PARAGRAPH if kind != "code" else _code_rank(text, end)
        elif not prose:
            rank = LINE
        elif bare[-1:] in _TERMINAL:
            if not lines and text[end : end + 1].islower():
                continue
            rank = SENTENCE
        else:
            rank = LINE
        yield Border(end, rank)


def indentation(text: str, at: int) -> int:
    """Return how many blanks a line begins with, `DEEPEST` at most."""
    start = text[at : at + DEEPEST]
    return len(start) - len(start.lstrip(" \t"))


def _code_rank(text: str, at: int) -> int:
    """Return the rank of a border before a line of code that follows a blank line."""
    column = indentation(text, at)
    return LINE if text[at + column : at + column + 1] in CLOSING else section_rank(column)


def parts(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Yield the places where the parts of a long text begin after the first one, and the rank of each.

    A part has at most `most` tokens and `most` times 24 characters. The tokens themselves decide where parts begin,
    so that the parts of a changed text are soon those of the text before the change.
    """
    starts = token_starts(text)
    least, count, last = max(1, most // 4), 0, 0
    for at, stop in zip(starts, [*starts, len(text)][1:], strict=True):
        for blank in range(last + most * WORD_MAX, at, most * WORD_MAX):
            yield blank, ANYWHERE
            last, count = blank, 0
        word = at > 0 and text[at - 1].isspace()
        due = count >= least and word and crc32(text[at:stop].encode("utf-8", "surrogatepass")) % CHANCE == 0
        if at > last and (due or count >= most or stop - last > most * WORD_MAX):
            yield at, WORD if word else ANYWHERE
            last, count = at, 0
        count += 1
    for blank in range(last + most * WORD_MAX, len(text), most * WORD_MAX):
        yield blank, ANYWHERE
