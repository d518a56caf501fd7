"""Describes a file by its content, for importers to recognise: first bytes, tables, names of the first members."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec

from muisti.service.formats.importers.databases import tables
from muisti.service.formats.importers.items import Json, Unreadable
from muisti.service.formats.importers.jsons import json_shape
from muisti.service.formats.importers.source_files import SQLITE, Part, Source

Kind = Literal["folder", "zip", "sqlite", "object", "array", "lines", "string", "text"]
TABLES = ("memories", "exchanges", "history", "schema_migrations")
HEAD = 65_536  # bytes, of a file
NOTES = 50  # notes of a folder whose beginnings are read
_LISTS = re.compile(r"(conversations|memories|projects)(-\d+)?\.json")


@dataclass(frozen=True)
class Shape:
    """The features of a source that can be seen without reading all of it.

    For a folder or an archive, `members` are its files and `texts` the beginnings of its notes. `names` are those of
    the first item of the list of conversations, memories or projects that it has.
    """

    source: Source
    kind: Kind
    names: Sequence[str] = ()  # of a JSON object, or of the first item of an array
    first: Json = field(default_factory=dict)  # the object in the first line
    members: Sequence[str] = ()
    texts: Sequence[str] = ()

    @cached_property
    def tables(self) -> Mapping[str, list[str]]:
        """The columns of the tables that importers recognise."""
        if self.kind != "sqlite":
            return {}
        with tables(self.source) as opened:
            return {name: columns for name in TABLES if (columns := opened.columns(name))}

    @cached_property
    def text(self) -> str:
        """The beginning of a file."""
        return _text(self.source.head())

    @property
    def is_many(self) -> bool:
        """Tell whether it is a folder or an archive."""
        return self.kind in ("folder", "zip")

    def has(self, *names: str) -> bool:
        """Tell whether the JSON begins with an object that has these members."""
        return set(names) <= set(self.names)

    def holds(self, suffix: str) -> bool:
        """Tell whether there is a file whose name ends with `suffix`."""
        return any(one.endswith(suffix) for one in self.members)


def shape_of(source: Source) -> Shape:
    """Describe a source.

    Raises:
        Unreadable: the source is empty or damaged.
    """
    if source.is_folder or source.is_archive:
        with source.parts() as parts:
            return _shape_of_many(source, parts)
    head = source.head(HEAD)
    if not head.strip():
        raise Unreadable(f"{source.name}: the file is empty")
    if head.startswith(SQLITE):
        return Shape(source, "sqlite")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"{":
        first, *more = text.split(b"\n", 2)
        first = _object(first)
        is_cut = len(more) == 1 and len(head) == HEAD  # within the second line
        if first and (not more or is_cut or _object(more[0]) is not None):
            return Shape(source, "lines", names=list(first), first=first)
    if text[:1] in (b"{", b"["):
        with source.open() as file:
            opened, names = json_shape(file)
        return Shape(source, "object" if opened == "{" else "array", names=names)
    if text[:1] == b'"':
        return Shape(source, "string")
    return Shape(source, "text", members=[source.name], texts=[_text(head)])


def _shape_of_many(source: Source, parts: Sequence[Part]) -> Shape:
    names: list[str] = []
    listing = next((part for part in parts if _LISTS.fullmatch(PurePosixPath(part.name).name)), None)
    if listing is not None:
        with listing.open() as file:
            _, names = json_shape(file)
    notes = islice((part for part in parts if part.name.endswith(".md")), NOTES)
    return Shape(
        source,
        "folder" if source.is_folder else "zip",
        names=names,
        members=[part.name for part in parts],
        texts=[_text(part.head(4_096)) for part in notes],
    )


def _text(head: bytes) -> str:
    return head.decode("utf-8", "replace").removeprefix("\ufeff")


def _object(line: bytes) -> Any:
    """Decode the JSON object in a line; empty for an empty line, None when the line is no object."""
    if not line.strip():
        return {}
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
