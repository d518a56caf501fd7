"""Chunks of a fixed number of tokens, whatever the text says. A change moves all borders after it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter

from muisti.core.chunking.options import Chunking
from muisti.core.model.documents import Cut, Piece
from muisti.core.text.terms import WORD_MAX, token_starts

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
        """Return where a chunk ends that begins at `at`."""
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
        """Keep the text from `at` on for later."""
        if not text:
            return
        place = bisect_right(self._pieces, at, key=itemgetter(0)) - 1
        self._pieces = [(max(0, begins - at), piece) for begins, piece in self._pieces[place:]]
        self._texts = [text[at:]]
        self.size, self._overlap = len(text) - at, known - at
