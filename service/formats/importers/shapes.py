"""Reads JSON a line or an item at a time, and describes a file by its content, for importers to recognise."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Any, Literal, cast

import ijson
import msgspec

from muisti.service.formats.importers.items import Failed, Json, Unreadable
from muisti.service.formats.importers.source_files import SQLITE, Part, Source, tables

LINE_MAX = 16 << 20  # bytes
DEPTH_MAX = 200
_BROKEN = (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError)  # what reading broken JSON raises

Event = tuple[int, str, Any]  # its depth, its kind, its value


def json_lines(part: Part | Source) -> Iterator[tuple[str, Json | Failed]]:
    """Yield the object in each line, with its place. Byte order marks, empty lines and carriage returns are skipped."""
    for place, found in json_values(part):
        yield place, found if isinstance(found, dict | Failed) else Failed(place, "is no JSON object")


def json_values(part: Part | Source) -> Iterator[tuple[str, Any]]:
    """Yield the value in each line, or a failure, with its place. What `json_lines` skips is skipped here too."""
    number = 0
    with part.open() as file:
        while line := file.readline(LINE_MAX + 1):
            number += 1
            place = f"{part.name}:{number}"
            if len(line) > LINE_MAX:
                while line and not line.endswith(b"\n"):
                    line = file.readline(LINE_MAX)
                yield place, Failed(place, f"the line is longer than {LINE_MAX:,} bytes")
                continue
            line = line.removeprefix(b"\xef\xbb\xbf").strip()
            if line:
                yield place, _value(line, place)


def json_object(data: object, place: str) -> Json | Failed:
    """Decode a JSON object, or take one that is decoded; return a failure with `place` when it is none."""
    found = _value(data, place) if isinstance(data, bytes | str) else data
    return found if isinstance(found, dict | Failed) else Failed(place, "is no JSON object")


def _value(data: bytes | str, place: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Failed(place, f"is no JSON: {error}")


def json_items(part: Part | Source, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the items at a path of a JSON document, one at a time, with their places.

    The path `item` means those of an array, `x.item` those of the array `x` of an object, and an empty path the whole
    document.

    Raises:
        Unreadable: from here on the file is no JSON.
    """
    number = 0
    level = path.count(".") + 1 if path else 0
    try:
        with part.open() as file:
            _skip_mark(file)
            for item in _built(_inside(_events(file), path, level) if level else _events(file), level):
                number += 1
                yield f"{part.name} {path.removesuffix('.item') or 'item'}[{number - 1}]", item
    except _BROKEN as error:
        messages = str(error).splitlines()
        listed = path.removesuffix("item").removesuffix(".")
        what = f"the list {listed!r}" if listed else "the list" if path else "the document"
        where = f"after item {number - 1} of {what}" if number else f"before the first item of {what}"
        raise Unreadable(f"{part.name}: {where} it is no JSON ({messages[0] if messages else ''})") from None


