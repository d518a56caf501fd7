"""Compare answers to a limited key in two worlds: with what it may not read, and without it.

Both worlds begin as one database. One of them then gets `VAULT`: a category beside the key's own, and a space. Every
operation of the API, every tool of MCP and every page of the console is called in both, in the same order.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from shutil import copyfile
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.grants import EVERYTHING, Grant
from muisti.core.model.choices import Scope
from muisti.service.app.app import create_app
from muisti.service.mcp.tools import TOOLS
from muisti.service.pages.app import handlers
from muisti.service.settings import Settings
from muisti.service.tools.catalog import properties_of
from tests.core.fakes import Clock, WordEncoder
from tests.service.keyed import (
    BODIES,
    LINES,
    NEEDS,
    PLACES,
    PUBLIC,
    QUERIES,
    STATEMENTS,
    TOOL_ARGUMENTS,
    administrator,
    url,
)
from tests.service.pages.forms import forms_of, sign_in
from tests.service.test_every_stored_text import texts, with_text
from tests.stores import FileStore

pytestmark = pytest.mark.one_store

OWN, SIDE, VAULT = "acme", "side", "vault"
SALARY = "The salary of Ann Lee is 5433 euros a month."
SECRET_PERSON = "Zelda Quorn"
ALL: tuple[Scope, ...] = ("read", "append", "write", "delete")
KEYS: Mapping[str, tuple[tuple[Scope, ...], str, str | None]] = {
    "category-read": (("read",), OWN, "rules"),
    "category-full": (ALL, OWN, "rules"),
    "append": (("append",), OWN, None),
    "category-append": (("append",), OWN, "rules"),
    "other-space": ((*ALL, "admin"), SIDE, None),
}
LAST = ("rollBack", "clearSpace", "deleteSpace")  # after them little is left to compare
ABROAD = {"from", "to", "name", "spaces", "inherit", "inherits", "inherit_from", "other", "since", "memory", "id"}
IDS = ("memory_id", "memory", "parent_id", "derived_from", "id", "supersedes", "statement", "similar_to", "explain_ids")


@dataclass
class Names:
    """Names of what the requests are about: the own things of a key, or hidden ones."""

    space: str
    category: str
    key: str
    conversation: str
    person: str
    document: str
    code: str
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def value(self, place: Sequence[str | int]) -> str:
        """Return the value of these names that suits a field."""
        named = {
            **dict.fromkeys(IDS, self.ids["memory_id"]),
            **dict.fromkeys(("content", "contents", "text"), SALARY),
            **dict.fromkeys(("document", "path"), self.document),
            **dict.fromkeys(("subject", "object", "others"), self.person),
            "query": f"{self.person} salary boats",
        }
        return next((named[part] for part in reversed(place) if isinstance(part, str) and part in named), VAULT)

    def path(self, space: str) -> dict[str, Any]:
        return {
            **PLACES, "space": space, "category": self.category, "key": self.key, "conversation": self.conversation,
            "session": self.key, "topic": "t1" if self.key == "deploy" else self.key, "document": self.document,
            "entity": self.person, **self.ids,
        }  # fmt: skip


OWNS = Names(OWN, "rules", "deploy", "c", "Ann Berg", "a.md", "main.py")
SIDES = Names(SIDE, "rules", "deploy", "c", "Ann Berg", "a.md", "main.py")
HIDDEN = Names(OWN, VAULT, VAULT, VAULT, SECRET_PERSON, "vault.md", "vault.py")
VAULTS = Names(VAULT, VAULT, VAULT, VAULT, SECRET_PERSON, "vault.md", "vault.py")


def filled(client: httpx.Client, names: Names) -> None:
    """Store one of each kind of object; its texts are about the person."""
    api, category, who, key = f"/v1/spaces/{names.space}", names.category, names.person, names.key

    def send(method: str, path: str, body: Any = None, **params: str) -> Any:
        answer = client.request(method, api + path, json=body, params=params)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    secret = f" {SALARY}" if category == VAULT else ""
    add = {"category": category, "author": who, "tags": [key], "on_conflict": "keep", "source": key}
    ids = names.ids
    ids["memory_id"] = send("POST", "/memories", {**add, "content": f"We deploy boats for {who}.{secret}", "key": key})[
        "id"
    ]
    send("PATCH", f"/memories/{ids['memory_id']}", {"reason": f"Because of {who}"})
    send("POST", "/memories", {**add, "content": SALARY if secret else "The harbour opens at 5."})
    send("POST", "/memories", {**add, "content": f"Always mention {who} when I ask about boats.", "type": "guard"})
    send("POST", "/memories", {**add, "content": f"{who} may like tea", "status": "candidate"})
    for hour in (5, 6):
        send("POST", "/memories", {**add, "content": f"The gate of {who} opens at {hour}.", "on_conflict": "review"})
    ids["conflict_id"] = max(one["id"] for one in send("GET", "/conflicts")["items"])
    gone = send("POST", "/memories", {**add, "content": f"A mistake of {who}"})["id"]
    send("DELETE", f"/memories/{gone}")
    items = [{"turn": turn, "author": who, "content": f"{who} said {turn} about {key}"} for turn in range(1, 21)]
    talk = f"/conversations/{names.conversation}"
    send("POST", f"{talk}/exchanges", {"items": items, "session": key, "category": category})
    for number, span in enumerate(([1, 4], [5, 12], [13, 20])):
        topic = key if category == VAULT and number == 1 else f"t{number}"
        send("POST", f"{talk}/topics", {"name": topic, "title": f"On {who}", "spans": [span]}, category=category)
    send("POST", f"{talk}/summaries", {"category": category})
    send("PUT", f"{talk}/working/{key}", {"content": f"Keep {who} short."}, category=category)
    text, code = f"# {who}\n\nWe moved to Turku with {who}.\n", f"def run():\n    {key}()\n\ndef {key}():\n    run()\n"
    send("PUT", f"/documents/{names.document}", {"content": text}, category=category)
    send("PUT", f"/documents/{names.code}", {"content": code}, category=category)
    relation = {"subject": who, "kind": "works_at", "object": f"{key} Works Ltd", "category": category}
    ids["statement"] = send("POST", "/graph/relations", relation)["id"]
    asked = {"query": who, "receipt": True, "filter": {"category": category}}
    ids["receipt_id"] = send("POST", "/search", asked)["receipt"]
    ids["probe_id"] = send("POST", "/probes", {"query": who, "memory_id": ids["memory_id"]})["id"]
    send("POST", "/probes/run")
    send("PUT", f"/memories/{ids['memory_id']}/feedback", {"verdict": "useful"})
    lines = {"Content-Type": "application/x-ndjson"}
    brought = client.post(f"{api}/import?task=true", content=LINES["importMemories"], headers=lines)
    ids["task_id"] = brought.json()["id"]
    ended = client.post(f"{api}/tasks/{ids['task_id']}/cancel")  # else its stream of progress would not end
    assert ended.is_success, ended.text


def serving(path: Path) -> tuple[Engine, TestClient[Any]]:
    engine = Engine(FileStore(path).open(), WordEncoder(), Clock(), others=[WordEncoder("n", name="notes-static-512")])
    return engine, TestClient(create_app(Settings(upkeep=False, tasks=0), engine=engine))


def read_into_graphs(engine: Engine) -> None:
    for unread in engine.unread_graphs():
        while engine.extend_graph(unread.space, 1_000):
            pass


@dataclass(frozen=True)
class Worlds:
    """Two files, one with the vault, and what both have."""

    full: Path
    bare: Path
    secrets: Mapping[str, str]
    document: Any


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    folder = tmp_path_factory.mktemp("worlds")
    bare, full = folder / "bare.db", folder / "full.db"
    engine, client = serving(bare)
    with engine, client:
        client.headers.update(administrator(engine).headers)
        for names in (OWNS, SIDES):
            engine.spaces.create(names.space)
            filled(client, names)
            engine.owner.timeline.create_checkpoint(names.space, "before")
        secrets = {
            name: engine.keys.create(Grant(frozenset(scopes), (space,), category), engine.now(), name=name)[1]
            for name, (scopes, space, category) in KEYS.items()
        }
        read_into_graphs(engine)
        document = client.get("/openapi.json").json()
    copyfile(bare, full)
    engine, client = serving(full)
    with engine, client:
        client.headers.update(administrator(engine).headers)
        engine.spaces.create(VAULT)
        HIDDEN.ids["key_id"] = engine.keys.create(EVERYTHING, engine.now(), name=VAULT)[0].id
        for names in (HIDDEN, VAULTS):
            filled(client, names)
        engine.owner.timeline.create_checkpoint(VAULT, "before", note=VAULT)
        read_into_graphs(engine)
        body = {"content": f"Unread: {SECRET_PERSON}", "category": VAULT, "on_conflict": "keep"}
        assert client.post(f"/v1/spaces/{OWN}/memories", json=body).status_code == 201
    return Worlds(full, bare, secrets, document)


@dataclass(frozen=True)
class Call:
    """A request. A `form` is sent with the token of the visitor's browser."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    form: Mapping[str, str] | None = None
    lines: bytes | None = None

    def send(self, client: httpx.Client, token: str) -> httpx.Response:
        options: dict[str, Any] = {"params": self.params}
        if self.form is not None:
            options["data"] = {**self.form, "form_token": token}
        elif self.lines is not None:
            options |= {"content": self.lines, "headers": {"Content-Type": "application/x-ndjson"}}
        elif self.body is not None:
            options |= {"json": self.body, "headers": {"Accept": "application/json, text/event-stream"}}
        return client.request(self.method, self.path, follow_redirects=False, **options)


