"""The fields of a filter: which operators each has, and how its operands are read.

A reader returns the value as the store has it, or raises a ValueError whose message says what to send.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches

import msgspec

from muisti.core.model.fields import FILTERED, MemoryField
from muisti.core.model.fields import Filter as Compared
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.times import to_us
from muisti.core.model.values import IMPORTANCE, NAME_MAX, Json
from muisti.core.support.regex import regex
from muisti.core.text.terms import fold

Scalar = str | int | float | bytes  # a bool is an int
Read = Callable[[Json], Scalar]

_UNSTORABLE = regex("[\0\ud800-\udfff]")
_TIME = regex(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_NAMES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}


def is_path(path: str) -> bool:
    return 1 <= len(path) <= NAME_MAX and "" not in path.split(".") and not _UNSTORABLE.search(path)


def literal(pattern: str) -> str:
    """Return a pattern of `*` and `?` in which brackets are literal, for SQLite's GLOB and for `fnmatch`.

    >>> literal("notes/[a]*.md")
    'notes/[[]a]*.md'
    """
    return pattern.replace("[", "[[]")


def short(name: str) -> str:
    return name if len(name) <= 50 else f"{name[:49]}…"


def nearest(name: str, known: Sequence[str]) -> str:
    found = get_close_matches(name, known, 1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _wrong(wanted: str, value: Json) -> ValueError:
    if value is None:
        return ValueError('null is no value; {"exists": false} finds memories without the field')
    return ValueError(f"must be {wanted}, not {_NAMES[type(value)]}")


def boolean(value: Json) -> bool:
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


def as_text(value: Json) -> str:
    if not isinstance(value, str):
        raise _wrong("a string", value)
    if _UNSTORABLE.search(value):
        raise ValueError("must not contain NUL or half a surrogate pair")
    return value


def _folded(value: Json) -> str:
    return fold(as_text(value))


def _scalar(value: Json) -> Scalar:
    if isinstance(value, str):
        return as_text(value)
    if not isinstance(value, int | float):
        raise _wrong("a string, number or boolean", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("must be an integer of 64 bits, or a string")
    return value


def _member(names: Sequence[str]) -> Callable[[Json], str]:
    def read(value: Json) -> str:
        if (name := as_text(value)) not in names:
            raise ValueError(f"{short(name)!r} is none of {', '.join(names)}{nearest(name, names)}")
        return name

    return read


def _rank(value: Json) -> int:
    names: Sequence[str] = IMPORTANCE
    return names.index(_member(names)(value))


def _id(value: Json) -> bytes:
    if (raw := id_bytes(as_text(value))) is None:
        raise ValueError("must be an id such as 0197a3c0-5f4e-7000-8000-0123456789ab")
    return raw


def moment(value: Json) -> int:
    """Read an RFC 3339 time, or a date as its midnight, into microseconds since 1970; no offset means UTC."""
    text = as_text(value).upper()
    try:
        at = datetime.fromisoformat(text if _TIME.fullmatch(text) else "")
    except ValueError:
        raise ValueError("must be an RFC 3339 time or a date, such as 2026-01-31T09:30:00Z") from None
    return to_us(at if at.tzinfo else at.replace(tzinfo=UTC))


class Field(msgspec.Struct, frozen=True):
    """The operators that a kind of field has, and the reader of its operands."""

    operators: tuple[str, ...]
    read: Read


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ValueError("must be a whole number")
    return value


def _percent(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
        raise ValueError("must be a whole number from 0 to 100")
    return value


def _id_as_text(value: Json) -> str:
    return id_text(_id(value))


def _entity(value: Json) -> str:
    if not (name := as_text(value).strip()) or len(name) > NAME_MAX:
        raise ValueError(f"must be the name or the id of an entity, of 1 to {NAME_MAX} characters")
    return name


LISTS = ("in", "any", "all")
LISTED = frozenset(field.name for field in FILTERED if field.form == "list")  # may be empty, are never missing
NUMERIC = frozenset(field.name for field in FILTERED if field.filter in ("number", "percent"))
ENTITY = "entity"  # a filter on the graph: core/graph puts `VERSION_ROW` in its place
VERSION_ROW = "version row"  # rows of `versions`; no request can name it
VALID_AT = "valid_at"  # a filter on `valid_from` and `valid_to`, not a stored field
_EQUAL = ("eq", "ne", "in", "exists")
_ORDER = (*_EQUAL, "gt", "gte", "lt", "lte")
TEXTUAL = ("prefix", "glob")  # their operand is a text, whatever the field
METADATA = Field((*_ORDER, *TEXTUAL, "any", "all"), _scalar)
_KINDS: Mapping[Compared, Field] = {
    "any_case": Field((*_ORDER, *TEXTUAL), _folded),
    "text": Field((*_ORDER, *TEXTUAL), as_text),
    "rank": Field(_ORDER, _rank),
    "time": Field(_ORDER, moment),
    "id": Field(_EQUAL, _id),
    "number": Field(_ORDER, _whole),
    "percent": Field(_ORDER, _percent),
    "tags": Field((*_EQUAL, *TEXTUAL, "any", "all"), _folded),
    "names": Field((*_EQUAL, *TEXTUAL, "any", "all"), as_text),
    "ids": Field((*_EQUAL, "any", "all"), _id_as_text),
}


def filterable(fields: Iterable[MemoryField]) -> dict[str, Field]:
    """Return the fields that a filter may name, without paths of metadata."""
    return {
        field.name: Field(_EQUAL, _member(field.choices)) if field.filter == "choice" else _KINDS[field.filter]
        for field in fields
        if field.filter is not None and field.filter != "paths"
    }


FIELDS: Mapping[str, Field] = {
    **filterable(FILTERED),
    VALID_AT: Field(("eq",), moment),
    ENTITY: Field(("eq", "ne", "in", "any", "all"), _entity),
}
