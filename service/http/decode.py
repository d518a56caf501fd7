"""Decodes requests into typed values: strictly, in one pass, with a JSON path for each mistake.

Litestar would decode first and convert later, accept "5" for 5, and not distinguish malformed from invalid.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import inspect

from muisti.core.model import decoding
from muisti.core.model.decoding import decoder, repaired
from muisti.core.model.errors import InvalidInput, Problem, placed
from muisti.core.model.times import from_us
from muisti.core.query.filter_fields import moment, nearest
from muisti.service.schemas.errors import HttpError

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
        return from_us(moment(value.strip() if isinstance(value, str) else value)).isoformat()
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


SHOWN = 40  # characters of the refused word

_REFUSED = "Invalid enum value "
_STEP = re.compile(r"\.([^.\[\]]+)|\[[^\[\]]*\]")


def refused_choice(fault: str, place: str, type: Any) -> str | None:
    """Return the message for a word that is none of a `Literal`; None for other faults.

    `fault` and `place`, a JSON path, are of msgspec; `type` is the type that was decoded.

    >>> from typing import Literal
    >>> refused_choice("Invalid enum value 'red'", "$[0]", list[Literal["green", "blue"]])
    "'red' is none of blue, green"
    """
    if not fault.startswith(_REFUSED):
        return None
    allowed = [str(word) for word in _choices([inspect.type_info(type)], place)]
    word = ast.literal_eval(fault.removeprefix(_REFUSED))
    return f"{str(word)[:SHOWN]!r} is none of {', '.join(allowed)}"


def _choices(found: list[inspect.Type], place: str) -> list[Any]:
    """Return the words that are allowed at a place, in the order of their declaration where the schema keeps it."""
    for step in _STEP.finditer(place):
        found = [inner for outer in found for inner in _inside(outer, step[1])]
    return [word for one in found for word in _words(one)]


def _inside(outer: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    """Yield the types of a field, or without a `name` those of the items of a list or mapping."""
    match outer:
        case inspect.Metadata(type=inner):
            yield from _inside(inner, name)
        case inspect.UnionType(types=types):
            for one in types:
                yield from _inside(one, name)
        case inspect.StructType(fields=fields):
            yield from (field.type for field in fields if field.encode_name == name)
        case inspect.ListType(item_type=item):
            yield item
        case inspect.DictType(value_type=value):
            yield value
        case _:
            return


def _words(found: inspect.Type) -> list[Any]:
    match found:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            return extra["enum"] if extra and "enum" in extra else _words(inner)
        case inspect.UnionType(types=types):
            return [word for one in types for word in _words(one)]
        case inspect.LiteralType(values=values):
            return list(values)
        case _:
            return []


T = TypeVar("T")

JSON = "application/json"
LINES = "application/x-ndjson"
FITTED = 20_000  # values of a body, about, that are looked at one by one
SLASH = "\0"  # stands for %2F in a path, as no name holds a NUL

_FIELD = re.compile(r"Object (?P<what>contains unknown field|missing required field) `(?P<name>.*)`", re.DOTALL)
_UNKNOWN = "contains unknown field"
_WHAT = {"contains unknown field": "there is no such field", "missing required field": "is required"}


def decode(body: bytes | msgspec.Raw, type: type[T], path: str = "$") -> T:
    """Decode JSON into a value of `type`; `path` is the place of the JSON in the request, for messages.

    Raises:
        HttpError: the body is no JSON.
        InvalidInput: the JSON does not fit the type.
    """
    try:
        return decoder(type).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decoded(_fitted(bytes(body), type), type, path)


def _fitted(body: bytes, type: type[Any]) -> bytes:
    """Return JSON with what has only one meaning as the type takes it. One of very many values stays as it is."""
    body = repaired(body)
    if body.count(b",") > FITTED:
        return body
    try:
        found = msgspec.json.decode(body)
        fit = fitted(inspect.type_info(type), found)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body
    return body if fit == found and repr(fit) == repr(found) else msgspec.json.encode(fit)


def _decoded(body: bytes, type: type[T], path: str) -> T:
    try:
        return decoder(type).decode(body)
    except msgspec.ValidationError as error:
        raise InvalidInput([_problem(str(error), path, type)]) from None
    except msgspec.DecodeError as error:
        raise HttpError("malformed_json", f"{_subject(path)} is no JSON: {error}") from None
    except UnicodeDecodeError:
        raise HttpError("malformed_json", f"{_subject(path)} is no valid UTF-8") from None
    except RecursionError:
        raise HttpError("malformed_json", f"{_subject(path)} is nested too deeply") from None


def convert(given: object, type: type[T]) -> T:
    """Convert values that came otherwise than as JSON, such as parameters, into a value of `type`.

    Raises:
        InvalidInput: they do not fit the type.
    """
    try:
        return decoding.convert(given, type)
    except msgspec.ValidationError as error:
        raise InvalidInput([_problem(str(error), "$", type)]) from None


def routable(raw_path: bytes) -> str:
    """Return the path that the router sees: percent-decoded, but an encoded slash stays within its segment.

    >>> routable(b"/entries/a%2Fb/c%20d").split("/")
    ['', 'entries', 'a\\x00b', 'c d']

    Raises:
        HttpError: it is no UTF-8, or holds a NUL.
    """
    path = utf8(raw_path, "path")
    if SLASH in path:
        raise HttpError("malformed_request", "the path holds a NUL")
    return utf8(re.sub(rb"%2[Ff]", b"%00", raw_path), "path")


def utf8(raw: bytes, what: str) -> str:
    """Decode a percent-encoded text; `what` names it in messages.

    Raises:
        HttpError: it is no UTF-8.
    """
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise HttpError("malformed_request", f"the {what} is no valid UTF-8") from None


def _subject(path: str) -> str:
    return "the body" if path == "$" else path


def _problem(text: str, path: str, type: type[Any]) -> Problem:
    """Turn a message of msgspec about a value of `type` into a problem with a path.

    >>> _problem("Expected `int`, got `str` - at `$.limit`", "$", dict).path
    '$.limit'
    >>> _problem("Object contains unknown field `contnt` - at `$`", "$.memories[1]", dict).path
    '$.memories[1].contnt'
    """
    fault, place = placed(text)
    path += place[1:]
    choice = refused_choice(fault, place, type)
    if choice is not None:
        return Problem(path, choice)
    field = _FIELD.fullmatch(fault)
    if field is None:
        return Problem(path, fault)
    near = nearest(field["name"], _names(type)) if place == "$" and field["what"] in _UNKNOWN else ""
    return Problem(f"{path}.{field['name'][:80]}", _WHAT[field["what"]] + near)


def _names(type: type[Any]) -> list[str]:
    """Return the names of the fields that an object of this type has in JSON."""
    found = inspect.type_info(type)
    return [one.encode_name for one in found.fields] if isinstance(found, inspect.StructType) else []