class Operation:
    """An operation of the API, and the requests that are sent to it."""

    def __init__(self, method: str, path: str, spec: Any, document: Any) -> None:
        self.name = spec["operationId"]
        self.method, self.path, self._document = method.upper(), path, document
        self.query = QUERIES.get(self.name, {"since": "0"} if self.name == "diffSpace" else {})
        self.parameters = {one["name"]: one["schema"] for one in spec.get("parameters", ()) if one["in"] == "query"}
        content = spec.get("requestBody", {}).get("content", {})
        self.schema = content.get("application/json", {}).get("schema")

    @property
    def order(self) -> tuple[bool, int]:
        return self.name in LAST, ("read", None, "append", "write", "delete", "admin").index(NEEDS.get(self.name))

    def calls(self, own: Names, hidden: Names, scopes: Sequence[Scope]) -> Iterator[Call]:
        """Yield requests with own names, and with a hidden one in each place.

        A key of another space gets only those that name spaces or ids; one without the scope gets only the first.
        """
        abroad = own is SIDES
        dry: Mapping[str, str] = {"dry_run": "true"} if "dry_run" in self.parameters else {}
        for run in [dry, {}] if dry else [{}]:
            yield self._call(own, own.space, run)
            for space in (own.space, hidden.space, VAULT):
                yield self._call(hidden, space, run)
                if "category" in self.parameters:
                    yield self._call(hidden, space, {**run, "category": hidden.category})
        if NEEDS.get(self.name) not in (None, *scopes):
            return
        for name, schema in self.parameters.items():
            if schema.get("type", "string") == "string" and "enum" not in schema and (not abroad or name in ABROAD):
                yield self._call(own, own.space, {**dry, name: hidden.value((name,))})
        body = BODIES.get(self.name, {})
        places = dict.fromkeys(texts(self.schema, self._document)) if self.schema else {}
        for place in places:
            if abroad and not ABROAD & {*place}:
                continue
            changed = with_text(body, place, hidden.value(place))
            yield self._call(own, own.space, dry, changed)
            beside = (*place[:-1], "category")
            if beside in places and place != beside:  # an address and names of conversations are of a category
                yield self._call(own, own.space, dry, with_text(changed, beside, hidden.category))

    def _call(self, names: Names, space: str, query: Mapping[str, str], body: Any = None) -> Call:
        values = names.path(space)
        if self.name in STATEMENTS:
            values["memory_id"] = values["statement"]
        body = BODIES.get(self.name) if body is None else body
        return Call(self.method, url(self.path, **values), {**self.query, **query}, body, lines=LINES.get(self.name))


