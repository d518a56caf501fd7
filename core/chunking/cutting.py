"""Cut documents into chunks, in a stream: memory is bounded however long the document is."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from muisti.core.chunking.fixed import cut_fixed
from muisti.core.chunking.options import Chunking, check
from muisti.core.chunking.packing import pack
from muisti.core.chunking.units import Note, units
from muisti.core.model.documents import Cut, Piece, PieceKind
from muisti.core.text.terms import count_tokens

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
