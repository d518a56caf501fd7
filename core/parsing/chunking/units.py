"""Pieces to units, in a stream: neighbouring pieces of one sort are read as one text, whatever their sizes."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import NamedTuple
from zlib import crc32

from msgspec import structs

from muisti.core.parsing.chunking.options import Chunking, Strategy
from muisti.core.parsing.code.apart import definitions
from muisti.core.parsing.code.grammars import Definition, TooIntricate, is_available
from muisti.core.parsing.pieces import Piece, PieceKind
from muisti.core.text.sentences import ends as sentence_ends
from muisti.core.text.terms import WORD_MAX, count_tokens, count_tokens_between, token_starts

# How good a border before a unit is. A section's rank falls with its depth, and is at least SECTION.
GLUED, ANYWHERE, WORD, LINE, SENTENCE, PARAGRAPH, BLOCK, SECTION = range(8)
DEEPEST = 12  # levels of sections that have different ranks
TOP = SECTION + DEEPEST


class Unit(NamedTuple):
    """A part of a document that is not cut further.

    `weight` is its size in tokens, see `weigh`. `rank` tells how good a chunk's border before it is. `piece` is the
    parsed piece in which it begins. `whole` is the weight of the block that begins here, to be kept in one chunk.
    `begins` has the definitions that begin with it.
    """

    text: str
    weight: int
    rank: int
    piece: Piece
    symbol: str | None = None
    whole: int = 0
    begins: tuple[str, ...] = ()


def weigh(text: str) -> int:
    """Return the tokens of a text; white space counts as well where there is more of it than of words.

    The weight is at least the number of tokens, and no text has more than 24 characters for each unit of weight.

    >>> weigh("Two words."), weigh(" "), weigh(" " * 240)
    (3, 1, 10)
    """
    return max(1, count_tokens(text), -(-len(text) // WORD_MAX))


def weigh_between(text: str, borders: Sequence[int]) -> list[int]:
    """Return the `weigh` of each stretch between two neighbouring borders, in ascending order.

    >>> weigh_between("Two words. Three", [0, 11, 16])
    [3, 1]
    """
    found = zip(count_tokens_between(text, borders), pairwise(borders), strict=True)
    return [max(1, tokens, -(-(stop - start) // WORD_MAX)) for tokens, (start, stop) in found]


def section_rank(depth: int) -> int:
    """Return the rank of a border before a section or definition, `depth` levels below the outermost.

    >>> section_rank(0) > section_rank(1) > section_rank(99) == SECTION
    True
    """
    return max(SECTION, TOP - depth)


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


READ = 65_536  # characters that are read before they are split, so that memory is bounded
CODE_MAX = 1_000_000  # characters of a file whose definitions are looked for
PARTS = 16  # parts of a long sentence in a chunk, at least


Note = Callable[[str], None]  # takes in a sentence that says what was done otherwise than requested


def units(pieces: Iterable[Piece], options: Chunking, note: Note = lambda _: None) -> Iterator[Unit]:
    """Yield the units of a document, whose texts join to its text. Code that takes too much work is plain text.

    Raises:
        InvalidInput: the strategy is `ast`, and the grammar of a piece of code is not installed.
    """
    before: Piece | None = None
    for _, run in groupby((piece for piece in pieces if piece.text), attrgetter("kind", "headings", "language")):
        begun = False
        for unit in _of_run(run, options, note):
            yield unit if begun else unit._replace(rank=_rank(before, unit.piece))
            before, begun = unit.piece, True


def _rank(before: Piece | None, after: Piece) -> int:
    """Return the rank of the border between two pieces of different sorts."""
    if before is None:
        return TOP
    if before.kind == "heading":
        return GLUED
    if after.kind == "heading" or after.headings != before.headings:
        return section_rank(len(after.headings))
    return BLOCK


def _of_run(run: Iterator[Piece], options: Chunking, note: Note) -> Iterator[Unit]:
    """Yield the units of neighbouring pieces of one sort. Only code whose definitions are looked for is read whole."""
    first = next(run)
    run = chain([first], run)
    if first.kind == "code" and first.language is not None and is_readable(first.language, options.strategy):
        code = list(_at_most(CODE_MAX, run))
        if sum(len(piece.text) for piece in code) < CODE_MAX:
            try:
                yield from _Waiting(options, code).take(last=True, language=first.language)
                return
            except TooIntricate:
                note(f"Reading the {first.language} would take too long, so it is stored as plain text.")
                code = [structs.replace(piece, kind="text", language=None) for piece in code]
        run = chain(code, run)
    waiting = _Waiting(options)
    for piece in _windows(run):
        waiting.add(piece)
        if waiting.size >= READ:
            yield from waiting.take(last=False)
    yield from waiting.take(last=True)


def _at_most(characters: int, run: Iterator[Piece]) -> Iterator[Piece]:
    for piece in run:
        yield piece
        characters -= len(piece.text)
        if characters <= 0:
            return


def _windows(run: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces of at most `READ` characters, so that no step takes long."""
    for piece in run:
        if len(piece.text) <= READ:
            yield piece
            continue
        for at in range(0, len(piece.text), READ):
            yield structs.replace(piece, text=piece.text[at : at + READ])


