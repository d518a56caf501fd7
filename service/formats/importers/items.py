"""Items that importers yield, and their lines of an export: stable ids, times, limits, nothing lost."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import msgspec

from muisti.core.model.choices import CONTENT_MAX
from muisti.core.model.fields import TEXTS
from muisti.core.model.ids import imported_id
from muisti.core.model.values import METADATA_MAX, NAME_MAX, SOURCES_MAX, TAGS_MAX

Json = dict[str, Any]

LARGEST_SECONDS = 2e10  # a number above is in a finer unit: milliseconds, microseconds, nanoseconds
LARGEST_NUMBER = 1e30
_NAMES = {name: most for name, most in TEXTS.items() if name != "content"}  # long content is split
MOMENT = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Number of retrievals of a memory, and the time of the last, in RFC 3339."""

    count: int
    last: str


@dataclass(frozen=True, slots=True)
class Item:
    """A memory to import. `external` is its id in the other system, `place` its place in the file.

    `memory` has the API's fields. `rest` has the record's other fields, which go into the metadata under the name of
    the system. `supersedes`, `superseded_by`, `parent` and `sources` (what it is derived from) are such external ids.
    `own` is its id in Muisti, when the file has one: then the memory is stored exactly as the file says, or refused.
    `home` is its project or workspace in the other system. `retrieved` says how often it was retrieved there, and when
    last.
    """

    external: str
    place: str
    memory: Mapping[str, Any]
    rest: Mapping[str, Any] = field(default_factory=dict[str, Any])
    supersedes: str | None = None
    superseded_by: str | None = None
    parent: str | None = None
    sources: Sequence[str] = ()
    own: str | None = None
    home: str | None = None
    retrieved: "Retrieved | None" = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is left out on purpose."""

    place: str
    reason: str
    home: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A record that should be a memory and cannot be read."""

    place: str
    message: str
    home: str | None = None


Found = Item | Skipped | Failed


class Unreadable(Exception):
    """A file cannot be read from some place on. The message names the place."""


def lines_of(item: Item, system: str, space: str) -> Iterator[bytes]:
    """Yield the lines of a memory: one, or several when its text is longer than a memory may be."""
    if item.own is not None:
        metadata = {**item.memory.get("metadata", {}), **({system: storable(item.rest)} if item.rest else {})}
        memory = {**item.memory, "id": item.own, **({"metadata": metadata} if metadata else {})}
        yield _line(memory, item.place)
        return
    fields = _fitted({name: value for name, value in item.memory.items() if value not in (None, "", [], {})}, system)
    metadata = _metadata(fields.pop("metadata", {}), item.rest, system)
    links: Json = {
        name: imported_id(system, space, other)
        for name, other in (
            ("supersedes", item.supersedes), ("superseded_by", item.superseded_by), ("parent_id", item.parent),
        )
        if other is not None
    }  # fmt: skip
    if item.sources:
        links["derived_from"] = [imported_id(system, space, one) for one in item.sources[:SOURCES_MAX]]
    parts = split(clean(plain(fields.pop("content", ""))))
    for number, part in enumerate(parts, start=1):
        external = item.external if number == 1 else f"{item.external}\n{number}"
        which = {"part": f"{number}/{len(parts)}"} if len(parts) > 1 else {}
        memory = {"id": imported_id(system, space, external), "content": part, **fields, **links}
        memory["metadata"] = {**metadata, **which}
        if len(parts) > 1:
            memory = _parted(memory, number, imported_id(system, space, item.external))
        yield _line(memory, item.place, gives_way="kind" in memory)
    if item.retrieved is not None:
        telemetry = {"id": imported_id(system, space, item.external), "retrieval_count": item.retrieved.count}
        yield msgspec.json.encode({"type": "telemetry", **telemetry, "last_retrieved_at": item.retrieved.last})


def _parted(memory: Json, number: int, first: str) -> Json:
    """Return part `number` of a memory that is too long for one; `first` is the id of part 1.

    Part 1 alone has the key, and the turn of an exchange. The other parts of an exchange are chunks of it.
    """
    part = dict(memory)
    if part.get("structure", {}).get("reply_at", 0) >= len(part["content"]):
        part.pop("structure", None)
    if number == 1:
        return part
    part = {name: value for name, value in part.items() if name not in ("key", "turn", "structure")}
    return {**part, "kind": "chunk", "parent_id": first} if part.get("kind") == "exchange" else part


