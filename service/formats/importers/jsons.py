"""Reads JSON of other systems a line or an item at a time, with its place in the file."""

import io
from collections.abc import Iterator
from typing import IO, Any, cast

import ijson
import msgspec

from muisti.service.formats.importers.items import Failed, Json, Unreadable

LINE_MAX = 16 << 20  # bytes
DEPTH_MAX = 200

Event = tuple[int, str, Any]  # its depth, its kind, its value


def json_lines(file: IO[bytes], name: str) -> Iterator[tuple[str, Json | Failed]]:
    """Yield the object in each line, with its place. Byte order marks, empty lines and carriage returns are skipped."""
    for place, found in json_values(file, name):
        yield place, found if isinstance(found, dict | Failed) else Failed(place, "is no JSON object")


def json_values(file: IO[bytes], name: str) -> Iterator[tuple[str, Any]]:
    """Yield the value in each line, or a failure, with its place. What `json_lines` skips is skipped here too."""
    number = 0
    while line := file.readline(LINE_MAX + 1):
        number += 1
        place = f"{name}:{number}"
        if len(line) > LINE_MAX:
            raise Unreadable(f"{place}: the line is longer than {LINE_MAX:,} bytes")
        line = line.removeprefix(b"\xef\xbb\xbf").strip()
        if line:
            yield place, _value(line, place)


def json_object(data: bytes | str, place: str) -> Json | Failed:
    """Decode a JSON object; return a failure with `place` when it is none."""
    found = _value(data, place)
    return found if isinstance(found, dict | Failed) else Failed(place, "is no JSON object")


def _value(data: bytes | str, place: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Failed(place, f"is no JSON: {error}")


def json_items(file: IO[bytes], path: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the items at a path of a JSON document, one at a time, with their places.

    The path `item` means those of an array, `x.item` those of the array `x` of an object, and an empty path the whole
    document.

    Raises:
        Unreadable: from here on the file is no JSON.
    """
    number = 0
    level = path.count(".") + 1 if path else 0
    try:
        _skip_mark(file)
        for item in _built(_inside(_events(file), path, level) if level else _events(file), level):
            number += 1
            yield f"{name} {path.removesuffix('.item') or 'item'}[{number - 1}]", item
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError) as error:
        messages = str(error).splitlines()
        listed = path.removesuffix("item").removesuffix(".")
        what = f"the list {listed!r}" if listed else "the list" if path else "the document"
        where = f"after item {number - 1} of {what}" if number else f"before the first item of {what}"
        raise Unreadable(f"{name}: {where} it is no JSON ({messages[0] if messages else ''})") from None


def json_members(file: IO[bytes], name: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the members of a JSON object, one at a time: the place, the name and the value of each.

    Raises:
        Unreadable: from here on the file is no JSON.
    """
    key = ""
    number = 0
    builder = ijson.ObjectBuilder()
    try:
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
                yield f"{name} {key!r}", key, builder.value
                builder = ijson.ObjectBuilder()
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError) as error:
        where = f"after its member {key!r}" if number else "before its first member"
        raise Unreadable(f"{name}: {where} the object is no JSON ({(str(error).splitlines() or [''])[0]})") from None


def json_shape(file: IO[bytes]) -> tuple[str, list[str]]:
    """Return how a JSON document begins, `{` or `[`, and the names of its members or of its first item's members."""
    names: list[str] = []
    opened = ""
    try:
        _skip_mark(file)
        for number, (depth, event, value) in enumerate(_events(file)):
            if not number:
                opened = {"start_map": "{", "start_array": "["}.get(event, "")
            if event == "map_key" and depth == (1 if opened == "{" else 2):
                names.append(str(value))
            if not opened or (opened == "[" and event == "end_map" and depth == 1) or number > 200_000:
                break
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError):
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