def first_items(part: Part | Source, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the items of the first of these lists that has any: an empty list must not hide a filled one."""
    for name in names:
        place = ""
        for place, item in json_items(part, f"{name}.item"):
            yield place, item
        if place:
            return


def json_members(part: Part | Source) -> Iterator[tuple[str, str, Any]]:
    """Yield the members of a JSON object, one at a time: the place, the name and the value of each.

    Raises:
        Unreadable: from here on the file is no JSON.
    """
    key = ""
    number = 0
    builder = ijson.ObjectBuilder()
    try:
        with part.open() as file:
            _skip_mark(file)
            for depth, event, value in _events(file):
                if depth == 0:
                    continue
                if depth == 1 and event == "map_key":
                    key = str(value)
                    continue
                builder.event(event, value)
                if depth == 1 and not event.startswith("start"):
                    number += 1
                    yield f"{part.name} {key!r}", key, builder.value
                    builder = ijson.ObjectBuilder()
    except _BROKEN as error:
        where = f"after its member {key!r}" if number else "before its first member"
        message = (str(error).splitlines() or [""])[0]
        raise Unreadable(f"{part.name}: {where} the object is no JSON ({message})") from None


def json_header(part: Part | Source, listed: str) -> tuple[Json, int]:
    """Return the members of a JSON object but the list `listed`, and how many items that list has.

    Of a broken document the members before the break: who reads the list names the place.
    """
    found: Json = {}
    key, count = "", 0
    builder = ijson.ObjectBuilder()
    with suppress(Unreadable):
        for depth, event, value in json_events(part):
            if depth == 1 and event == "map_key":
                key, builder = str(value), ijson.ObjectBuilder()
            elif key == listed:
                count += depth == 2 and not event.startswith("start") and event != "map_key"
            elif depth:
                builder.event(event, value)
                if depth == 1 and not event.startswith("start"):
                    found[key] = builder.value
    return found, count


def json_shape(part: Part | Source) -> tuple[str, list[str]]:
    """Return how a JSON document begins, `{` or `[`, and the names of its members or of its first item's members."""
    names: list[str] = []
    opened = ""
    try:
        with part.open() as file:
            _skip_mark(file)
            for number, (depth, event, value) in enumerate(_events(file)):
                if not number:
                    opened = {"start_map": "{", "start_array": "["}.get(event, "")
                if event == "map_key" and depth == (1 if opened == "{" else 2):
                    names.append(str(value))
                if not opened or (opened == "[" and event == "end_map" and depth == 1) or number > 200_000:
                    break
    except _BROKEN:
        pass  # the names so far may suffice to recognise the file; reading it will report the damage
    return opened, names


def _events(file: IO[bytes]) -> Iterator[Event]:
    """Parse a JSON document into events with their depth. Raises ValueError when it is nested too deeply."""
    depth = 0
    for event, value in cast(Iterator[tuple[str, Any]], ijson.basic_parse(file, use_float=True)):
        if event.startswith("end"):
            depth -= 1
        yield depth, event, value
        if event.startswith("start"):
            depth += 1
            if depth > DEPTH_MAX:  # ijson's paths of values would take memory with the square of the depth
                raise ValueError(f"is nested more than {DEPTH_MAX} deep")


def json_events(part: Part | Source) -> Iterator[Event]:
    """Yield the events of a JSON document.

    Raises:
        Unreadable: from here on the file is no JSON.
    """
    try:
        with part.open() as file:
            _skip_mark(file)
            yield from _events(file)
    except _BROKEN as error:
        raise Unreadable(f"{part.name}: it is no JSON ({(str(error).splitlines() or [''])[0]})") from None


def _inside(events: Iterator[Event], path: str, level: int) -> Iterator[Event]:
    """Yield the events of the items of a list."""
    wanted = path.removesuffix(".item") if level > 1 else None
    key, is_here = None, False
    for depth, event, value in events:
        if depth >= level:
            if is_here:
                yield depth, event, value
        elif event == "map_key":
            key = value
        elif depth == level - 1:
            is_here = event == "start_array" and key == wanted


def _built(events: Iterator[Event], level: int) -> Iterator[Any]:
    """Build the values whose events begin and end at a level."""
    builder = ijson.ObjectBuilder()
    for depth, event, value in events:
        builder.event(event, value)
        if depth == level and not event.startswith("start") and event != "map_key":
            yield builder.value
            builder = ijson.ObjectBuilder()


def _skip_mark(file: IO[bytes]) -> None:
    if isinstance(file, io.BufferedReader) and file.peek(3)[:3] == b"\xef\xbb\xbf":
        file.read(3)


Kind = Literal["folder", "zip", "sqlite", "object", "array", "lines", "string", "text"]
TABLES = ("memories", "exchanges", "history", "schema_migrations", "ItemTable")
HEAD = 65_536  # bytes, of a file
NOTES = 50  # notes of a folder whose beginnings are read
TRANSCRIPTS = 20  # files of JSON of a folder whose beginnings are read
LINES = 20  # lines of a file
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

    @cached_property
    def heads(self) -> Sequence[str]:
        """The beginnings of a file of JSON, or of the first such files in a folder or archive."""
        if not self.is_many:
            return (self.text,) if self.kind in ("object", "array", "lines") else ()
        with self.source.parts() as parts:
            return [_text(part.head()) for part in islice((one for one in parts if _is_json(one.name)), TRANSCRIPTS)]

    def says(self, *names: str) -> bool:
        """Tell whether a file of JSON has all these names of members near its beginning."""
        return any(all(f'"{name}"' in head for name in names) for head in self.heads)

    @cached_property
    def lines(self) -> Sequence[Json]:
        """The objects in the first lines of a file of JSON lines, or of several such files in a folder or archive."""
        if self.kind == "lines":
            return list(_objects(self.source.head(HEAD)))
        if not self.is_many or not any(name.endswith(".jsonl") for name in self.members):
            return []
        with self.source.parts() as parts:
            heads = (part.head(HEAD) for part in parts if part.name.endswith(".jsonl"))
            return [line for head in islice(heads, TRANSCRIPTS) for line in _objects(head)]

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
        opened, names = json_shape(source)
        return Shape(source, "object" if opened == "{" else "array", names=names)
    if text[:1] == b'"':
        return Shape(source, "string")
    return Shape(source, "text", members=[source.name], texts=[_text(head)])


def _shape_of_many(source: Source, parts: Sequence[Part]) -> Shape:
    names: list[str] = []
    listing = next((part for part in parts if _LISTS.fullmatch(PurePosixPath(part.name).name)), None)
    if listing is not None:
        _, names = json_shape(listing)
    notes = islice((part for part in parts if part.name.endswith(".md")), NOTES)
    return Shape(
        source,
        "folder" if source.is_folder else "zip",
        names=names,
        members=[part.name for part in parts],
        texts=[_text(part.head(4_096)) for part in notes],
    )


def _is_json(name: str) -> bool:
    return name.lower().endswith(".json")


def _text(head: bytes) -> str:
    return head.decode("utf-8", "replace").removeprefix("\ufeff")


def _objects(head: bytes) -> Iterator[Json]:
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", LINES)[:LINES]
    return (found for line in lines if (found := _object(line)))


def _object(line: bytes) -> Any:
    """Decode the JSON object in a line; empty for an empty line, None when the line is no object."""
    if not line.strip():
        return {}
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
