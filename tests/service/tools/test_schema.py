"""Declared schemas equal what tools accept: a validating client can send every argument, and none is refused."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from msgspec import inspect

from muisti.core.engine import Engine
from muisti.core.identity.grants import Grant
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.mcp.tools import TOOLS
from muisti.service.schemas.requests import AddBody, EntryBody, PatchBody
from muisti.service.settings import Settings
from muisti.service.tools.catalog import WORDS
from tests.service.keyed import Caller, administrator, with_mode
from tests.service.mcp_client import answer, call, schemas

pytestmark = pytest.mark.one_store

EVERY_NAME = sorted({*WORDS, *AddBody.__struct_fields__, *PatchBody.__struct_fields__, "lambda", "contnt"})
SAMPLES: Mapping[str, Any] = {
    "string": "2031-01-01T00:00:00Z", "integer": 1, "number": 0.5, "boolean": True, "object": {}, "array": [],
}  # fmt: skip
NO_SUCH = ("there is no such field", "there is no argument")


def sample(schema: Mapping[str, Any]) -> Any:
    """Return a value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"]
    return SAMPLES[kind if isinstance(kind, str) else kind[0]]


def callers(engine: Engine) -> dict[str, Caller]:
    """Return a caller of each kind that sees other tools or arguments."""
    administrator(engine)
    engine.spaces.create("own")
    found = {mode: with_mode(engine, mode, "*") for mode in ("full", "no-delete", "append-only", "read-only")}
    found["one space"] = with_mode(engine, "full", "own")
    found["one category"] = with_mode(engine, "full", "own", category="Notes")
    return found


def refuses(client: httpx.Client, tool: str, caller: Caller, name: str, value: Any) -> bool:
    """Whether a tool says that it has no such argument."""
    found = call(client, tool, caller.headers, **{name: value})
    return found["isError"] and any(words in found["content"][0]["text"] for words in NO_SUCH)


def test_every_argument_that_is_declared_is_taken_and_no_other(engine: Engine):
    who = callers(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        for kind, caller in who.items():
            for tool, schema in schemas(client, caller.headers).items():
                properties = schema["properties"]
                for name, declared in properties.items():
                    assert not refuses(client, tool, caller, name, sample(declared)), (kind, tool, name)
                for name in EVERY_NAME:
                    assert name in properties or refuses(client, tool, caller, name, "x"), (kind, tool, name)


def test_every_argument_of_every_tool_is_described_and_no_words_are_left_over(client: httpx.Client):
    found, own = schemas(client), {tool.name: tool.words for tool in TOOLS}
    assert found.keys() == own.keys()
    for tool, schema in found.items():
        assert own[tool].keys() <= schema["properties"].keys()
        for name, declared in schema["properties"].items():
            assert declared["description"] and declared["description"] == own[tool].get(name, WORDS[name]), (tool, name)
    assert set(WORDS) == {name for schema in found.values() for name in schema["properties"]}


def test_the_choices_that_need_a_reason_are_explained_where_they_are_made(client: httpx.Client):
    declared = schemas(client)["remember"]["properties"]
    for name, choices in (("type", ("guard", "procedure")), ("on_conflict", ("keep", "review", "supersede"))):
        assert [choice for choice in choices if f"{choice}: " not in declared[name]["description"]] == []
        assert {*choices} <= {*declared[name]["enum"]}


def test_the_words_on_a_choice_that_a_key_has_not_are_left_out(engine: Engine):
    who = callers(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        words = schemas(client, who["append-only"].headers)["remember"]["properties"]["on_conflict"]["description"]
    assert "review: " in words and "supersede" not in words


def test_what_http_takes_for_a_memory_the_tools_take(client: httpx.Client):
    found = schemas(client)
    assert {*AddBody.__struct_fields__} <= {*found["remember"]["properties"]}
    assert found["recall"]["required"] == ["query"]


def test_every_choice_that_is_declared_is_taken(engine: Engine):
    who = callers(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        for kind, caller in who.items():
            for tool, schema in schemas(client, caller.headers).items():
                for name, declared in schema["properties"].items():
                    for choice in declared.get("enum", ()):
                        found = call(client, tool, caller.headers, **{name: choice})
                        problems = (found["structuredContent"] or {}).get("errors", [])
                        assert f"$.{name}" not in {one["path"] for one in problems}, (kind, tool, name, choice)


def allows_null(field: inspect.Field) -> bool:
    kinds = field.type.types if isinstance(field.type, inspect.UnionType) else ()
    return any(isinstance(one, inspect.NoneType) for one in kinds)


def test_null_clears_where_it_is_allowed(engine: Engine, client: httpx.Client):
    declared = schemas(client)["remember"]["properties"]
    clears = [one.name for one in inspect.type_info(PatchBody).fields if allows_null(one) and one.name in declared]
    given = {name: sample(declared[name]) for name in clears}
    given |= {"valid_from": "2020-01-01T00:00:00Z", "tags": ["a"], "metadata": {"a": 1}, "anchors": ["a.py"]}
    given["parent_id"] = engine.owner.write.add("default", [Draft(content="A parent of its own")]).memories[0].id
    assert len(given) > 8
    made = answer(client, "remember", content="We deploy on Fridays", **given)["memory"]
    before = engine.owner.read.get("default", made["id"]).memory
    assert all(getattr(before, name) for name in given)
    answer(client, "update_memory", id=made["id"], changes=dict.fromkeys(given))
    after = engine.owner.read.get("default", made["id"]).memory
    assert not [name for name in given if getattr(after, name)]


@pytest.mark.parametrize("own", ["user", "web"])
def test_a_key_is_offered_only_the_choices_that_it_may_make(engine: Engine, own: Any):
    administrator(engine)
    grant = Grant(frozenset(("read", "append")), ("default",), None, own)
    _, secret = engine.keys.create(grant, engine.now(), name="a test")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        headers = {"Authorization": f"Bearer {secret}"}
        declared = schemas(client, headers)["remember"]["properties"]
        assert "supersede" not in declared["on_conflict"]["enum"]
        choices = ["user", "tool", "model", "unknown", "web"]
        assert declared["source_class"]["enum"] == choices[choices.index(own) :]
        for number, choice in enumerate(declared["source_class"]["enum"]):
            assert answer(client, "remember", headers, content=f"Fact number {number}", source_class=choice)
        for choice in ("superseded", "deprecated"):
            assert choice not in declared["status"]["enum"]


def test_a_tool_is_declared_once():
    names = [tool.name for tool in TOOLS]
    assert len(names) == len(set(names))
    assert {*EntryBody.__struct_fields__} <= {*WORDS}


def nodes(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a schema and all schemas within it."""
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [schema, *(one for each in inner for one in nodes(each))]


def test_schemas_keep_to_what_strict_clients_take(client: httpx.Client):
    for tool, schema in schemas(client).items():
        assert schema["type"] == "object" and {*schema.get("required", ())} <= {*schema["properties"]}
        for node in nodes(schema):
            assert node["type"] in SAMPLES, (tool, node)
            assert node.keys() <= {"type", "properties", "required", "items", "enum", "description"}, (tool, node)
            assert ("items" in node) == (node["type"] == "array"), (tool, node)
            assert "enum" not in node or (node["type"] == "string" and node["enum"]), (tool, node)