def _line(memory: Json, place: str, *, gives_way: bool = False) -> bytes:
    """Return a line of an export. `gives_way`: the memory leaves its place in a conversation to one that is there."""
    line = {"type": "memory", "memory": memory, "place": clean(place)[:1000]}
    return msgspec.json.encode({**line, "gives_way": True} if gives_way else line)


def bad_line(bad: Failed) -> bytes:
    """Return the line that reports a record that cannot be read."""
    return msgspec.json.encode({"type": "bad", "message": clean(bad.message)[:1000], "place": clean(bad.place)[:1000]})


def split(text: str, limit: int = CONTENT_MAX) -> list[str]:
    """Split a text into parts of at most `limit` characters, between paragraphs, lines or words where there are any.

    >>> split("one two three", 8)
    ['one two', 'three']
    """
    parts: list[str] = []
    while len(text) > limit:
        cuts = (text.rfind(mark, limit // 2, limit) for mark in ("\n\n", "\n", " "))
        cut = next((place for place in cuts if place > 0), limit)
        parts.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*parts, text] if text or not parts else parts


def clean(text: str) -> str:
    """Remove NULs and replace halves of surrogate pairs, which cannot be stored.

    >>> clean("a\\0b\\ud800")
    'ab\ufffd'
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text.replace("\0", ""))


def when(value: object) -> str | None:
    """Turn a time of another system into RFC 3339; None when it is no time. Without an offset it is UTC.

    >>> when(1_700_000_000), when("1700000000000"), when("2024-01-02"), when("soon")
    ('2023-11-14T22:13:20+00:00', '2023-11-14T22:13:20+00:00', '2024-01-02T00:00:00+00:00', None)
    """
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).isoformat()
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            return when(float(text))
        try:
            return when(datetime.fromisoformat(text))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST_NUMBER:
        return None
    while abs(value) > LARGEST_SECONDS:
        value /= 1000
    return (MOMENT + timedelta(microseconds=round(value * 1e6))).isoformat()


def retrieved(count: object, *times: object) -> Retrieved | None:
    """Return how often a memory was retrieved, and when last: the first readable of `times`. None for never.

    >>> retrieved(7, None, "2024-01-02"), retrieved("3", 0), retrieved(None, "2024-01-02"), retrieved(2.0)
    (Retrieved(count=7, last='2024-01-02T00:00:00+00:00'), Retrieved(count=3, last='1970-01-01T00:00:00+00:00'), None, \
Retrieved(count=2, last='1970-01-01T00:00:00+00:00'))
    """
    text = str(count) if isinstance(count, int | float | str) and not isinstance(count, bool) else ""
    number = re.fullmatch(r"([1-9]\d{0,14})(\.0+)?", text.strip())
    if number is None:
        return None
    last = next((moment for one in times if (moment := when(one)) is not None), MOMENT.isoformat())
    return Retrieved(int(number[1]), last)


def times(row: Mapping[str, Any], **names: str) -> tuple[Json, Json]:
    """Return the times of a memory by field, each read from the named value of a row, and the values that are no times.

    >>> times({"Created": "2024-01-02", "Changed": "soon"}, created_at="Created", updated_at="Changed")
    ({'created_at': '2024-01-02T00:00:00+00:00', 'updated_at': None}, {'Changed': 'soon'})
    """
    moments = {field: when(row.get(name)) for field, name in names.items()}
    return moments, without({name: row.get(name) for field, name in names.items() if moments[field] is None})


def validity(start: object, end: object) -> Json:
    """Return the fields of the time in which a fact holds; an end that is not after its start is left out.

    >>> validity("2024-01-02", 1_700_000_000)
    {'valid_from': '2024-01-02T00:00:00+00:00', 'valid_to': None}
    """
    since, until = when(start), when(end)
    if since and until and datetime.fromisoformat(until) <= datetime.fromisoformat(since):
        until = None
    return {"valid_from": since, "valid_to": until}


def words(value: object) -> list[str]:
    """Return a list of names, from a list or from a text with commas.

    >>> words("a, b,,"), words(["a", None, 3]), words(None)
    (['a', 'b'], ['a', '3'], [])
    """
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [text for one in cast(list[object], value) if one is not None and (text := plain(one).strip())]
    return []


def plain(value: object) -> str:
    """Return a value as text: a text as it is, everything else as JSON, never as Python writes it.

    >>> plain("a"), plain(None), plain(True), plain({"a": [1, None]})
    ('a', 'null', 'true', '{"a":[1,null]}')
    """
    return value if isinstance(value, str) else msgspec.json.encode(storable(value)).decode()


def text_of(value: object) -> str | None:
    """Return the value when it is a text that is not blank, else None."""
    return value if isinstance(value, str) and value.strip() else None


def record_of(value: object) -> Mapping[str, Any]:
    """Return the value when it is an object of JSON, else an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def dicts(value: object) -> list[Json]:
    """Return the objects in a list of JSON; none when the value is no list."""
    return (
        [cast(Json, one) for one in cast(list[object], value) if isinstance(one, dict)]
        if isinstance(value, list)
        else []
    )


def without(record: Mapping[str, Any], *names: str) -> Json:
    """Return a record without the named fields and without empty values."""
    return {name: value for name, value in record.items() if name not in names and value not in (None, "", [], {})}


def _fitted(memory: Json, system: str) -> Json:
    """Move values that are too long for their field into the metadata."""
    fitted = dict(memory)
    moved: Json = {}
    for name, limit in _NAMES.items():
        value = fitted.get(name)
        if value is None:
            continue
        value = fitted[name] = clean(plain(value)).strip()
        if not value or len(value) > limit:
            moved[name] = fitted.pop(name)
    if "category" not in fitted and "key" in fitted:
        moved["key"] = fitted.pop("key")
    tags = [clean(tag) for tag in words(fitted.pop("tags", []))]
    good = [tag for tag in dict.fromkeys(tags) if len(tag) <= NAME_MAX and tag.strip()]
    fitted["tags"] = good[:TAGS_MAX]
    left = [tag for tag in tags if tag not in fitted["tags"]]
    if left:
        moved["tags"] = left
    if moved:
        metadata = dict(fitted.get("metadata") or {})
        fitted["metadata"] = {**metadata, f"{system}_fields": moved}
    return fitted


def _metadata(own: Mapping[str, Any], rest: Mapping[str, Any], system: str) -> Json:
    """Return the metadata within its limits; `left_out` names the fields that did not fit."""
    whole = storable({**own, **({system: dict(rest)} if rest else {})})
    metadata = cast(Json, whole) if isinstance(whole, dict) else {}
    left: list[str] = []
    excess = len(msgspec.json.encode(metadata)) - (METADATA_MAX - 1_000)
    inner = metadata.get(system)
    for source in (cast(Json, inner), metadata) if isinstance(inner, dict) else (metadata,):
        sizes = {name: len(msgspec.json.encode(value)) for name, value in source.items()}
        for name in sorted(sizes, key=lambda name: -sizes[name]):
            if excess <= 0:
                break
            left.append(name[:100])
            del source[name]
            excess -= len(msgspec.json.encode(name)) + sizes[name] + 2  # a colon and a comma
    return {**metadata, "left_out": left[:20]} if left else metadata


def storable(value: object, depth: int = 8) -> Any:
    """Turn a value into one that metadata may hold: short names, finite numbers of 64 bits, limited depth."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        fits = math.isfinite(value) if isinstance(value, float) else -(2**63) <= value < 2**63
        return value if fits else str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return f"{len(value):,} bytes"
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value).items()
        return {clean(str(name))[:200]: storable(inner, depth - 1) for name, inner in pairs if clean(str(name))}
    if isinstance(value, list | tuple | set):
        return [storable(inner, depth - 1) for inner in cast(list[object], value)]
    return clean(str(value))


def pascal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of .NET with its names in PascalCase; its readers take camelCase as well.

    >>> pascal({"id": 1, "Name": 2})
    {'Id': 1, 'Name': 2}
    """
    return {name[:1].upper() + name[1:]: value for name, value in record.items()}


def json_list(value: object) -> Any:
    """Decode a list that is kept as JSON; a text that is no JSON stays a text.

    >>> json_list('["a"]'), json_list("a, b"), json_list(None)
    (['a'], 'a, b', None)
    """
    if not isinstance(value, str | bytes):
        return value
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return value if isinstance(value, str) else None
    return found if isinstance(found, list) else value


def entity(name: str, kind: str | None, says: str | None = None) -> Mapping[str, Any]:
    """Return the memory of a statement about an entity; without a statement, the memory that the entity exists."""
    return {
        "content": says or (f"{name} ({kind})" if kind else name),
        "category": "entities",
        "tags": [name, *([kind] if kind else [])],
        "metadata": {"entity": name, "entity_type": kind},
    }


def relation(start: str, how: str, end: str, says: str | None = None) -> Mapping[str, Any]:
    """Return the memory of a relation: the sentence of the other system, or one built from its parts."""
    return {
        "content": says or f"{start} {how.replace('_', ' ')} {end}",
        "category": "relations",
        "tags": [start, end],
        "metadata": {"relation": {"from": start, "to": end, "type": how}},
    }
