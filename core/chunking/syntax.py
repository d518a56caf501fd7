"""Borders of source code by its definitions."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from muisti.core.chunking.options import Strategy
from muisti.core.chunking.splitting import Border, indentation
from muisti.core.chunking.unit import ANYWHERE, SECTION, section_rank
from muisti.core.code.apart import definitions
from muisti.core.code.definitions import Definition
from muisti.core.code.grammars import is_available
from muisti.core.text.terms import WORD_MAX, token_starts


def is_readable(language: str | None, strategy: Strategy) -> bool:
    """Return whether the definitions of code in a language are to be found.

    With the strategy `ast` this is so although the grammar is not installed, and `with_definitions` raises.
    """
    return language is not None and (strategy == "ast" or (strategy == "auto" and is_available(language)))


def with_definitions(lines: Sequence[Border], text: str, language: str) -> list[Border]:
    """Return the borders of lines with what the syntax tells: names of definitions, and where else they begin.

    Blocks that are to be kept whole follow from blank lines and indentation as well. These do not change with the
    whole syntax tree, as it does after a single fault in the code.

    Raises:
        GrammarMissing: no grammar of the language is installed.
        TooIntricate: the text needs more work than its length allows.
    """
    found, tokens = definitions(text, language), token_starts(text)
    blocks = dict(_blocks(lines, text))
    borders = {0: Border(0, ANYWHERE), **{line.at: line for line in lines}}
    for one in found:
        blocks[one.start] = max(one.stop, blocks.get(one.start, 0))
        before = borders.get(one.start, Border(one.start, ANYWHERE))
        borders[one.start] = before._replace(rank=max(before.rank, section_rank(one.column)))
    for start, stop in blocks.items():
        weight = bisect_left(tokens, stop) - bisect_left(tokens, start)
        borders[start] = borders[start]._replace(whole=max(weight, -(-(stop - start) // WORD_MAX)))
    return list(_named(sorted(borders.values()), found))


def _blocks(lines: Sequence[Border], text: str) -> Iterator[tuple[int, int]]:
    """Yield where blocks begin and end: each after a blank line, up to the next one before a line indented no more."""
    open_blocks = [(0, indentation(text, 0))]
    for line in lines:
        if line.rank >= SECTION:
            column = indentation(text, line.at)
            while open_blocks and open_blocks[-1][1] >= column:
                yield open_blocks.pop()[0], line.at
            open_blocks.append((line.at, column))
    for start, _ in open_blocks:
        yield start, len(text)


def _named(borders: Iterable[Border], found: Sequence[Definition]) -> Iterator[Border]:
    """Yield the borders with the innermost definition that each is in, and those that begin there."""
    inside: list[Definition] = []
    following = iter(found)
    coming = next(following, None)
    for border in borders:
        begins: list[str] = []
        while coming is not None and coming.start <= border.at:
            inside.append(coming)
            begins.append(coming.symbol)
            coming = next(following, None)
        while inside and inside[-1].stop <= border.at:
            inside.pop()
        yield border._replace(symbol=inside[-1].symbol if inside else None, begins=tuple(filter(None, begins)))
