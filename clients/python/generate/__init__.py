"""Write requests, methods and types from the server's OpenAPI document, and the sync client from the async one.

Builds and `make` write these files, which are not committed. A test compares them with the document.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import groups, structs
from .naming import argument, name_of, operations

PACKAGE = Path(__file__).parents[1] / "muisti_client"
DOCUMENT = PACKAGE / "../../../docs/openapi.json"
MIRRORED = ("transport", "sending", "protocol", "space", "connecting", "group")
LINES = "application/x-ndjson"
SYNC = (
    (r"\bAsyncGenerator\[(.+?), None\]", r"Generator[\1, None, None]"),
    (r"\baclosing\b", "closing"),
    (r"\b(connect)_async\b", r"\1"),
    (r"\b_async_(?!\w+` is made)", "_sync_"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\basync(contextmanager)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\basyncio\b", "time"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\ba(close|read|iter_bytes)\b", r"\1"),
    (r"`_sync_(\w+)` is made from this module by generate\.py\.", r"Made from `_async_\1` by generate.py."),
)
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '"""Made from the OpenAPI document of the server by generate.py."""\n'


def write() -> None:
    """Write the generated files that are missing or not current. An sdist has them, and no document."""
    if DOCUMENT.exists():
        for name, text in files(json.loads(DOCUMENT.read_text("utf-8"))).items():
            path = PACKAGE / name
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, "utf-8")


def files(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each generated file, by its name."""
    made = {"client": _client(document), "groups": groups.source(document), "handles": groups.handles(document)}
    mirrored = {name: (PACKAGE / f"_async_{name}.py").read_text("utf-8") for name in MIRRORED}
    return {
        "types.py": _types(document),
        "calls.py": _calls(document),
        "operations.py": _operations(document),
        **{f"_async_{name}.py": text for name, text in made.items()},
        "replies.py": groups.replies(document),
        "options.py": structs.options(document),
        "results.py": structs.results(document),
        **{f"_sync_{name}.py": synchronous(text) for name, text in {**made, **mirrored}.items()},
    }


def synchronous(text: str) -> str:
    """Turn the source of an asynchronous module into that of its synchronous counterpart."""
    for pattern, word in SYNC:
        text = re.sub(pattern, word, text)
    return text


