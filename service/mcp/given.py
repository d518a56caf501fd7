"""Reads what clients send for what models mean: null for an argument that is left out, a date for a time."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from muisti.core.model.times import from_us
from muisti.core.query.filter_fields import moment
from muisti.service.mcp.schema import fields_of

Json = dict[str, Any]


def given(kind: type[msgspec.Struct], arguments: Mapping[str, Any]) -> Json:
    """Return the arguments of a call as `kind` takes them.

    An argument that is null is left out: clients such as CrewAI send null for those that a model leaves out. Null
    within an argument stays, since in `changes` it clears a field. A date counts as its midnight, and a time without
    a zone is in UTC, as in filters.
    """
    known = {field.encode_name for field in fields_of(kind)}
    return _in_utc(kind, {name: value for name, value in arguments.items() if value is not None or name not in known})


def _in_utc(kind: type[msgspec.Struct], found: Mapping[str, Any]) -> Json:
    timed = _timed(kind)
    return {name: _as(timed[name], value) if name in timed else value for name, value in found.items()}


def _as(kind: type[Any], value: Any) -> Any:
    """Return a time with its zone, and fields with such times. What is neither stays, for the decoder to refuse."""
    if kind is not datetime:
        return _in_utc(kind, value) if isinstance(value, dict) else value
    try:
        return from_us(moment(value)).isoformat()
    except (ValueError, OverflowError):
        return value


@cache
def _timed(kind: type[msgspec.Struct]) -> Mapping[str, type[Any]]:
    """Map the names of arguments that are times to `datetime`, and of those with fields to the type of these."""
    return {field.encode_name: inner for field in fields_of(kind) for inner in _within(field.type)}


def _within(found: inspect.Type) -> Iterator[type[Any]]:
    match found:
        case inspect.Metadata(type=inner):
            yield from _within(inner)
        case inspect.UnionType(types=types):
            for one in types:
                yield from _within(one)
        case inspect.DateTimeType():
            yield datetime
        case inspect.StructType(cls=cls):
            yield cls
        case _:
            return
