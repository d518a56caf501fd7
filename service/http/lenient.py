"""Fits values to a type where they mean only one thing: 10.0 for 10, a date for a time; from models also texts."""

from collections.abc import Callable, Collection
from typing import Any

from msgspec import inspect

from muisti.core.model.times import from_us
from muisti.core.query.filter_fields import moment

EXACT = 2**53  # up to here a float holds each whole number

Parse = Callable[[str], Any]  # of the text of a value that is no text; raises ValueError


def fitted(found: inspect.Type, value: Any, parse: Parse | None = None) -> Any:
    """Return the value as the type takes it. What does not fit stays, for the decoder to refuse.

    `parse` reads a text in place of another value; None where a text is only a text.
    """
    match found:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            if parse is not None and extra is not None and isinstance(value, str):
                value = _chosen(extra.get("enum", ()), value)
            return fitted(inner, value, parse)
        case inspect.UnionType(types=types):
            return _of_union(types, value, parse)
        case inspect.DateTimeType():
            return _in_utc(value)
        case inspect.IntType() if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
            return int(value)
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            kinds = {field.encode_name: field.type for field in fields}
            return {name: fitted(kinds[name], one, parse) if name in kinds else one for name, one in value.items()}
        case inspect.ListType(item_type=item) if isinstance(value, list):
            return [fitted(item, one, parse) for one in value if one is not None or parse is None]
        case _ if parse is not None:
            return _read(found, value, parse)
        case _:
            return value


def _of_union(types: tuple[inspect.Type, ...], value: Any, parse: Parse | None) -> Any:
    for one in types:
        if (fit := fitted(one, value, parse)) is not value:
            return fit
    return value


def _in_utc(value: Any) -> Any:
    try:
        return from_us(moment(value)).isoformat()
    except (ValueError, OverflowError):
        return value


def _read(found: inspect.Type, value: Any, parse: Parse) -> Any:
    """Return what a text says, or a list of a single value, where the type takes no text."""
    listed = isinstance(found, inspect.ListType)
    if not isinstance(value, str):
        if isinstance(found, inspect.StrType) and isinstance(value, int | float) and not isinstance(value, bool):
            return str(fitted(inspect.IntType(), value))
        return fitted(found, [value], parse) if listed and isinstance(value, dict | int) else value
    if isinstance(found, inspect.LiteralType):
        return _chosen(found.values, value)
    wanted = _WANTED.get(type(found))
    if wanted is None:
        return value
    try:
        read = parse(value)
    except (ValueError, RecursionError):
        read = value
    if isinstance(read, bool) is (wanted is bool) and isinstance(read, wanted):
        return fitted(found, read, parse)
    return [value] if listed else value


def _chosen(choices: Collection[Any], said: str) -> str:
    """Return the choice that is said in other letters, as `Hybrid` for `hybrid`."""
    plain = said.strip()
    return next((one for one in choices if str(one).casefold() == plain.casefold()), plain if choices else said)


_WANTED: dict[type, Any] = {
    inspect.IntType: (int, float),
    inspect.FloatType: (int, float),
    inspect.BoolType: bool,
    inspect.ListType: list,
    inspect.DictType: dict,
    inspect.StructType: dict,
}
