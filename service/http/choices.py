"""Names the allowed words of a field that got another one. A message of msgspec has the refused word only."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from msgspec import inspect

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
