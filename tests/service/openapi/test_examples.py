"""Every operation and every error has an example in the OpenAPI document, and the examples are true."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.openapi.specification import REQUESTS
from muisti.service.settings import Settings
from tests.service.fakes import API
from tests.service.keyed import administrator, url

Json = dict[str, Any]

DOCUMENT: Json = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text("utf-8"))
OPERATIONS: dict[str, tuple[str, str, Json]] = {
    operation["operationId"]: (method, path, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}
RULE, THURSDAYS = REQUESTS["addMemory"], REQUESTS["updateMemory"]["content"]
# The order in which the examples happen; each answers with its first status.
STORY = (
    "addMemory", "getMemory", "getEntry", "addMemories", "updateMemory", "getHistory", "search", "listMemories",
    "listCategories", "listTags", "setQuota", "getStats", "getSpace", "createSpace", "listSpaces", "putEntry",
    "restoreMemory", "supersedeMemory",
)  # fmt: skip
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FRACTION = re.compile(r"\b\d\.\d\d\b")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """A new server with the model that comes with it."""
    with TestClient(create_app(Settings(database_url=f"file:{tmp_path / 'muisti.db'}"))) as opened:
        yield opened


def bodies() -> Iterator[tuple[str, Json]]:
    """Yield each body's place in the document, and the description of its content."""
    for name, (_, _, operation) in OPERATIONS.items():
        for media, content in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{name} {media}", content
        for status, response in operation["responses"].items():
            for content in response.get("content", {}).values():
                yield f"{name} {status}", content
    for name, response in DOCUMENT["components"]["responses"].items():
        for content in response["content"].values():
            yield name, content


def examples(content: Json) -> list[Any]:
    named = content.get("examples", {}).values()
    found = [DOCUMENT["components"]["examples"][one["$ref"].rpartition("/")[2]]["value"] for one in named]
    return found + [content[name] for name in ("example",) if name in content]


def test_every_body_has_an_example_that_its_schema_allows():
    for where, content in bodies():
        if content["schema"].get("format") == "binary":  # bytes, which JSON cannot show
            continue
        schema = {**content["schema"], "components": DOCUMENT["components"]}
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        assert examples(content), where
        for example in examples(content):
            assert [(where, error.message) for error in validator.iter_errors(example)] == []


def test_every_error_of_every_operation_has_its_own_example():
    for name, (_, _, operation) in OPERATIONS.items():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                refusal = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
                (content,) = refusal["content"].values()
                shown = examples(content)
                assert {example["status"] for example in shown} == {int(status)}, (name, status)
                assert {example["code"] for example in shown} == set(content["examples"]), (name, status)


def steady(value: Any) -> Any:
    """Return a value without what differs between runs or models: ids, times and fractions."""
    if isinstance(value, dict):
        return {DAY.sub("{day}", name): steady(inner) for name, inner in value.items() if name != "generation"}
    if isinstance(value, list):
        return [steady(one) for one in value]
    if isinstance(value, float):
        return ...
    if isinstance(value, str):
        return FRACTION.sub("{fraction}", TIME.sub("{time}", ID.sub("{id}", value)))
    return value


def play(client: httpx.Client, name: str, memory_id: str) -> httpx.Response:
    method, path, operation = OPERATIONS[name]
    media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return client.request(method, url(path, memory_id=memory_id), json=media.get("example"))


def test_the_examples_tell_what_happens(client: httpx.Client):
    """In this order, in a new space."""
    memory_id = ""
    for name in STORY:
        response = play(client, name, memory_id)
        memory_id = memory_id or response.json()["id"]
        described = OPERATIONS[name][2]["responses"][str(response.status_code)]
        assert steady(response.json()) == steady(described["content"]["application/json"]["example"]), name
        listed = {header.lower() for header in described["headers"]}
        assert {"muisti-seq", "etag", "location"} & set(response.headers) <= listed, name


def test_the_examples_of_errors_tell_what_happens(client: httpx.Client):
    memory_id = play(client, "addMemory", "").json()["id"]
    bodies = {
        "invalid_input": {"content": " "},
        "duplicate": {"content": RULE["content"]},
        "contradiction": {"content": THURSDAYS},
        "address_taken": {"content": "Something else", "category": "rules", "key": "deploy"},
    }
    answers = {code: client.post(f"{API}/memories", json=body) for code, body in bodies.items()}
    play(client, "updateMemory", memory_id)
    old = {"If-Match": f'"{memory_id}.1"'}
    answers["stale_version"] = client.patch(f"{API}/memories/{memory_id}", json={}, headers=old)
    for code, answer in answers.items():
        assert steady(answer.json()) == steady(DOCUMENT["components"]["examples"][code]["value"])


def test_a_refusal_without_a_key_has_the_headers_that_the_document_lists(engine: Engine):
    administrator(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        response = client.get("/v1/spaces")
    refusal = DOCUMENT["components"]["responses"]["unauthorized"]
    assert response.status_code == 401
    assert {name.lower() for name in refusal["headers"]} <= set(response.headers)
