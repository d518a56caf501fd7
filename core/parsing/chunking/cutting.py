"""Cut documents into chunks, in a stream: memory is bounded however long the document is."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import accumulate
from operator import itemgetter
from zlib import crc32

from msgspec import Struct

from muisti.core.parsing.chunking.options import Chunking, check
from muisti.core.parsing.chunking.units import GLUED, SECTION, SENTENCE, TOP, Note, Unit, units, weigh
from muisti.core.parsing.pieces import Cut, Piece, PieceKind
from muisti.core.text.terms import WORD_MAX, count_tokens, token_starts

# Units to chunks: each chunk ends at the best border that its size allows, so that equal text gets equal borders


def anchor(before: Unit, after: Unit) -> int:
    """Return a number that depends on the text on both sides of a border alone."""
    return crc32(after.text.encode("utf-8", "surrogatepass"), crc32(before.text.encode("utf-8", "surrogatepass")))


def anchored(units: Iterable[Unit], reach: int) -> Iterator[tuple[Unit, bool]]:
    """Yield the units, and whether the border before each is an anchor: better than all others within `reach` tokens.

    The rank of a border counts first, then `anchor`; of equals the first is better. Anchors are more than `reach`
    apart, from the ends of the text too.
    """
    best: deque[tuple[int, tuple[int, int]]] = deque()  # of the last borders: places and falling scores
    waiting: list[Unit] = []  # from the unit that may turn out to begin at an anchor
    at, since, before = 0, 0, None
    for unit in units:
        score = (TOP + 1, 0) if before is None else (unit.rank, -anchor(before, unit))
        while best and best[0][0] < at - reach:
            best.popleft()
        better = not best or score > best[0][1]
        while best and best[-1][1] < score:
            best.pop()
        best.append((at, score))
        if waiting and (better or at - since > reach):
            yield from _flagged(waiting, anchor=at - since > reach)
            waiting = []
        if waiting or (better and unit.rank > GLUED):
            since = since if waiting else at
            waiting.append(unit)
        else:
            yield unit, False
        at, before = at + unit.weight, unit
    yield from _flagged(waiting, anchor=at - since > reach)


def _flagged(units: list[Unit], *, anchor: bool) -> Iterator[tuple[Unit, bool]]:
    for place, unit in enumerate(units):
        yield unit, anchor and place == 0


def pack(units: Iterable[Unit], options: Chunking) -> Iterator[Cut]:
    """Yield the chunks of a document. Texts without their overlaps join to the texts of the units."""
    packer = _Packer(options)
    if options.strategy == "sentence":
        units = (unit._replace(rank=min(unit.rank, SENTENCE), whole=0) for unit in units)
    reach = options.size // 2
    for unit, fixed in anchored(units, reach):
        titled = options.strategy == "heading" and unit.rank >= SECTION and unit.piece.kind != "code"
        if packer.waiting and (fixed or titled):
            yield from packer.finish(unit)
        packer.add(unit)
        while packer.weight > packer.room + reach:
            yield packer.cut_best()
    yield from packer.finish(None)


class _Packer:
    """Units of the chunk that is being filled, after the overlap that it begins with, and some that follow."""

    def __init__(self, options: Chunking) -> None:
        self.waiting: list[Unit] = []
        self.weight = 0
        self.room = options.size  # weight that the chunk may have after its overlap
        self._options = options
        self._overlap = ""

    def add(self, unit: Unit) -> None:
        self.waiting.append(unit)
        self.weight += unit.weight

    def finish(self, after: Unit | None) -> Iterator[Cut]:
        """Yield the chunks of all waiting units. A border is before the unit `after`, or the text ends."""
        while self.weight > self.room:
            yield self.cut_best(ends=True)
        if self.waiting:
            yield self._cut(len(self.waiting), after)

    def cut_best(self, *, ends: bool = False) -> Cut:
        """Return the next chunk; more units are waiting than it has room for.

        A block that would fit into a chunk of its own is not torn. Else the border of the highest rank counts. It
        may be anywhere after the first quarter before a section or definition, else in the second half. The text on
        both sides decides between equals. Where the text `ends`, the last chunk is not left tiny.
        """
        weights = [0, *accumulate(unit.weight for unit in self.waiting)]
        last = self._torn(weights, bisect_right(weights, self.room) - 1)
        most = self.weight - self.room // 4 if ends else self.weight
        candidates = [
            place
            for place in range(1, last + 1)
            if weights[place] * (4 if self.waiting[place].rank >= SECTION else 2) >= self.room
            and weights[place] <= most
        ] or [last]
        highest = max(self.waiting[place].rank for place in candidates)
        equals = [place for place in candidates if self.waiting[place].rank == highest]
        place = min(equals, key=lambda one: (anchor(self.waiting[one - 1], self.waiting[one]), -one))
        return self._cut(place, self.waiting[place])

    def _torn(self, weights: list[int], last: int) -> int:
        """Return the place of the first block that only a chunk of its own holds, else the last place."""
        for place in range(1, last + 1):
            if self.room - weights[place] < self.waiting[place].whole <= self._options.size:
                return place
        return last

    def _cut(self, place: int, after: Unit | None) -> Cut:
        """Return the first `place` units as a chunk; the others begin the next one, whose first unit is `after`."""
        taken, self.waiting = self.waiting[:place], self.waiting[place:]
        first, overlap = taken[0], self._overlap
        self._overlap = "" if after is None or after.rank >= SECTION else _end(taken, self._options.overlap)
        self.room = self._options.size - (weigh(self._overlap) if self._overlap else 0)
        self.weight = sum(unit.weight for unit in self.waiting)
        return Cut(
            text=overlap + "".join(unit.text for unit in taken),
            overlap=len(overlap),
            kind=first.piece.kind,
            page=first.piece.page,
            headings=first.piece.headings,
            language=first.piece.language,
            symbol=first.symbol,
            defines=tuple(dict.fromkeys(name for unit in taken for name in unit.begins)),
        )


def _end(units: list[Unit], most: int) -> str:
    """Return the whole sentences at the end that weigh at most `most`, else the last words."""
    place, weight = len(units), 0
    while place and weight + units[place - 1].weight <= most:
        place -= 1
        weight += units[place].weight
    end = "".join(unit.text for unit in units[place:])
    if place == len(units) and most:
        text = units[-1].text
        starts = token_starts(text)[-most:]
        at = next(
            (start for start in starts if start and text[start - 1].isspace()), starts[0] if starts else len(text)
        )
        end = text[at:]
    return end if end.strip() and weigh(end) <= most else ""


READ = 65_536  # characters that are read before they are cut


def cut_fixed(pieces: Iterable[Piece], options: Chunking) -> Iterator[Cut]:
    """Yield chunks of `options.size` tokens, each of which begins with the last `options.overlap` of the one before."""
    waiting = _Waiting(options)
    for piece in pieces:
        if piece.text:
            waiting.add(piece)
            if waiting.size >= READ:
                yield from waiting.take(last=False)
    yield from waiting.take(last=True)


class _Waiting:
    """Text from the start of the next chunk on, its overlap included."""

    def __init__(self, options: Chunking) -> None:
        self.size = 0
        self._options = options
        self._texts: list[str] = []
        self._pieces: list[tuple[int, Piece]] = []  # each with the place where it begins
        self._overlap = 0  # characters

    def add(self, piece: Piece) -> None:
        self._pieces.append((self.size, piece))
        self._texts.append(piece.text)
        self.size += len(piece.text)

    def take(self, *, last: bool) -> Iterator[Cut]:
        """Yield the chunks that later text cannot change; all of them when this is the `last` text."""
        text = "".join(self._texts)
        starts = token_starts(text)
        sure = len(text) if last else (starts[-1] if starts else 0)
        at, known = 0, self._overlap  # where the chunk begins, and where its new text does
        while known < len(text):
            stop = self._stop(starts, at, known, len(text))
            if stop >= sure and not (last and stop == len(text)):
                break
            yield self._cut(text, at, known, stop)
            at, known = self._back(starts, at, stop), stop
        self._keep(text, at, known)

    def _stop(self, starts: list[int], at: int, known: int, end: int) -> int:
        most = at + self._options.size * WORD_MAX
        first = bisect_left(starts, at)
        stop = starts[first + self._options.size] if first + self._options.size < len(starts) else end
        if stop <= most:
            return stop
        place = bisect_right(starts, most) - 1
        return starts[place] if place >= 0 and starts[place] > known else most

    def _back(self, starts: list[int], at: int, stop: int) -> int:
        """Return where the chunk after `[at, stop)` begins: at one of its last tokens."""
        overlap = self._options.overlap
        first, after = bisect_left(starts, at), bisect_left(starts, stop)
        back = starts[max(first, after - overlap)] if overlap and after > first else stop
        return back if stop - back <= overlap * WORD_MAX else stop

    def _cut(self, text: str, at: int, known: int, stop: int) -> Cut:
        piece = self._pieces[bisect_right(self._pieces, known, key=itemgetter(0)) - 1][1]
        return Cut(
            text=text[at:stop],
            overlap=known - at,
            kind=piece.kind,
            page=piece.page,
            headings=piece.headings,
            language=piece.language,
        )

    def _keep(self, text: str, at: int, known: int) -> None:
        if not text:
            return
        place = bisect_right(self._pieces, at, key=itemgetter(0)) - 1
        self._pieces = [(max(0, begins - at), piece) for begins, piece in self._pieces[place:]]
        self._texts = [text[at:]]
        self.size, self._overlap = len(text) - at, known - at


DEFAULT = Chunking()


def cut(pieces: Iterable[Piece], options: Chunking = DEFAULT, note: Note = lambda _: None) -> Iterator[Cut]:
    """Yield the chunks of a document in order, none of more than `options.size` tokens.

    Their texts without the overlaps join to the text of the pieces, exactly. How the pieces are divided makes no
    difference where their kinds, headings and languages are equal, unless 64,000 blanks follow each other. Where there
    are more blanks than a chunk holds, a chunk may be blank.
    `note` is called with what was done otherwise than requested.

    Raises:
        InvalidInput: the options are not valid, or the strategy is `ast` and a grammar is not installed.
    """
    check(options)
    return cut_fixed(pieces, options) if options.strategy == "fixed" else pack(units(pieces, options, note), options)


class Preview(Struct, frozen=True, kw_only=True):
    """A chunk as it would be cut. It covers the characters `[start, stop)` of the document's text.

    The first `overlap` characters belong to the chunk before as well. `beginning` is the text after them, cut short.
    """

    start: int
    stop: int
    overlap: int
    tokens: int
    kind: PieceKind
    page: int | None
    headings: tuple[str, ...]
    language: str | None
    symbol: str | None
    beginning: str


BEGINNING = 80  # characters


def preview(pieces: Iterable[Piece], options: Chunking = DEFAULT) -> Iterator[Preview]:
    """Yield where a document would be cut. Nothing is stored.

    Raises:
        InvalidInput: see `cut`.
    """
    return _previews(cut(pieces, options))


def _previews(cuts: Iterable[Cut]) -> Iterator[Preview]:
    at = 0
    for one in cuts:
        start, at = at - one.overlap, at + len(one.text) - one.overlap
        yield Preview(
            start=start,
            stop=at,
            overlap=one.overlap,
            tokens=count_tokens(one.text),
            kind=one.kind,
            page=one.page,
            headings=one.headings,
            language=one.language,
            symbol=one.symbol,
            beginning=" ".join(one.text[one.overlap : one.overlap + 2 * BEGINNING].split())[:BEGINNING],
        )
