"""Replies about source code: symbols, what uses them, outlines of files and maps."""

from typing import Annotated, cast, get_args

from msgspec import Meta, Struct

from muisti.core.model.code import (
    Certainty,
    CodeMap,
    Outline,
    Symbol,
    Symbols,
    Use,
    Uses,
)
from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import EDGE_KINDS, SYMBOL_KINDS, EdgeKind, SymbolKind
from muisti.service.schemas import fields
from muisti.service.schemas.copying import copied

KindText = Annotated[str, Meta(extra_json_schema={"enum": list(SYMBOL_KINDS)})]
EdgeText = Annotated[str, Meta(extra_json_schema={"enum": list(EDGE_KINDS)})]
CertaintyText = Annotated[
    str,
    Meta(
        description="`probable`: the only definition of that name, in a language whose types are not followed.",
        extra_json_schema={"enum": list(get_args(Certainty))},
    ),
]
Pending = Annotated[int, Meta(description="Source files that are stored and not resolved yet.", ge=0)]
Degraded = Annotated[list[str], Meta(description="Parts of the request that could not be done, in words.")]


class SymbolReply(Struct, frozen=True, kw_only=True):
    """A definition in a source file. Lines count from 1."""

    name: str
    qualified: Annotated[str, Meta(description="Its name with those around it.", examples=["Client.get"])]
    kind: KindText
    path: str
    document: fields.MemoryId
    language: str
    start: int
    end: int
    signature: str
    doc: Annotated[str, Meta(description="First line of its documentation.")]
    category: str | None

    @classmethod
    def of(cls, one: Symbol) -> "SymbolReply":
        return copied(cls, one)


class SymbolsReply(Struct, frozen=True, kw_only=True):
    """Symbols that were found, the best first; `total` counts them before the limit."""

    items: list[SymbolReply]
    total: int
    pending: Pending
    degraded: Degraded
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Symbols) -> "SymbolsReply":
        items = [SymbolReply.of(one) for one in found.items]
        return cls(
            items=items, total=found.total, pending=found.pending, degraded=list(found.degraded), seq=str(found.seq)
        )


class UseReply(Struct, frozen=True, kw_only=True):
    """A use of a symbol: the symbol on the other side, or the file that uses at its top level."""

    kind: EdgeText
    symbol: SymbolReply | None
    path: str
    used_in: Annotated[str, Meta(description="Path of the file that uses.")]
    lines: Annotated[list[int], Meta(description="Lines of the uses, in the file `used_in`.")]
    certainty: CertaintyText
    of: Annotated[str, Meta(description="Qualified name on the side that was asked about.")]

    @classmethod
    def of_use(cls, one: Use) -> "UseReply":
        return cls(
            kind=one.kind,
            symbol=None if one.symbol is None else SymbolReply.of(one.symbol),
            path=one.path,
            used_in=one.used_in,
            lines=list(one.lines),
            certainty=one.certainty,
            of=one.of,
        )


class UsesReply(Struct, frozen=True, kw_only=True):
    """Uses of or by `symbols`, all that have the name that was asked about."""

    symbols: list[SymbolReply]
    items: list[UseReply]
    total: int
    pending: Pending
    degraded: Degraded
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Uses) -> "UsesReply":
        return cls(
            symbols=[SymbolReply.of(one) for one in found.symbols],
            items=[UseReply.of_use(one) for one in found.items],
            total=found.total,
            pending=found.pending,
            degraded=list(found.degraded),
            seq=str(found.seq),
        )


class OutlineReply(Struct, frozen=True, kw_only=True):
    """The symbols of a file in order, and the files of the space that it imports."""

    path: str
    document: fields.MemoryId
    language: str
    symbols: list[SymbolReply]
    imports: list[str]
    unresolved: Annotated[int, Meta(description="Uses of names that are defined in no file of the space.", ge=0)]
    pending: Pending
    degraded: Degraded
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Outline) -> "OutlineReply":
        return cls(
            path=found.path,
            document=found.document,
            language=found.language,
            symbols=[SymbolReply.of(one) for one in found.symbols],
            imports=list(found.imports),
            unresolved=found.unresolved,
            pending=found.pending,
            degraded=list(found.degraded),
            seq=str(found.seq),
        )


class CodeMapReply(Struct, frozen=True, kw_only=True):
    """A text of the definitions that are used most, by file. `of_symbols` counts all definitions."""

    text: str
    tokens: Annotated[int, Meta(description="Tokens of the text in cl100k_base, exactly.")]
    files: int
    symbols: int
    of_symbols: int
    pending: Pending
    degraded: Degraded
    seq: fields.SeqText

    @classmethod
    def of(cls, found: CodeMap) -> "CodeMapReply":
        return copied(cls, found, degraded=list(found.degraded), seq=str(found.seq))


def edge_kinds(text: str | None) -> tuple[EdgeKind, ...]:
    """Read kinds of uses with commas between; calls alone when there is none.

    Raises:
        InvalidInput: one is unknown.
    """
    names = names_in(text) or ["calls"]
    if unknown := [name for name in names if name not in EDGE_KINDS]:
        raise InvalidInput.at("$.kinds", f"{unknown[0][:80]!r} is none of {', '.join(EDGE_KINDS)}")
    return cast(tuple[EdgeKind, ...], tuple(names))


def symbol_kind(text: str | None) -> SymbolKind | None:
    """Read the kind of a symbol.

    Raises:
        InvalidInput: it is unknown.
    """
    if text is not None and text not in SYMBOL_KINDS:
        raise InvalidInput.at("$.kind", f"{text[:80]!r} is none of {', '.join(SYMBOL_KINDS)}")
    return cast("SymbolKind | None", text)


def names_in(text: str | None) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
