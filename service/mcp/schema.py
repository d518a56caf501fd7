"""Derives the JSON Schema of a tool's arguments from their type, in as few words as a client needs.

Every schema has a type: strict clients, such as those of Gemini, drop a tool with an enumeration that has none.

Bounds are left out: a value out of bounds is refused with a message that names them.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from muisti.service.mcp.words import WORDS

Json = dict[str, Any]

_NAMES: Mapping[type, str] = {
    inspect.StrType: "string",
    inspect.DateTimeType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.DictType: "object",
    inspect.StructType: "object",
    inspect.NoneType: "null",
}


@cache
def fields_of(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """Return the fields of a type."""
    found = inspect.type_info(kind)
    assert isinstance(found, inspect.StructType)
    return found.fields


@cache
def properties_of(kind: type[msgspec.Struct]) -> Mapping[str, Json]:
    """Return the schema of each argument of a type, without descriptions."""
    return {field.encode_name: _of_field(field) for field in fields_of(kind)}


@cache
def required_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names of the arguments that must be there."""
    return tuple(field.encode_name for field in fields_of(kind) if field.required)


def described(name: str, schema: Json, words: Mapping[str, str]) -> Json:
    """Return the schema with the description of its argument; `words` are those of the tool, before the common ones."""
    return {**schema, "description": words.get(name, WORDS[name])}


def _of_field(field: inspect.Field) -> Json:
    """Return the schema of a field. It allows null only where null means something else than leaving the field out."""
    found = field.type
    if isinstance(found, inspect.UnionType) and field.default is None:
        found = inspect.UnionType(tuple(one for one in found.types if not isinstance(one, inspect.NoneType)))
    return _schema(found)


def _schema(found: inspect.Type) -> Json:
    match found:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            choices = {"enum": extra["enum"]} if extra and "enum" in extra else {}
            return {**_schema(inner), **choices}
        case inspect.LiteralType(values=values):
            return {"type": "string", "enum": list(values)}
        case inspect.ListType(item_type=item):
            return {"type": "array", "items": _schema(item)}
        case inspect.UnionType(types=types):
            return _either([_schema(one) for one in types])
        case _:
            return {"type": _NAMES[type(found)]}


def _either(schemas: list[Json]) -> Json:
    """Return one schema of several; a text stands for a whole number too."""
    if len(schemas) == 1:
        return schemas[0]
    types = list(dict.fromkeys(one["type"] for one in schemas))
    kind = "string" if sorted(types) == ["integer", "string"] else types[0] if len(types) == 1 else types
    rest = {name: value for one in schemas for name, value in one.items() if name != "type"}
    return {"type": kind, **rest}
