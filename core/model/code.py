"""Source code as callers see it: symbols, uses of symbols, outlines of files, and maps of repositories."""

from typing import Literal

from msgspec import Struct

from muisti.core.model.terms import EdgeKind, SymbolKind
from muisti.core.model.values import Seq

Certainty = Literal["certain", "probable"]


class Symbol(Struct, frozen=True, kw_only=True):
    """A definition in a source file. `document` is the id of the document. Lines count from 1."""

    name: str
    qualified: str
    kind: SymbolKind
    path: str
    document: str
    language: str
    start: int
    end: int
    signature: str
    doc: str
    category: str | None = None


class Use(Struct, frozen=True, kw_only=True):
    """A use of a symbol. `symbol` is None for a file: one whose top level uses, or one that is used as a whole."""

    kind: EdgeKind
    symbol: Symbol | None
    path: str
    used_in: str  # path of the file that has `lines`
    lines: tuple[int, ...]
    certainty: Certainty
    of: str  # the qualified name on the other side


class Symbols(Struct, frozen=True, kw_only=True):
    """Symbols that were found, the best first. `pending` files are not read or resolved yet; `degraded` says why."""

    items: tuple[Symbol, ...]
    total: int
    pending: int
    degraded: tuple[str, ...]
    seq: Seq


class Uses(Struct, frozen=True, kw_only=True):
    """Uses of or by the symbols that have a name. `total` counts them before the limit."""

    symbols: tuple[Symbol, ...]
    items: tuple[Use, ...]
    total: int
    pending: int
    degraded: tuple[str, ...]
    seq: Seq


class Outline(Struct, frozen=True, kw_only=True):
    """The symbols of a file in order, with what it imports from other files."""

    path: str
    document: str
    language: str
    symbols: tuple[Symbol, ...]
    imports: tuple[str, ...]
    unresolved: int
    pending: int
    degraded: tuple[str, ...]
    seq: Seq


class CodeMap(Struct, frozen=True, kw_only=True):
    """A text of the most used definitions of a repository, within a number of tokens."""

    text: str
    tokens: int
    files: int
    symbols: int
    of_symbols: int
    pending: int
    degraded: tuple[str, ...]
    seq: Seq


class Resolution(Struct, frozen=True, kw_only=True):
    """Files that were read, resolved and dropped, and the number that is left."""

    read: int = 0
    resolved: int = 0
    dropped: int = 0
    pending: int = 0
