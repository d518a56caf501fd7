"""Every text field of every route that changes something: a secret is refused by its own name, or stored nowhere."""

import json
import string
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.spaces import Policy
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.mcp.tools import TOOLS
from muisti.service.settings import Settings
from muisti.service.tools.catalog import properties_of
from tests.core.fakes import Clock, WordEncoder
from tests.service.keyed import ANY_KEY, BODIES, NEEDS, STATEMENTS, TOOL_ARGUMENTS, url
from tests.stores import FileStore

SPACE = "acme"
NAMES: dict[str, Any] = {
    "createKey": {"name": "made", "scopes": ["read"], "spaces": ["*"]},
    "createSpace": {"name": "made"},
    "createWebhook": {"url": "https://hooks.example.com"},
}

# Fields that are no texts or that the requests do not get to, with the reason.
UNREACHED: Mapping[str, str] = {
    "$.settings.lexical_weights.note": "is a number",
    "$.server_path": "needs a server that has files to read",
    "$.idempotency_key": "is stored as it was sent, for a day, and shown nowhere",
    "createKey $.name": "needs a key; tests/service/auth/test_keys.py has one",
    "createKey $.category": "needs a key",
    "mcp undo $.category": "names a memory together with a key",
    "mcp undo $.key": "names a memory together with a category",
    **{
        f"addDatabase $.{name}": "needs the owner of the machine"
        for name in ("url", "namespace", "replica_url", "token_file")
    },
    "compareGenerations $.queries[0]": "needs a second model, and is not stored",
    "compareGenerations $.qrels.note": "needs a second model, and is not stored",
}
# Both messages of a turn are one text.
STORED_AS: Mapping[str, str] = {"$.items[0].user": "$.items[0].content", "$.items[0].system": "$.items[0].content"}
# Fields that go without some of the others, or with them: what stands in for those, None for nothing.
BESIDE: Mapping[str, Mapping[str, Any]] = {
    "literal": {"object": None}, "text": {"object": None}, "user": {"content": None},
    "system": {"content": None, "user": "Hello"}, "server_path": {"content": None}, "request": {"author": None},
    "category": {"id": None, "key": "deploy"}, "key": {"id": None, "category": "rules"},
    "session": {"conversation": "d"},
}  # fmt: skip

Field = tuple[str | int, ...]


@dataclass(frozen=True)
class Filled:
    """A server with something at every address that is asked for, its file, and ids of a memory and a relation."""

    client: httpx.Client
    file: Path
    memory: str
    statement: str


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    store = FileStore(tmp_path_factory.mktemp("texts") / "muisti.db")
    policy = Policy(secrets="refuse", personal_data="refuse")
    with (
        Engine(store.open(), WordEncoder(), Clock(), policy=policy) as engine,
        TestClient(create_app(Settings(tasks=0, upkeep=False), engine=engine)) as client,
    ):
        engine.spaces.create(SPACE)
        api = f"/v1/spaces/{SPACE}"
        first = Draft(content="We deploy", category="rules", key="deploy")
        memory = engine.owner.write.add(SPACE, [first], on_conflict="keep").memories[0].id
        items = [{"turn": turn, "author": "Ann", "content": f"Hello {turn}"} for turn in range(1, 16)]
        client.post(f"{api}/conversations/c/exchanges", json={"items": items, "session": "s"}).raise_for_status()
        for topic, span in (("t0", [1, 4]), ("t1", [5, 12]), ("t2", [13, 15])):
            body = {"name": topic, "spans": [span]}
            client.post(f"{api}/conversations/c/topics", json=body).raise_for_status()
        client.put(f"{api}/documents/a.md", json={"content": "We moved to Turku."}).raise_for_status()
        relation = client.post(f"{api}/graph/relations", json=BODIES["stateRelation"]).raise_for_status().json()
        yield Filled(client, store.path, memory, relation["id"])