def _types(document: Mapping[str, Any]) -> str:
    lines = [HEAD, "from typing import Any, Literal, NotRequired, TypedDict", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        fields = schema.get("properties", {})
        needed = schema.get("required", [])
        lines.append(f"{name} = TypedDict(\n    {name!r},\n    {{")
        for field, one in fields.items():
            kind = _kind(one, quoted=True)
            told = repr(kind) if field in needed else f"NotRequired[{kind!r}]"
            lines.append(f"        {field!r}: {told},")
        lines.append("    },\n)")
        lines.append(f"{json.dumps(schema.get('description', ''), ensure_ascii=False)}\n")
    return "\n".join(lines).rstrip("\n") + "\n"


def _kind(schema: Mapping[str, Any], quoted: bool = False) -> str:
    """Return the Python type for a schema, as source. `quoted` leaves out the name of the module `types`."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2] if quoted else f"types.{schema['$ref'].rpartition('/')[2]}"
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return " | ".join(dict.fromkeys(_kind(one, quoted) for one in choices))
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(PLAIN.get(one, "Any") for one in kind)
    if kind == "array":
        return f"list[{_kind(schema.get('items', {}), quoted)}]"
    if kind == "object":
        return "dict[str, Any]"
    return PLAIN.get(kind or "", "Any")


def _calls(document: Mapping[str, Any]) -> str:
    lines = [
        '"""A request for each operation of the API. Made from the OpenAPI document of the server by generate.py."""\n',
        "from collections.abc import AsyncIterable, Iterable, Mapping",
        "from typing import Any",
        "",
        "from ._wire import Call, call",
    ]
    for method, path, operation in operations(document):
        lines += ["", "", *_request(method, path, operation)]
    return "\n".join(lines) + "\n"


def _request(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    """Return the function that writes a request, with types that any program can give."""
    parts, params, headers = (_parameters(operation, where) for where in ("path", "query", "header"))
    file, once = _takes_a_file(operation), "Idempotency-Key" in headers
    body = "bytes | Iterable[bytes] | AsyncIterable[bytes]" if file else "Mapping[str, Any]"
    arguments = [*_arguments(operation, body, _plain_kind, "    ")]
    if arguments:
        yield f"def {name_of(operation)}("
        yield from arguments
        yield ") -> Call:"
    else:
        yield f"def {name_of(operation)}() -> Call:"
    yield f'    """{operation.get("summary", "").rstrip(".")}."""'
    yield "    return call("
    yield f"        {method!r},"
    yield f"        {path!r},"
    yield from _mapping("parts", parts)
    yield from _mapping("params", params)
    if file:
        yield f"        headers={{'Content-Type': content_type, {_named(headers)}}},"
    else:
        yield from _mapping("headers", headers)
    if _body(operation):
        yield f"        {'content' if file else 'body'}=body,"
    if once:
        yield "        once=True,"
    if file or _is_long(operation):
        yield "        long=True,"
    yield "    )"


def _operations(document: Mapping[str, Any]) -> str:
    """Return the module that says what each operation takes, as JSON. Commands derive their options from it."""
    lines = [HEAD, "from collections.abc import Mapping", "", "OPERATIONS: Mapping[str, str] = {"]
    for method, _, operation in operations(document):
        given = {argument(one["name"]): one for one in operation.get("parameters", []) if one["in"] == "query"}
        found = {
            "method": method,
            "about": operation.get("summary", ""),
            "parts": [argument(name) for name in _parameters(operation, "path")],
            "params": {name: _field(one | one["schema"]) for name, one in given.items()},
            "body": {name: _field(one) for name, one in _properties(document, operation).items()},
        }  # fmt: skip
        lines.append(f"    {name_of(operation)!r}: {json.dumps(found)!r},")
    return "\n".join(lines) + "\n}\n"


def _properties(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of the fields of an operation's JSON."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name].get("properties", {}) if name else {}


def _field(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a command shows of a field: its type, bounds, choices, default and description."""
    choices = schema.get("anyOf") or schema.get("oneOf") or [{}]
    whole = {**schema, **next((one for one in choices if one.get("type") != "null"), {})}
    found = {name: whole[name] for name in ("type", "enum", "minimum", "maximum", "description") if name in whole}
    if words := [word for one in choices for word in one.get("enum", ())]:
        found["enum"] = words
    if schema.get("default") is not None:
        found["default"] = schema["default"]
    return {**found, "items": _field(whole["items"])} if "items" in whole else found


def _plain_kind(schema: Mapping[str, Any]) -> str:
    return re.sub(r"Literal\[[^]]*\]", "str", _kind(schema))


def _client(document: Mapping[str, Any]) -> str:
    lines = [
        HEAD,
        "from __future__ import annotations",
        "",
        "from collections.abc import AsyncIterable, AsyncIterator, Mapping",
        "from typing import TYPE_CHECKING, Any, Literal",
        "",
        "from . import calls",
        "from ._async_transport import AsyncTransport",
        "",
        "if TYPE_CHECKING:  # a thirtieth of a second",
        "    from . import types",
        "",
        "",
        "class AsyncMuisti(AsyncTransport):",
        '    """A method for each operation of the API. Answers are the JSON as it came, with the types of `types`."""',
    ]
    for _, _, operation in operations(document):
        lines += ["", *_method(operation)]
    return "\n".join(lines) + "\n"


def _method(operation: Mapping[str, Any]) -> Iterator[str]:
    """Return the method that sends a request, with the types of the document."""
    pieces = _is_long(operation)
    yield f"    {'' if pieces else 'async '}def {name_of(operation)}("
    yield "        self,"
    yield from _arguments(operation, _body(operation) or "", _kind, "        ")
    yield f"    ) -> {_answer(operation)}:"
    yield f"        {_docstring(operation)}"
    positional, named = _order(operation)
    given = ", ".join([*positional, *(f"{name}={name}" for name in named)])
    request = f"calls.{name_of(operation)}({given})"
    if pieces:
        yield f"        return self.pieces({request})"
    else:
        yield f"        reply = await self.send({request})"
        yield "        return reply.data"


def _arguments(
    operation: Mapping[str, Any], body: str, kind: Callable[[Mapping[str, Any]], str], indent: str
) -> Iterator[str]:
    """Write the arguments of an operation, one a line."""
    positional, named = _order(operation)
    schemas = {argument(one["name"]): one for one in operation.get("parameters", [])}
    yield from (f"{indent}{name}: {body if name == 'body' else 'str'}," for name in positional)
    if named:
        yield f"{indent}*,"
    for name in named:
        if name == "content_type":
            yield f"{indent}content_type: str = {LINES!r},"
            continue
        schema = schemas[name]["schema"]
        found = "Mapping[str, Any]" if schema.get("type") == "object" else kind(schema)
        yield f"{indent}{name}: {found}{'' if schemas[name].get('required') else ' | None = None'},"


def _order(operation: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the arguments of an operation: those given by place, and those given by name."""
    by_place = [argument(name) for name in _parameters(operation, "path")] + (["body"] if _body(operation) else [])
    by_name = [argument(name) for where in ("query", "header") for name in _parameters(operation, where)]
    return by_place, (["content_type"] if _takes_a_file(operation) else []) + by_name


def _parameters(operation: Mapping[str, Any], where: str) -> list[str]:
    return [one["name"] for one in operation.get("parameters", []) if one["in"] == where]


def _mapping(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"        {title}={{{_named(names)}}},"


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"{name!r}: {argument(name)}" for name in names)


def _is_long(operation: Mapping[str, Any]) -> bool:
    """Whether the answer is a file of any size, which comes in pieces."""
    return LINES in operation["responses"].get("200", {}).get("content", {})


def _takes_a_file(operation: Mapping[str, Any]) -> bool:
    """Whether the body is a file of any size, which may be given in pieces."""
    return [*operation.get("requestBody", {}).get("content", {})][:1] == [LINES]


def _body(operation: Mapping[str, Any]) -> str | None:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        return _kind(content["application/json"]["schema"])
    return "bytes | AsyncIterable[bytes]" if content else None


def _answer(operation: Mapping[str, Any]) -> str:
    if _is_long(operation):
        return "AsyncIterator[bytes]"
    kinds: dict[str, None] = {}
    for status, answer in operation["responses"].items():
        if not status.startswith("2"):
            continue
        content = answer.get("content", {})
        if "application/json" in content:
            kinds |= dict.fromkeys(_kind(content["application/json"].get("schema", {})).split(" | "))
        else:
            kinds["str" if content else "None"] = None
    return " | ".join(kinds) if "Any" not in kinds else "Any"


def _docstring(operation: Mapping[str, Any]) -> str:
    text = f"{operation.get('summary', '')}. {operation.get('description', '')}".strip()
    return f'"""{re.sub(chr(92) * 2, "", " ".join(text.split())).rstrip(chr(34))}"""'