def of_routes(document: Any, own: Names, hidden: Names, scopes: Sequence[Scope]) -> Iterator[Call]:
    found = [
        Operation(method, path, spec, document)
        for path, item in document["paths"].items()
        for method, spec in item.items()
        if spec["operationId"] not in PUBLIC
    ]
    for operation in sorted(found, key=lambda one: one.order):
        yield from operation.calls(own, hidden, scopes)


def of_tools(own: Names, hidden: Names, scopes: Sequence[Scope]) -> Iterator[Call]:
    """Yield calls of every tool: with own names, with the hidden space, and with a hidden value of each argument."""
    for tool in TOOLS:
        usual = {name: own.ids["memory_id"] if one == "ID" else one for name, one in TOOL_ARGUMENTS[tool.name].items()}
        given: list[dict[str, Any]] = [usual]
        schema = {"properties": properties_of(tool.arguments)}
        for place in dict.fromkeys(texts(schema, {})) if tool.needs in scopes else ():
            changed = with_text(usual, place, hidden.value(place))
            given += [changed, *([] if place != ("key",) else [{**changed, "category": hidden.category}])]
        if tool.in_space:
            given = [{"space": own.space, **one} for one in given]
            given.append({**usual, "space": VAULT})
        for one in given:
            called = {"name": tool.name, "arguments": one}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
            yield Call("POST", "/mcp?tools=all", body=message)