class _Waiting:
    """Text of neighbouring pieces of one sort that is not split yet."""

    def __init__(self, options: Chunking, pieces: Iterable[Piece] = ()) -> None:
        self.size = 0
        self._most = (options.size - options.overlap) // 2  # weight of a sentence that is not split
        self._part = max(1, options.size // PARTS)
        self._texts: list[str] = []
        self._pieces: list[Piece] = []
        self._places: list[int] = []  # where each of the pieces begins
        self._first = Border(0, ANYWHERE)  # of the first unit
        self._begun = False  # whether the first unit is the rest of a sentence that is being split
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Piece) -> None:
        self._pieces.append(piece)
        self._places.append(self.size)
        self._texts.append(piece.text)
        self.size += len(piece.text)

    def take(self, *, last: bool, language: str | None = None) -> Iterator[Unit]:
        """Yield the units that later text cannot change; all that is left when this is the `last` text.

        With a programming `language` the units begin at definitions as well. Raises what `with_definitions` raises.
        """
        text = "".join(self._texts)
        found = list(borders(text, self._pieces[0].kind))
        if language is not None:
            found = with_definitions(found, text, language)
        sure = len(text) if last else len(text.rstrip())
        known = [border for border in found if border.at < sure]
        if not known or known[0].at:
            known.insert(0, self._first)
        yield from self._settled(text, known)
        tail = self._split(text, known[-1], len(text), weigh(text[known[-1].at :]))
        if last:
            yield from self._units(text, tail, len(text))
            return
        if len(text) - tail[0].at < READ:
            del tail[1:]
        else:  # a line without an end: its parts are certain, but for those at the end
            self._begun = True
            sure = len(text) - (self._part + 2) * WORD_MAX
            tail = [tail[0], *(border for border in tail[1:] if border.at < sure)]
            yield from self._units(text, tail[:-1], tail[-1].at)
        self._keep(text, tail[-1])

    def _settled(self, text: str, known: Sequence[Border]) -> Iterator[Unit]:
        places = [border.at for border in known]
        for border, stop, weight in zip(known, places[1:], weigh_between(text, places), strict=False):
            found = self._split(text, border, stop, weight)
            if len(found) == 1:
                unit = text[border.at : stop]
                yield Unit(
                    unit, weight, border.rank, self._piece(border.at), border.symbol, border.whole, border.begins
                )
            else:
                yield from self._units(text, found, stop)
            self._begun = False

    def _split(self, text: str, border: Border, stop: int, weight: int) -> list[Border]:
        """Return the border, and those of the parts before `stop` when the text between, of this weight, is long."""
        if not self._begun and weight <= self._most:
            return [border]
        found = parts(text[border.at : stop], self._part)
        return [border, *(Border(border.at + at, rank, border.symbol) for at, rank in found)]

    def _units(self, text: str, first: Sequence[Border], stop: int) -> Iterator[Unit]:
        for border, end in zip(first, [*(after.at for after in first), stop][1:], strict=True):
            unit = text[border.at : end]
            yield Unit(
                unit, weigh(unit), border.rank, self._piece(border.at), border.symbol, border.whole, border.begins
            )

    def _piece(self, at: int) -> Piece:
        """Return the piece that has a character."""
        return self._pieces[bisect_right(self._places, at) - 1]

    def _keep(self, text: str, tail: Border) -> None:
        place = bisect_right(self._places, tail.at) - 1
        self._pieces = self._pieces[place:]
        self._places = [max(0, at - tail.at) for at in self._places[place:]]
        self._texts = [text[tail.at :]]
        self.size = len(text) - tail.at
        self._first = Border(0, tail.rank, tail.symbol, begins=tail.begins)
