"""Parts of documents on their way from a file to memories: pieces that parsers give, cuts that chunkers make."""

from typing import Literal

from msgspec import Struct

# What a piece is, which tells a chunker where it may cut.
PieceKind = Literal["text", "heading", "table", "code", "list", "note"]


class Piece(Struct, frozen=True, kw_only=True):
    """A stretch of a document's text. All pieces of a document, joined, are its text.

    `page` counts from 1: a page, a slide or a sheet; None where the format has none. `headings` are the titles above
    the piece, outermost first. `language` is a programming language or a language tag, when it is known.
    """

    text: str
    kind: PieceKind = "text"
    page: int | None = None
    headings: tuple[str, ...] = ()
    language: str | None = None


class Cut(Struct, frozen=True, kw_only=True):
    """A chunk of a document. The texts of all cuts without their first `overlap` characters, joined, are its text.

    `page`, `headings` and `language` are those of the piece in which the chunk begins after its overlap. `symbol` is
    the qualified name of the definition that a chunk of code is in. `defines` names those that begin in the chunk.
    """

    text: str
    overlap: int = 0
    kind: PieceKind = "text"
    page: int | None = None
    headings: tuple[str, ...] = ()
    language: str | None = None
    symbol: str | None = None
    defines: tuple[str, ...] = ()