FORM = {
    "content": SALARY, "on_conflict": "reject", "type": "fact", "verdict": "useful", "version": "1", "do": "preview",
    "decision": "keep", "step": "preview", "to": "0", "query": SECRET_PERSON, "url": "https://hooks.example.com",
    "title": VAULT, "name": VAULT, "path": "vault.md", "key": VAULT, "category": VAULT, "request": VAULT,
    "first": SECRET_PERSON, "second": "Ann Berg", "overlap": "0", "show": "ids", "etag": '"1"', "action": "dismiss",
}  # fmt: skip


def of_console(own: Names, hidden: Names) -> Iterator[Call]:
    """Yield visits to every page, with own names and with hidden ones, and forms about what is hidden."""
    named = {
        "space": "space", "memory_id": "memory_id", "document": "document", "entity": "entity", "task_id": "task_id",
        "task": "task_id", "number": "import_id", "key": "key_id", "probe": "probe_id", "receipt": "receipt_id",
        "conflict_id": "conflict_id", "checkpoint": "checkpoint", "webhook": "webhook_id",
    }  # fmt: skip
    for method in ("GET", "POST"):
        for page in handlers():
            for path in sorted(page.paths) if method in page.http_methods and "static" not in str(page.paths) else ():
                for names in (own, hidden) if method == "GET" else (hidden,):
                    values = names.path(own.space)
                    values["name"] = values["session" if "/sessions/" in path else "conversation"]

                    def value(found: re.Match[str], values: Mapping[str, Any] = values) -> str:
                        name = found[1]
                        return "discard" if name == "action" else quote(str(values[named.get(name, name)]), safe="")

                    form = {**FORM, "memory_id": names.ids["memory_id"]} if method == "POST" else None
                    if not path.startswith("/console/sign") and not path.endswith("/live"):  # which shows `seq`
                        yield Call(method, re.sub(r"\{(\w+):\w+\}", value, path), form=form)


# What is new each time: ids, names, secrets and signatures that a server makes, times, and the numbers of changes.
VOLATILE = (
    re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:(?::|%3A)\d+)?"),
    re.compile(r"\b(?:[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})\b|mk_\w+|\beyJ[\w.-]+"),
    re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?|\d+ (second|minute)s? ago|just now"),
    re.compile(r'(?<=\(change )\d+|(?<="seq":)\d+'),
)


