"""Handles on the parts of a space, as source, from the operations of the OpenAPI document.

A group has a verb for each operation of its tag on one space. Its name is that of the operation without the noun of
the group: `createConversation` is `conversations.create`, `listChunks` is `documents.list_chunks`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import structs
from .naming import argument, name_of

GROUPS = (
    "conversations", "sessions", "documents", "graph", "checkpoints", "conflicts", "probes", "tasks", "code",
    "generations", "webhooks",
)  # fmt: skip
ABOUT = {
    "conversations": "Conversations: exchanges, topics, summaries and working memory.",
    "sessions": "Sessions, which hold conversations.",
}
SPACE = "/v1/spaces/{space}"
HEADERS = {"Idempotency-Key": "idempotency_key", "If-Match": "if_match", "Muisti-Allow": "allow"}
UNASKED = frozenset({"dry_run", "cursor", "Last-Event-ID"})  # parameters that a verb does not have
FIRST = ("name", "path")  # fields that may be given by place, although they are optional
JSON, BINARY, EVENTS = "application/json", "application/octet-stream", "text/event-stream"
CREATING = ("create", "add", "put", "state")
PAGE_MAX = 100  # items of a page, where the document names no bound
Operation = Mapping[str, Any]


def grouped(document: Mapping[str, Any]) -> dict[str, dict[str, tuple[str, Operation]]]:
    """Return the verbs of each group: the name of the operation, and what describes it."""
    found: dict[str, dict[str, tuple[str, Operation]]] = {group: {} for group in GROUPS}
    for path, item in document["paths"].items():
        for operation in item.values():
            group = _group(path, operation)
            if group and not _is_stream(operation):
                name = name_of(operation)
                found[group][_verb(name, group, found[group])] = name, operation
    return found


def _group(path: str, operation: Operation) -> str | None:
    if not path.startswith(SPACE):
        return None
    tag = "sessions" if path.startswith(f"{SPACE}/sessions") else operation["tags"][0]
    return tag if tag in GROUPS else None


def _is_stream(operation: Operation) -> bool:
    return EVENTS in operation["responses"].get("200", {}).get("content", {})


def _verb(name: str, group: str, taken: Mapping[str, Any]) -> str:
    """Return the name of a verb, which no other verb of the group has.

    >>> _verb("list_probe_runs", "probes", {}), _verb("summarise_space", "conversations", {"summarise": 1})
    ('list_runs', 'summarise_space')
    """
    short = re.sub(rf"_({group.removesuffix('s')}s?|space)(?=_|$)", "", name)
    return name if short in taken else short


def replies(document: Mapping[str, Any]) -> str:
    """Return the module of results that only the groups have."""
    kinds = {kind for verbs in grouped(document).values() for _, one in verbs.values() for kind in _kinds(one)}
    return structs.more_results(document, sorted(kinds))


def handles(document: Mapping[str, Any]) -> str:
    """Return the module with the properties of a memory that are its groups."""
    about = {one["name"]: one["description"] for one in document["tags"]} | ABOUT
    lines = [
        '"""Made from the OpenAPI document of the server by generate.py."""\n',
        "from __future__ import annotations\n",
        "from typing import TYPE_CHECKING, Protocol\n",
        "if TYPE_CHECKING:",
        "    from . import _async_groups as groups",
        "    from ._wire import Call, Reply",
        "",
        "",
        "class AsyncHandles(Protocol):",
        '    """The parts of a space, each with its verbs."""',
    ]
    for group in GROUPS:
        lines += [
            "",
            "    @property",
            f"    def {group}(self) -> groups.Async{group.title()}:",
            f'        """{about[group]}"""',
            "        from . import _async_groups  # many classes, of which most programs use none",
            "",
            f"        return _async_groups.Async{group.title()}(self)",
        ]
    sending = [
        "",
        "    @property",
        "    def name(self) -> str: ...",
        "",
        "    async def send(self, request: Call) -> Reply: ...",
    ]
    return "\n".join([*lines, *sending]) + "\n"


def source(document: Mapping[str, Any]) -> str:
    """Return the module of groups."""
    about = {one["name"]: one["description"] for one in document["tags"]} | ABOUT
    lines = [
        '"""Made from the OpenAPI document of the server by generate.py."""\n',
        "from __future__ import annotations\n",
        "from collections.abc import AsyncGenerator, Mapping, Sequence",
        "from typing import Any, Literal\n",
        "from . import calls, replies, results",
        "from ._async_group import AsyncGroup, body, with_bytes",
        "from ._filters import Time",
        "from ._named import UNSET, named",
    ]
    for group, verbs in grouped(document).items():
        lines += ["", "", "@named", f"class Async{group.title()}(AsyncGroup):", f'    """{about[group]}"""']
        for verb, (name, operation) in sorted(verbs.items()):
            lines += ["", *_method(verb, name, operation, document["components"]["schemas"])]
    return "\n".join(lines) + "\n"


def _method(verb: str, name: str, operation: Operation, schemas: Mapping[str, Any]) -> Iterator[str]:
    fields, needed = _body(operation, schemas)
    asked = _asked(operation, fields)
    paged = _is_paged(operation, schemas)
    answer = f"AsyncGenerator[{_item(operation, schemas)}, None]" if paged else _answer(operation, schemas)
    yield f"    {'' if paged else 'async '}def {verb}("
    yield "        self,"
    yield from _arguments(operation, fields, needed, asked)
    yield f"    ) -> {answer}:"
    yield f'        """{operation["summary"].rstrip(".")}."""'
    given = ["self._space", *map(_part, _of(operation, "path"))]
    if operation.get("requestBody"):
        given.append("body({" + ", ".join(f"{one!r}: {one}" for one in fields) + "})")
    given += [f"{argument(one['name'])}={_argument(one)}" for one in asked if not (paged and one["name"] == "limit")]
    if paged:
        yield from _pages(name, given, operation)
        return
    yield f"        request = calls.{name}({', '.join(given)})"
    if _takes_bytes(operation):
        yield f"        request = with_bytes(request, {tuple(_fields_of_files(operation))!r})"
    kinds = [one for one in answer.split(" | ") if one.startswith("re")]
    yield f"        return await self.{'_add' if _creates(operation) else '_ask'}({', '.join(['request', *kinds])})"


def _pages(name: str, given: Sequence[str], operation: Operation) -> Iterator[str]:
    """Return the body of a verb that yields the items of all pages."""
    query = {one["name"]: one["schema"] for one in _of(operation, "query")}
    words = [word for one, word in (("limit", "limit=size"), ("cursor", "cursor=cursor")) if one in query]
    size = query.get("limit", {}).get("maximum", PAGE_MAX)
    limit = "limit" if "limit" in query else "None"
    yield f"        return self._pages(lambda size, cursor: calls.{name}({', '.join([*given, *words])}),"
    yield f"            replies.{structs.name_of(_kinds(operation)[0])}, {limit}, {size})"


def _arguments(
    operation: Operation, fields: Mapping[str, Any], needed: Sequence[str], asked: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Write the arguments: what is in the path, fields by place, then fields and parameters by name."""
    kinds = {name: _given(name, one, operation) for name, one in fields.items()}
    yield from (f"        {argument(one['name'])}: {structs.given(one['schema'])}," for one in _of(operation, "path"))
    wanted = [one for one in asked if one.get("required")]
    by_place = [*needed, *(name for name in FIRST if name in fields and name not in needed)]
    yield from (f"        {name}: {kinds[name]}{'' if name in needed else ' = UNSET'}," for name in by_place)
    rest = [name for name in fields if name not in by_place]
    if rest or asked:
        yield "        *,"
    yield from (f"        {argument(one['name'])}: {structs.given(one['schema'])}," for one in wanted)
    yield from (f"        {name}: {kinds[name]} = UNSET," for name in rest)
    for one in asked:
        if one not in wanted:
            kind = structs.given(one["schema"])
            yield f"        {_argument(one)}: {kind} | None = None,"


