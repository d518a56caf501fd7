"""JSON of one's own: a list of texts or of objects with a text, one of either in each line, or texts by id.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "facts.json"
...     _ = path.write_text('{"deploy": "We deploy on Tuesdays", "staging": {"text": "Port 5433", "tags": ["infra"]}}')
...     [(item.external, item.memory["content"]) for item in read(Source(path))]
[('deploy', 'We deploy on Tuesdays'), ('staging', 'Port 5433')]
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Literal, cast, get_args

import msgspec

from muisti.core.model.choices import Type
from muisti.core.model.values import IMPORTANCE
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Unreadable,
    plain,
    text_of,
    times,
    validity,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, json_items, json_members, json_values, shape_of
from muisti.service.formats.importers.source_files import Source

Form = Literal["list", "lines", "record", "members"]

TEXTS = ("content", "text", "memory")
NAMES = ("category", "key", "author", "reason", "source")
CHOICES: Mapping[str, tuple[str, ...]] = {"type": get_args(Type), "importance": IMPORTANCE}
TIMES = ("created_at", "updated_at", "event_at", "expires_at")
VALID = ("valid_from", "valid_to")
LOOKED_AT = 20  # members of an object that are looked at, to recognise texts by id
FORMS = (
    'JSON of your own is a list of texts, ["We deploy on Tuesdays"]; or of objects with content or text, '
    '[{"content": "We deploy on Tuesdays", "tags": ["infra"]}]; or one of either in each line; or texts by id, '
    '{"deploy": "We deploy on Tuesdays"}'
)
_LIST_OF_TEXTS = re.compile(r'\s*\[\s*"')


def detect(shape: Shape) -> bool:
    return form_of(shape) is not None


def read(source: Source) -> Iterator[Found]:
    form = form_of(shape_of(source))
    if form is None:
        raise Unreadable(f"{source.name}: {FORMS}")
    if form == "members":
        yield from (_item(place, value, name) for place, name, value in json_members(source))
    else:
        values = json_values(source) if form == "lines" else json_items(source, "item" if form == "list" else "")
        yield from (value if isinstance(value, Failed) else _item(place, value) for place, value in values)


def form_of(shape: Shape) -> Form | None:
    """Return the form of JSON of one's own that a file has; None when it has none of them."""
    if shape.kind == "array":
        return "list" if any(map(shape.has, TEXTS)) or _LIST_OF_TEXTS.match(shape.text) else None
    if shape.kind == "string":
        return "lines" if _is_text(shape.text.split("\n", 1)[0]) else None
    if shape.kind == "lines" and _has_text(shape.first):
        return "lines"
    if shape.kind not in ("object", "lines") or (shape.kind == "lines" and shape.text.strip().count("\n")):
        return None  # neither is lines of objects without a text
    found: list[tuple[str, object]] = []
    with suppress(Unreadable):  # reading it will report the damage
        found.extend((name, value) for _, name, value in islice(json_members(shape.source), LOOKED_AT))
    if any(name in TEXTS and text_of(value) for name, value in found):
        return "record"
    return "members" if found and all(text_of(value) or _has_text(value) for _, value in found) else None


def _is_text(line: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), str)
    except (msgspec.DecodeError, RecursionError):
        return False


def _has_text(value: object) -> bool:
    return isinstance(value, dict) and any(text_of(cast(Json, value).get(name)) for name in TEXTS)


def _item(place: str, value: object, name: str | None = None) -> Found:
    """Return the memory of a text or of an object with a text. `name` is its id where an object gives texts by id."""
    if text := text_of(value):
        return Item(external=name or text, place=place, memory={"content": text})
    if not isinstance(value, dict) or not _has_text(value):
        return Failed(place, "is no text, and no object with a text in content or text")
    row = cast(dict[str, Any], value)
    field = next(field for field in TEXTS if text_of(row.get(field)))
    own = row.get("metadata")
    metadata = cast(Json, own) if isinstance(own, dict) else {}
    fields = {one: plain(row[one]) for one in NAMES if isinstance(row.get(one), str | int | float)}
    fields |= {one: row[one] for one, values in CHOICES.items() if text_of(row.get(one)) in values}
    moments, unread = times(row, **{one: one for one in TIMES})
    valid = validity(*(row.get(one) for one in VALID))
    kept = {*fields, *TIMES, *(one for one in VALID if valid[one]), *(("metadata",) if metadata else ()), "tags", field}
    if name is None:
        kept.add("id")
    return Item(
        external=plain(name or row.get("id") or row[field]),
        place=place,
        memory={
            "content": row[field], "tags": words(row.get("tags")), "metadata": metadata, **fields, **moments, **valid,
        },
        rest={**without(row, *kept), **unread},
    )  # fmt: skip