def told(answer: httpx.Response) -> tuple[int, str]:
    """Return an answer without what is new each time."""
    headers = {name: answer.headers.get(name) for name in ("location", "content-type", "muisti-flags", "link")}
    text = answer.text + json.dumps(headers)
    for new in VOLATILE:
        text = new.sub("NEW", text)
    return answer.status_code, text


def differences(worlds: Worlds, key: str, calls: Iterator[Call], path: Path) -> list[str]:
    """Return in words the calls whose answers differ in the two worlds, and those that crash."""
    wrong: list[str] = []
    with ExitStack() as stack:
        visitors: list[tuple[httpx.Client, str]] = []
        for name, original in (("full", worlds.full), ("bare", worlds.bare)):
            copyfile(original, path / f"{name}.db")
            engine, client = serving(path / f"{name}.db")
            stack.enter_context(engine)
            visitor: httpx.Client = stack.enter_context(client)
            sign_in(visitor, worlds.secrets[key])
            token = forms_of(visitor.get("/console/sign-in").text)[0].fields["form_token"]
            visitor.headers["Authorization"] = f"Bearer {worlds.secrets[key]}"
            visitors.append((visitor, token))
        for call in calls:
            full, bare = (told(call.send(client, token)) for client, token in visitors)
            if full != bare or full[0] >= 500:
                pairs = enumerate(zip(full[1], bare[1], strict=False))
                at = max(next((place for place, (one, other) in pairs if one != other), 0) - 60, 0)
                said = [f"{status} …{text[at : at + 120]}" for status, text in (full, bare)]
                wrong.append("\n  ".join([str(call), *said]))
    return wrong


@pytest.mark.prove
@pytest.mark.parametrize("key", KEYS)
def test_what_a_key_may_not_read_changes_no_answer(worlds: Worlds, key: str, tmp_path: Path):
    scopes, space, _ = KEYS[key]
    own, hidden = (SIDES, VAULTS) if space == SIDE else (OWNS, HIDDEN)
    pages = of_console(own, hidden) if "delete" in scopes else ()  # they send what the API takes
    calls = chain(of_tools(own, hidden, scopes), pages, of_routes(worlds.document, own, hidden, scopes))
    wrong = differences(worlds, key, calls, tmp_path)
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def client(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def hidden_draft(text: str) -> dict[str, Any]:
    return {"content": text, "category": "secret", "on_conflict": "keep"}


SAID = [{"content": SALARY}, {"content": SALARY.replace("5433", "5434")}]


CLAIMED = ("The vault is in Lyon.", {"content": "The vault is in Porto."})


@pytest.mark.parametrize(("hidden", "said"), [*((SALARY, said) for said in SAID), CLAIMED])
def test_a_review_takes_what_the_caller_may_not_read(
    client: httpx.Client, engine: Engine, hidden: str, said: dict[str, Any]
):
    owner = administrator(engine).headers
    engine.spaces.create("s")
    secret = engine.keys.create(Grant(frozenset({"append"}), ("*",)), engine.now(), name="k")[1]
    client.post("/v1/spaces/s/memories", json=hidden_draft(hidden), headers=owner)
    added = client.post("/v1/spaces/s/memories", json=said, headers={"Authorization": f"Bearer {secret}"})
    assert added.status_code == 201
    (conflict,) = client.get("/v1/spaces/s/conflicts", headers=owner).json()["items"]
    assert added.json()["id"] in str(conflict)


def test_hidden_memories_displace_none_that_a_key_may_read(client: httpx.Client, engine: Engine):
    owner = administrator(engine).headers
    engine.spaces.create("s")
    secret = engine.keys.create(Grant(frozenset({"read", "append"}), ("*",), "own"), engine.now(), name="k")[1]
    for text in [SALARY, *(SALARY + " " * more for more in range(8))]:
        client.post("/v1/spaces/s/memories", json=hidden_draft(text), headers=owner)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.post("/v1/spaces/s/memories", json=SAID[0], headers=headers).status_code == 201
    again = client.post("/v1/spaces/s/memories", json=SAID[0], headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
