"""Result types and keyword arguments of the SDK, as source, from the schemas of the OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

NAMES: Mapping[str, str] = {
    "MemoryReply": "MemoryItem",
    "AddedReply": "Stored",
    "WrittenReply": "Written",
    "SearchReply": "Found",
    "ItemsReply": "Outcomes",
    "ItemReply": "Outcome",
    "UndoReply": "Undone",
    "SignalShare": "Signal",
}
ROOTS = (
    "AddedReply",
    "WrittenReply",
    "ItemsReply",
    "BatchReply",
    "SearchReply",
    "ContextReply",
    "PageReply",
    "ErasureReply",
    "HistoryReply",
    "UndoReply",
    "ChangesReply",
)
BASE = "MemoryReply"  # a schema with all of its fields extends it
MORE: Mapping[str, Mapping[str, str]] = {"ChangeReply": {"point": "str"}}  # fields that the client fills in
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
ONCE = {"idempotency_key": "str | None"}
# The keyword arguments of a verb: the schema of its body, the fields that are no keyword arguments, and more of them.
OPTIONS: Mapping[str, tuple[str, frozenset[str], Mapping[str, str], str]] = {
    "RememberOptions": ("AddBody", frozenset({"content"}), ONCE, "TypedDict"),
    "UpdateOptions": ("PatchBody", frozenset(), {}, "TypedDict"),
    "SupersedeOptions": ("SupersedeBody", frozenset({"content"}), {}, "TypedDict"),
    "SearchOptions": ("SearchBody", frozenset({"query", "filter"}), {}, "Filters"),
    "ContextOptions": ("ContextBody", frozenset({"query", "filter"}), {}, "Filters"),
}
HEAD = '"""Made from the OpenAPI document of the server by generate.py."""\n'


def results(document: Mapping[str, Any]) -> str:
    """Return the module of result types of the verbs of a space."""
    return _module(document["components"]["schemas"], ROOTS)


def more_results(document: Mapping[str, Any], roots: Sequence[str]) -> str:
    """Return the module of result types that the module of those verbs has not."""
    return _module(document["components"]["schemas"], roots, common(document["components"]["schemas"]))


def common(schemas: Mapping[str, Any]) -> set[str]:
    """Return the schemas of the results of the verbs of a space."""
    return {*_needed(schemas, ROOTS)}


def _module(schemas: Mapping[str, Any], roots: Sequence[str], elsewhere: Set[str] = frozenset()) -> str:
    found = {*_needed(schemas, [one for one in roots if one in schemas])}
    shared = sorted({name_of(ref) for one in found - elsewhere for ref in _refs(schemas[one]) if ref in elsewhere})
    lines = [
        HEAD,
        "from __future__ import annotations",
        "",
        "from datetime import datetime  # noqa: TC003",
        "from typing import Any",
        "",
        "from ._result import Result",
        *([f"from .results import {', '.join(shared)}"] if shared else []),
    ]
    for name in sorted(found - elsewhere, key=lambda one: (one != BASE, one)):
        lines += ["", "", *_struct(name, schemas)]
    return "\n".join(lines) + "\n"


def options(document: Mapping[str, Any]) -> str:
    """Return the module of keyword arguments."""
    schemas = document["components"]["schemas"]
    lines = [
        HEAD,
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping, Sequence",
        "from datetime import timedelta",
        "from typing import Any, Literal, TypedDict",
        "",
        "from ._filters import Filters, Time",
    ]
    for name, (schema, without, more, base) in OPTIONS.items():
        fields = {
            field: _widened(field, given(one))
            for field, one in schemas[schema]["properties"].items()
            if field not in without
        }
        lines += ["", "", f"class {name}({base}, total=False):", f'    """{schemas[schema]["description"]}"""', ""]
        lines += [f"    {field}: {kind}" for field, kind in {**fields, **more}.items()]
    return "\n".join(lines) + "\n"


def _needed(schemas: Mapping[str, Any], roots: Sequence[str]) -> Iterator[str]:
    """Yield the schemas of the roots, and those that they name."""
    left, seen = [*roots], set[str]()
    while left:
        if (name := left.pop()) not in seen:
            seen.add(name)
            yield name
            left += _refs(schemas[name])


def _refs(schema: Any) -> list[str]:
    if isinstance(schema, Mapping):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for one in schema.values() for name in _refs(one)]
    return [name for one in schema for name in _refs(one)] if isinstance(schema, list) else []


def _struct(name: str, schemas: Mapping[str, Any]) -> Iterator[str]:
    schema = schemas[name]
    fields, required = schema.get("properties", {}), schema.get("required", [])
    inherited = schemas[BASE]["properties"] if name != BASE and {*schemas[BASE]["properties"]} <= {*fields} else {}
    base = name_of(BASE) if inherited else "Result"
    yield f"class {name_of(name)}({base}, frozen=True, kw_only=True):"
    yield f'    """{schema.get("description", name_of(name))}"""'
    yield ""
    for field, one in fields.items():
        if field not in inherited:
            kind = _kind(one)
            yield f"    {field}: {kind}" + ("" if field in required else _default(one, kind))
    for field, kind in MORE.get(name, {}).items():
        yield f'    {field}: {kind} = ""'


def name_of(schema: str) -> str:
    """Return the name of the result type for a schema.

    >>> name_of("HitReply"), name_of("AddedReply")
    ('Hit', 'Stored')
    """
    return NAMES.get(schema, schema.removesuffix("Reply"))


def _default(schema: Mapping[str, Any], kind: str) -> str:
    if kind.startswith("list["):
        return " = []"
    value = schema.get("default")
    if value is None and "None" not in kind.split(" | ") and kind != "Any":
        return " | None = None"
    return f" = {value!r}"


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a field of a result. Words are plain strings: a newer server may have more of them."""
    if "$ref" in schema:
        return name_of(schema["$ref"].rpartition("/")[2])
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return " | ".join(dict.fromkeys(_kind(one) for one in choices))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(_kind({**schema, "type": one}) for one in kind))
    if kind == "string" and schema.get("format") == "date-time":
        return "datetime"
    if "enum" in schema:
        return " | ".join(dict.fromkeys(type(one).__name__ if one is not None else "None" for one in schema["enum"]))
    if kind == "array":
        return f"list[{_kind(schema.get('items', {}))}]"
    if kind == "object":
        return "dict[str, Any]"
    return PLAIN.get(kind or "", "Any")


def _widened(field: str, kind: str) -> str:
    return f"{kind} | timedelta" if field == "ttl" else kind


def given(schema: Mapping[str, Any]) -> str:
    """Return the type of a keyword argument, which takes what can be turned into the field."""
    if "$ref" in schema:
        return "Mapping[str, Any]"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " | ".join(dict.fromkeys(given(one) for one in choices))
    kind = schema.get("type")
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(given({**schema, "type": one}) for one in kind))
    if kind == "string" and schema.get("format") == "date-time":
        return "Time"
    if kind == "array":
        return f"Sequence[{given(schema.get('items', {}))}]"
    if kind == "object":
        return "Mapping[str, Any]"
    return PLAIN.get(kind or "", "Any")
