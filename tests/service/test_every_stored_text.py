"""Every text field of every route that changes something: a secret is refused by its own name, or stored nowhere."""

import json
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.probes import Expectation
from muisti.core.model.spaces import Policy
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.keyed import ANY_KEY, BODIES, NEEDS
from tests.stores import FileStore

SPACE = "acme"
# Refused by the name of the field that the text is stored in.
STORED_AS: Mapping[tuple[str, str], str] = {
    ("addDocuments", "$.path"): "$.document",
    ("addExchanges", "$.category"): "$.items[0].category",
    ("keepEntitiesApart", "$.others[0]"): "$.apart[0]",
    ("mergeEntities", "$.others[0]"): "$.aliases[0]",
}
NAMES: dict[str, Any] = {
    "createKey": {"name": "made", "scopes": ["read"], "spaces": ["*"]},
    "createSpace": {"name": "made"},
    "createWebhook": {"url": "https://hooks.example.com"},
}

Field = tuple[str | int, ...]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    store = FileStore(tmp_path_factory.mktemp("texts") / "muisti.db")
    policy = Policy(secrets="refuse", personal_data="refuse")
    with (
        Engine(store.open(), WordEncoder(), Clock(), policy=policy) as engine,
        TestClient(create_app(Settings(), engine=engine)) as client,
    ):
        client.headers["x-path"] = str(store.path)
        yield fill(client, engine)


def fill(client: httpx.Client, engine: Engine) -> httpx.Client:
    """Store something at every address that is asked for."""
    engine.spaces.create(SPACE)
    engine.probes.add(SPACE, Expectation(query="q", category="rules", key="deploy"), OWNER, engine.now())
    api = f"/v1/spaces/{SPACE}"
    engine.owner.write.add(SPACE, [Draft(content="We deploy", category="rules", key="deploy")], on_conflict="keep")
    items = [{"turn": 1, "author": "Ann", "content": "Hello"}]
    client.post(f"{api}/conversations/c/exchanges", json={"items": items, "session": "s"}).raise_for_status()
    client.post(f"{api}/conversations/c/topics", json={"name": "t1", "spans": [[1, 2]]}).raise_for_status()
    return client


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


def said(path: Field) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def canary(number: int) -> str:
    letters = string.ascii_uppercase
    return "AKIAQ7ZK4WJX2MN" + "".join(letters[number // 26**place % 26] for place in range(5))


CHANGING = sorted(name for name in (NEEDS.keys() | ANY_KEY) if NEEDS.get(name) != "read")


def test_a_secret_is_refused_by_the_name_of_its_field_or_stored_nowhere(client: httpx.Client):
    document = client.get("/openapi.json").json()
    file = Path(client.headers["x-path"])
    sent: dict[str, tuple[str, str, int, str]] = {}
    wrong: list[str] = []
    for path, item in document["paths"].items():
        for method, found in item.items():
            name = found.get("operationId")
            content = found.get("requestBody", {}).get("content", {})
            if name not in CHANGING or "application/json" not in content:
                continue
            url = path.format(
                space=SPACE, memory_id="0" * 8, category="rules", key="deploy", key_id="0" * 12, probe_id="0" * 8,
                conflict_id=1, receipt_id="0" * 8, checkpoint="before", import_id=1, webhook_id="0" * 12,
                task_id="0" * 36, generation="0" * 32, session="s", conversation="c", topic="t1", turn=1,
                document="a.md", entity="Ann Berg", code="x",
            )  # fmt: skip
            for field in dict.fromkeys(texts(content["application/json"]["schema"], document)):
                secret = canary(len(sent))
                body = with_text(NAMES.get(name, BODIES.get(name, {})), field, f"It is {secret} now")
                answer = client.request(method.upper(), url, json=body)
                sent[secret] = (name, said(field), answer.status_code, answer.text[:150])
                if answer.status_code >= 500:
                    wrong.append(f"{sent[secret]}")
                if answer.status_code == 422 and answer.json()["code"] == "sensitive_content":
                    paths = [one["path"] for one in answer.json()["errors"]]
                    own = STORED_AS.get((name, said(field)), said(field))
                    if not any(own.startswith(one) for one in paths):
                        wrong.append(f"{name} {said(field)} is named {paths}")
    raw = b"".join(one.read_bytes() for one in file.parent.iterdir() if one.is_file())
    wrong += [f"stored: {json.dumps(what)}" for secret, what in sent.items() if secret.encode() in raw]
    assert len(sent) > 100
    assert not wrong, "\n".join(wrong)
