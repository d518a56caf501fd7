"""Source code as callers see it: symbols, uses of symbols, outlines of files, and maps of repositories."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from muisti.core.model.choices import EdgeKind, SymbolKind
from muisti.core.model.values import MemoryId, SeqText

Certainty = Literal["certain", "probable"]
Pending = Annotated[int, Meta(description="Source files that are stored and not resolved yet.", ge=0)]
Degraded = Annotated[tuple[str, ...], Meta(description="Parts of the request that could not be done, in words.")]


class Symbol(Struct, frozen=True, kw_only=True):
    """A definition in a source file. Lines count from 1."""

    name: str
    qualified: Annotated[str, Meta(description="Its name with those around it.", examples=["Client.get"])]
    kind: SymbolKind
    path: str
    document: MemoryId
    language: str
    start: int
    end: int
    signature: str
    doc: Annotated[str, Meta(description="First line of its documentation.")]
    category: str | None


class Use(Struct, frozen=True, kw_only=True):
    """A use of a symbol: the symbol on the other side, or the file that uses at its top level."""

    kind: EdgeKind
    symbol: Symbol | None
    path: str
    used_in: Annotated[str, Meta(description="Path of the file that uses.")]
    lines: Annotated[tuple[int, ...], Meta(description="Lines of the uses, in the file `used_in`.")]
    certainty: Annotated[
        Certainty,
        Meta(description="`probable`: the only definition of that name, in a language whose types are not followed."),
    ]
    of: Annotated[str, Meta(description="Qualified name on the side that was asked about.")]


class Symbols(Struct, frozen=True, kw_only=True):
    """Symbols that were found, the best first; `total` counts them before the limit."""

    items: tuple[Symbol, ...]
    total: int
    pending: Pending
    degraded: Degraded
    seq: SeqText


class Uses(Struct, frozen=True, kw_only=True):
    """Uses of or by `symbols`, all that have the name that was asked about."""

    symbols: tuple[Symbol, ...]
    items: tuple[Use, ...]
    total: int
    pending: Pending
    degraded: Degraded
    seq: SeqText


class Outline(Struct, frozen=True, kw_only=True):
    """The symbols of a file in order, and the files of the space that it imports."""

    path: str
    document: MemoryId
    language: str
    symbols: tuple[Symbol, ...]
    imports: tuple[str, ...]
    unresolved: Annotated[int, Meta(description="Uses of names that are defined in no file of the space.", ge=0)]
    pending: Pending
    degraded: Degraded
    seq: SeqText


class CodeMap(Struct, frozen=True, kw_only=True):
    """A text of the definitions that are used most, by file. `of_symbols` counts all definitions."""

    text: str
    tokens: Annotated[int, Meta(description="Tokens of the text in cl100k_base, exactly.")]
    files: int
    symbols: int
    of_symbols: int
    pending: Pending
    degraded: Degraded
    seq: SeqText


class Resolution(Struct, frozen=True, kw_only=True):
    """Files that were read, resolved and dropped, and the number that is left."""

    read: int = 0
    resolved: int = 0
    dropped: int = 0
    pending: int = 0