def texts(schema: Any, document: Any, path: Field = ()) -> Iterator[Field]:
    """Yield the places of texts in a body of a schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = document["components"]["schemas"][name]
    for one in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from texts(one, document, path)
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if len(path) > 4:
        return
    if "string" in kinds and "enum" not in schema and schema.get("format") not in ("date-time", "uuid"):
        yield path
    if "array" in kinds:
        yield from texts(schema.get("items", {}), document, (*path, 0))
    if "object" in kinds or "properties" in schema:
        for name, inner in schema.get("properties", {}).items():
            yield from texts(inner, document, (*path, name))
        if schema.get("additionalProperties") not in (None, False):
            yield (*path, "note")


def with_text(body: Any, path: Field, text: str) -> Any:
    if not path:
        return text
    first, *rest = path
    if isinstance(first, int):
        there = cast("list[Any]", body) if isinstance(body, list) and body else [None]
        return [with_text(there[0], tuple(rest), text), *there[1:]]
    there = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    return {**there, first: with_text(there.get(first), tuple(rest), text)}


def sent(body: Any, path: Field, text: str) -> Any:
    """Return a body with a text in a field, without the fields that it excludes, and with what it needs."""
    if "anchors" in path[:-2] and path[-1] != "path":
        body = with_text(body, (*path[:-1], "path"), "src/a.py")
    for name, value in BESIDE.get(str(path[-1]), {}).items() if path else ():
        there: Any = body
        for part in path[:-1]:
            there = there[part] if isinstance(part, int) and there else there.get(part) if there else None
        if isinstance(there, dict) and BESIDE[str(path[-1])].keys() & there.keys():
            body = with_text(body, (*path[:-1], name), cast(str, value))
    return _without_null(with_text(body, path, text))


def _without_null(body: Any) -> Any:
    if isinstance(body, list):
        return [_without_null(one) for one in cast("list[Any]", body)]
    if not isinstance(body, dict):
        return body
    named = cast("dict[str, Any]", body)
    return {name: _without_null(value) for name, value in named.items() if value is not None}


def said(path: Field) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def canary(number: int) -> str:
    letters = string.ascii_uppercase
    return "AKIAQ7ZK4WJX2MN" + "".join(letters[number // 26**place % 26] for place in range(5))


CHANGING = sorted(name for name in (NEEDS.keys() | ANY_KEY) if NEEDS.get(name) != "read")


class Canaries:
    """Secrets, of which each is sent in one field, and what is wrong with the answers."""

    def __init__(self) -> None:
        self.sent: dict[str, str] = {}
        self.wrong: list[str] = []

    def text(self) -> str:
        return f"It is {canary(len(self.sent))} now"

    def note(self, operation: str, field: Field, code: str | None, paths: Sequence[str], told: str) -> None:
        """Note an answer: the code and the paths of a refusal. Any other refusal must be of the field itself."""
        place, secret = said(field), canary(len(self.sent))
        self.sent[secret] = f"{operation} {place}: {code} {told[:150]}"
        if place in UNREACHED or f"{operation} {place}" in UNREACHED:
            self.sent[secret + " is not sought"] = self.sent.pop(secret)
            return
        own = any(one != "$" and (place.startswith(one) or one.startswith(place)) for one in paths)
        own = own or STORED_AS.get(place) in paths
        if code == "internal" or (code not in (None, "not_found") and not own):  # not_found: it was looked up
            self.wrong.append(f"{operation} {place} is refused as {paths}: {code} {told[:150]}")

    def check(self, file: Path) -> None:
        raw = b"".join(one.read_bytes() for one in file.parent.iterdir() if one.is_file())
        wrong = [*self.wrong, *(f"stored: {what}" for secret, what in self.sent.items() if secret.encode() in raw)]
        assert not wrong, "\n".join(wrong)


def of_body(body: Any) -> tuple[str | None, list[str]]:
    """Return the code of a refusal and the paths that it names; no code for an answer that is none."""
    found = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    problem = found if "code" in found else next(iter(found.get("failures", ())), {})
    return problem.get("code"), [one["path"] for one in problem.get("errors", ())]


def test_a_secret_is_refused_by_the_name_of_its_field_or_stored_nowhere(filled: Filled):
    client, canaries = filled.client, Canaries()
    document = client.get("/openapi.json").json()
    for path, item in document["paths"].items():
        for method, found in item.items():
            name = found.get("operationId")
            content = found.get("requestBody", {}).get("content", {})
            if name not in CHANGING or "application/json" not in content:
                continue
            memory = filled.statement if name in STATEMENTS else filled.memory
            at = url(path, space=SPACE, memory_id=memory)
            for field in dict.fromkeys(texts(content["application/json"]["schema"], document)):
                body = sent(NAMES.get(name, BODIES.get(name, {})), field, canaries.text())
                answer = client.request(method.upper(), at, json=body)
                code, paths = of_body(answer.json() if answer.content else {}) if answer.is_error else (None, [])
                canaries.note(name, field, code, paths, answer.text)
    assert len(canaries.sent) > 100
    canaries.check(filled.file)


def test_every_tool_can_be_called_by_the_tests():
    assert {tool.name for tool in TOOLS} == TOOL_ARGUMENTS.keys(), "TOOL_ARGUMENTS of keyed.py has a call of each tool"


def test_a_secret_in_an_argument_of_a_tool_is_refused_by_its_name_or_stored_nowhere(filled: Filled):
    canaries = Canaries()
    for tool in TOOLS:
        given = {name: filled.memory if one == "ID" else one for name, one in TOOL_ARGUMENTS[tool.name].items()}
        given |= {"space": SPACE} if tool.in_space else {}
        for field in dict.fromkeys(texts({"properties": properties_of(tool.arguments)}, {})):
            called = {"name": tool.name, "arguments": sent(given, field, canaries.text())}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
            headers = {"Accept": "application/json, text/event-stream"}
            answer = filled.client.post("/mcp?tools=all", json=message, headers=headers).json()
            result = answer.get("result", {"isError": True, "structuredContent": answer.get("error", {})})
            code, paths = of_body(result.get("structuredContent")) if result.get("isError") else (None, [])
            canaries.note(f"mcp {tool.name}", field, str(code) if code else None, paths, json.dumps(answer))
    assert len(canaries.sent) > 80
    canaries.check(filled.file)


@pytest.mark.parametrize(
    "field", [("content",), ("author",), ("reason",), ("source",), ("category",), ("tags", 0), ("metadata", "note")]
)
def test_a_secret_in_a_line_of_an_import_is_refused_by_its_name(filled: Filled, field: Field):
    usual = {"id": str(uuid.uuid4()), "content": "New", "category": "rules", "key": "new"}
    memory = with_text(usual, field, f"It is {canary(0)} now")
    lines = [{"type": "muisti", "format": 1}, {"type": "memory", "memory": memory}, {"type": "end", "lines": 2}]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    typed = {"Content-Type": "application/x-ndjson"}
    answer = filled.client.post(f"/v1/spaces/{SPACE}/import", content=sent, headers=typed)
    assert answer.status_code == 422 and "looks like a secret" in answer.text
    assert f"$.lines[2]{said(field)[1:]}" in of_body(answer.json())[1]
