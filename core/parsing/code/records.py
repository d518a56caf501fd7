"""Records of source files: what a file defines, imports, binds and uses. A record is a pure function of path and text.

Names are chains: `self.client.get()` is `("self", "client", "get", "()")`. In a chain `()` calls what is before it,
`[]` takes an element, `@new` makes an instance. A type is a chain too. It may begin with
`[*]` (a collection of it), `{*}` (a mapping to it) or `@` (the class itself, no instance).
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from muisti.core.model.anchors import text_hash

Chain = tuple[str, ...]
Kind = Literal["function", "method", "class", "interface", "type", "constant", "object"]
Use = Literal["call", "inherit", "reference"]
Form = Literal[
    "module",  # an imported module: its name
    "from",  # a name of an imported module: both names
    "type",  # declared types
    "value",  # values that were assigned
    "element",  # elements of the values
    "opaque",  # a name of which nothing is known
]
TOP = -1  # the scope of a module
CONTAINERS = frozenset({"class", "interface", "type", "object"})


class Definition(Struct, frozen=True, array_like=True):
    """A definition. `parent` is the number of the definition around it, `TOP` for none. Lines count from 1."""

    name: str
    qualified: str
    kind: Kind
    parent: int
    start: int
    end: int
    signature: str = ""
    doc: str = ""
    bases: tuple[Chain, ...] = ()
    parameters: tuple[str, ...] = ()
    returns: tuple[Chain, ...] = ()  # types, when they are declared
    gives: tuple[Chain, ...] = ()  # values, when no type is declared
    flags: tuple[str, ...] = ()  # `static`, `class`, `property`, `constructor`, and others of single languages


class Binding(Struct, frozen=True, array_like=True):
    """A name in a scope. Each chain is an alternative, to be evaluated in the scope `where`."""

    scope: int
    name: str
    form: Form
    chains: tuple[Chain, ...] = ()
    where: int = TOP


class Mention(Struct, frozen=True, array_like=True):
    """A use of a name in a scope: a call, a base class, or another reference. `column` counts bytes from 0."""

    scope: int
    use: Use
    chain: Chain
    line: int
    column: int


class Export(Struct, frozen=True, array_like=True):
    """A name that a module gives to others: a local name, or a name of `module`."""

    name: str
    local: str
    module: str = ""


class Record(Struct, frozen=True, array_like=True):
    """All that is known of one source file."""

    path: str
    language: str
    definitions: tuple[Definition, ...] = ()
    bindings: tuple[Binding, ...] = ()
    mentions: tuple[Mention, ...] = ()
    imports: tuple[tuple[str, int], ...] = ()  # names of modules, and lines
    stars: tuple[str, ...] = ()  # modules all of whose names belong to this one
    exports: tuple[Export, ...] = ()
    package: str = ""  # the package that the file says it belongs to


def hashes_of(record: Record, text: str) -> dict[str, list[str]]:
    """Return the hashes of the definitions of a file by qualified name."""
    found: dict[str, list[str]] = {}
    for one in record.definitions:
        if one.name:
            found.setdefault(one.qualified, []).append(text_hash(text, one.start, one.end))
    return found


def definition_of(found: Mapping[str, Sequence[str]], symbol: str) -> tuple[str, str] | None:
    """Return the whole name and the hash of the one definition that has a name, or whose name ends with it.

    >>> definition_of({"A.f": ["1"], "f": ["2"]}, "f"), definition_of({"A.f": ["1"], "B.f": ["2"]}, "f")
    (('f', '2'), None)
    """
    names = [name for name in found if name == symbol] or [name for name in found if name.endswith(f".{symbol}")]
    return (names[0], found[names[0]][0]) if len(names) == 1 else None


def interface(record: Record) -> bytes:
    """Return a hash of what other files can learn from a record: no lines, no documentation, nothing local."""
    functions = {number for number, one in enumerate(record.definitions) if one.kind not in CONTAINERS}
    seen = (
        record.language,
        record.package,
        record.stars,
        record.exports,
        tuple(
            (one.qualified, one.kind, one.bases, one.parameters[:1], one.returns, one.gives, one.flags)
            for one in record.definitions
            if one.parent not in functions
        ),
        # What functions bind can show through in the values that they give.
        tuple(
            one
            for one in record.bindings
            if one.scope not in functions or (one.form != "opaque" and record.definitions[one.scope].gives)
        ),
    )
    return hashlib.sha256(msgspec.msgpack.encode(seen)).digest()[:16]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Record)


def pack(record: Record) -> bytes:
    """Return a record as bytes."""
    return _ENCODER.encode(record)


def unpack(data: bytes) -> Record:
    """Return the record of `pack`.

    Raises:
        msgspec.DecodeError: these are no bytes of a record.
    """
    return _DECODER.decode(data)