def _part(parameter: Mapping[str, Any]) -> str:
    """Return a part of the path, which a request takes as a text."""
    name = argument(parameter["name"])
    return name if parameter["schema"].get("type") == "string" else f"str({name})"


def _argument(parameter: Mapping[str, Any]) -> str:
    return HEADERS.get(parameter["name"], argument(parameter["name"]))


def _given(name: str, schema: Mapping[str, Any], operation: Operation) -> str:
    kind = structs.given(schema)
    return f"{kind} | bytes" if name == "content" and _takes_bytes(operation) else kind


def _of(operation: Operation, where: str) -> list[Mapping[str, Any]]:
    return [one for one in operation.get("parameters", ()) if one["in"] == where and one["name"] != "space"]


def _asked(operation: Operation, fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parameters that are arguments: those that are no fields of the body as well."""
    query = [one for one in _of(operation, "query") if one["name"] not in UNASKED and one["name"] not in fields]
    return query + [one for one in _of(operation, "header") if one["name"] in HEADERS]


def _body(operation: Operation, schemas: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[str]]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = schemas.get(content.get(JSON, {}).get("schema", {}).get("$ref", "").rpartition("/")[2], {})
    return schema.get("properties", {}), schema.get("required", ())


def _takes_bytes(operation: Operation) -> bool:
    return BINARY in operation.get("requestBody", {}).get("content", {})


def _fields_of_files(operation: Operation) -> list[str]:
    """Return the fields that go with bytes, as parameters."""
    return [one["name"] for one in _of(operation, "query") if one["name"] not in UNASKED]


def _creates(operation: Operation) -> bool:
    """Whether the operation may store the first text of a space, which is then created."""
    return operation["operationId"].startswith(CREATING) and any(
        one["name"] == "Muisti-Allow" for one in _of(operation, "header")
    )


def _kinds(operation: Operation) -> list[str]:
    """Return the types of the answer but for a dry run, as source; `str` and `Any` for what is no object."""
    found = dict[str, None]()
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            for media, one in answer.get("content", {}).items():
                found |= dict.fromkeys(_named_in(one.get("schema", {})) if media == JSON else ["str"])
    return [one for one in found if one != "DryRunReply"]


def _named_in(schema: Mapping[str, Any]) -> list[str]:
    named = [one["$ref"].rpartition("/")[2] for one in schema.get("anyOf", [schema]) if "$ref" in one]
    return named or ["Any"]


def _answer(operation: Operation, schemas: Mapping[str, Any]) -> str:
    words = [_place(kind, schemas) for kind in _kinds(operation)]
    return " | ".join([*words, *(["None"] if "204" in operation["responses"] else [])]) or "None"


def _place(kind: str, schemas: Mapping[str, Any]) -> str:
    """Return a type with its module, as source."""
    if kind not in schemas:
        return kind
    return f"{'results' if kind in structs.common(schemas) else 'replies'}.{structs.name_of(kind)}"


def _is_paged(operation: Operation, schemas: Mapping[str, Any]) -> bool:
    kinds = _kinds(operation)
    listed = operation["operationId"].startswith("list") and len(kinds) == 1
    return listed and "next_cursor" in schemas.get(kinds[0], {}).get("properties", {})


def _item(operation: Operation, schemas: Mapping[str, Any]) -> str:
    items = schemas[_kinds(operation)[0]]["properties"]["items"]["items"]
    return _place(items["$ref"].rpartition("/")[2], schemas)
