"""JSON of other systems: a line or an item at a time, with the place where it stands."""

import io
from collections.abc import Iterator
from typing import IO, Any, cast

import ijson
import msgspec

from service.importers.items import Failed, Json, Unreadable

LINE_MAX = 16 << 20  # bytes


def json_lines(file: IO[bytes], name: str) -> Iterator[tuple[str, Json | Failed]]:
    """The object in each line, with its place. A byte order mark, empty lines and carriage returns do no harm."""
    number = 0
    while line := file.readline(LINE_MAX + 1):
        number += 1
        place = f"{name}:{number}"
        if len(line) > LINE_MAX:
            raise Unreadable(f"{place}: the line is longer than {LINE_MAX:,} bytes")
        line = line.removeprefix(b"\xef\xbb\xbf").strip()
        if line:
            yield place, json_object(line, place)


def json_object(data: bytes | str, place: str) -> Json | Failed:
    """The JSON object in some bytes."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Failed(place, f"is no JSON: {error}")
    return cast(Json, found) if isinstance(found, dict) else Failed(place, "is no JSON object")


def json_items(file: IO[bytes], path: str, name: str) -> Iterator[tuple[str, Any]]:
    """The items at a path of a JSON document, one at a time, with their places: `item` are those of an array.

    Raises:
        Unreadable: from here on it is no JSON.
    """
    number = 0
    try:
        _skip_mark(file)
        for item in ijson.items(file, path, use_float=True):
            number += 1
            yield f"{name} {path.removesuffix('.item').removesuffix('item') or 'item'}[{number - 1}]", item
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError, RecursionError) as error:
        told = str(error).splitlines()
        raise Unreadable(
            f"{name}: behind item {number - 1} of {path!r} it is no JSON ({told[0] if told else ''})"
        ) from None


def json_shape(file: IO[bytes]) -> tuple[str, list[str]]:
    """What a JSON document begins with, `{` or `[`, and the names of its members, of its first item's for a list."""
    names: list[str] = []
    opened = ""
    try:
        _skip_mark(file)
        for event, (prefix, kind, value) in enumerate(ijson.parse(file, use_float=True)):
            if not event:
                opened = {"start_map": "{", "start_array": "["}.get(kind, "")
            wanted = "" if opened == "{" else "item"
            if kind == "map_key" and prefix == wanted:
                names.append(str(value))
            if not opened or (opened == "[" and kind == "end_map" and prefix == "item") or event > 200_000:
                break
    except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError):
        pass  # what was seen may be enough to know it by; reading it will say where it is damaged
    return opened, names


def _skip_mark(file: IO[bytes]) -> None:
    if isinstance(file, io.BufferedReader) and file.peek(3)[:3] == b"\xef\xbb\xbf":
        file.read(3)
