"""What a file is, as its content tells: the first bytes, the tables, the names of the first members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import msgspec

from service.importers.items import Json, Unreadable
from service.importers.sources import SQLITE, Source, json_shape, tables

Kind = Literal["folder", "sqlite", "zip", "object", "array", "lines", "text"]
TABLES = ("memories", "exchanges", "sessions", "history", "memory_graph", "memory_embeddings")


@dataclass(frozen=True)
class Shape:
    """What can be seen of a source without reading it."""

    source: Source
    kind: Kind
    names: Sequence[str] = ()  # of a JSON object, or of the first item of an array
    first: Json = field(default_factory=dict)  # the object in the first line
    members: Sequence[str] = ()  # of an archive

    @cached_property
    def tables(self) -> Mapping[str, list[str]]:
        """The columns of the tables that somebody may know."""
        if self.kind != "sqlite":
            return {}
        with tables(self.source) as opened:
            return {name: columns for name in TABLES if (columns := opened.columns(name))}

    @cached_property
    def text(self) -> str:
        """The beginning of a file."""
        return self.source.head().decode("utf-8", "replace").removeprefix("\ufeff")

    def has(self, *names: str) -> bool:
        """Whether the JSON begins with an object that has these members."""
        return set(names) <= set(self.names)


def shape_of(source: Source) -> Shape:
    """Look at a source.

    Raises:
        Unreadable: it is damaged.
    """
    if source.is_folder:
        return Shape(source, "folder")
    head = source.head()
    if not head.strip():
        raise Unreadable(f"{source.name}: the file is empty")
    if head.startswith(SQLITE):
        return Shape(source, "sqlite")
    if head.startswith(b"PK"):
        return Shape(source, "zip", members=source.members())
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"{":
        first = _object(text.split(b"\n", 1)[0])
        if first and _object(text.split(b"\n", 2)[1] if text.count(b"\n") else b"{}") is not None:
            return Shape(source, "lines", names=list(first), first=first)
    if text[:1] in (b"{", b"["):
        with source.open() as file:
            opened, names = json_shape(file)
        return Shape(source, "object" if opened == "{" else "array", names=names)
    return Shape(source, "text")


def _object(line: bytes) -> Any:
    """The JSON object in a line, an empty one for an empty line, None when it is none."""
    if not line.strip():
        return {}
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
