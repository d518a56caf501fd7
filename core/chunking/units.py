"""Pieces to units, in a stream: neighbouring pieces of one sort are read as one text, whatever their sizes."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby

from msgspec import structs

from muisti.core.chunking.options import Chunking
from muisti.core.chunking.splitting import Border, borders, parts
from muisti.core.chunking.syntax import is_readable, with_definitions
from muisti.core.chunking.unit import ANYWHERE, BLOCK, GLUED, TOP, Unit, section_rank, weigh, weigh_between
from muisti.core.code.grammars import TooIntricate
from muisti.core.model.documents import Piece
from muisti.core.text.terms import WORD_MAX

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
    for _, run in groupby((piece for piece in pieces if piece.text), _sort):
        begun = False
        for unit in _of_run(run, options, note):
            yield unit if begun else unit._replace(rank=_rank(before, unit.piece))
            before, begun = unit.piece, True


def _sort(piece: Piece) -> tuple[object, ...]:
    """Return what pieces that are read as one text have in common."""
    return piece.kind, piece.headings, piece.language


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
    """Yield pieces until they have so many characters."""
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
        """Yield the units before the last border."""
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
        """Yield the units that begin at some borders, the last of which ends at `stop`."""
        for border, end in zip(first, [*(after.at for after in first), stop][1:], strict=True):
            unit = text[border.at : end]
            yield Unit(
                unit, weigh(unit), border.rank, self._piece(border.at), border.symbol, border.whole, border.begins
            )

    def _piece(self, at: int) -> Piece:
        """Return the piece that has a character."""
        return self._pieces[bisect_right(self._places, at) - 1]

    def _keep(self, text: str, tail: Border) -> None:
        """Keep the text from a border on for later."""
        place = bisect_right(self._places, tail.at) - 1
        self._pieces = self._pieces[place:]
        self._places = [max(0, at - tail.at) for at in self._places[place:]]
        self._texts = [text[tail.at :]]
        self.size = len(text) - tail.at
        self._first = Border(0, tail.rank, tail.symbol, begins=tail.begins)
