"""Null means that an argument is left out, for every tool on both ways; a date or a time without zone is in UTC."""

from typing import Any

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.service.mcp.admin import Purge
from muisti.service.mcp.tools import given
from muisti.service.tools.arguments import Recall, Remember, UpdateMemory
from tests.service.mcp_client import LONG, PLAIN, call, schemas, text_of

pytestmark = pytest.mark.one_store

WAYS = pytest.mark.parametrize("way", [PLAIN, LONG], ids=["fast path", "SDK"])


def faults(found: Any) -> Any:
    """Return which arguments an answer finds fault with, and how."""
    return found["structuredContent"].get("errors")


def least(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a value for each argument that a tool requires."""
    required = {name: schema["properties"][name] for name in schema.get("required", ())}
    return {name: one["enum"][0] if "enum" in one else [] if "items" in one else "x" for name, one in required.items()}


@WAYS
def test_null_for_any_optional_argument_is_as_if_it_were_left_out(client: httpx.Client, way: str):
    met = 0
    for tool, schema in schemas(client).items():
        required = least(schema)
        plain = faults(call(client, tool, content_type=way, **required))
        for name in schema["properties"].keys() - required.keys():
            nulled: dict[str, Any] = {**required, name: None}
            found = call(client, tool, content_type=way, **nulled)
            assert faults(found) == plain and "null" not in text_of(found), (tool, name, found)
            met += 1
    assert met > 120


@WAYS
def test_a_required_argument_that_is_null_is_missing(client: httpx.Client, way: str):
    met = 0
    for tool, schema in schemas(client).items():
        for name in least(schema):
            found = call(client, tool, content_type=way, **{**least(schema), name: None})
            assert faults(found) == [{"path": f"$.{name}", "message": "is required"}], (tool, name, found)
            met += 1
    assert met > 10


@WAYS
def test_tools_work_when_all_that_is_not_given_is_null(engine: Engine, client: httpx.Client, way: str):
    declared = schemas(client)

    def done(tool: str, **arguments: Any) -> Any:
        nulls = dict.fromkeys(declared[tool]["properties"])
        found = call(client, tool, content_type=way, **{**nulls, **arguments})
        assert not found["isError"], found
        return found["structuredContent"]

    made = done("remember", content="We deploy on Fridays", idempotency_key="one")["memory"]
    again = call(client, "remember", content="We deploy on Fridays", idempotency_key="one")
    assert again["structuredContent"]["replayed"]
    assert [one["id"] for one in done("recall", query="deploy")["memories"]] == [made["id"]]
    assert done("update_memory", id=made["id"], changes={"content": "We deploy daily", "author": None})
    done("forget", id=made["id"])
    done("undo", id=made["id"])
    assert [one["content"] for one in done("list_memories")["memories"]] == ["We deploy daily"]
    assert done("purge", author="Ann")["dry_run"] and done("prune_memory", strategy="all")["dry_run"]


@WAYS
def test_null_for_an_argument_that_there_is_not_is_refused(client: httpx.Client, way: str):
    found = call(client, "recall", content_type=way, query="x", quary=None)
    assert faults(found) == [{"path": "$.quary", "message": "there is no such field; did you mean 'query'?"}]


def test_null_within_an_argument_stays():
    assert given(Remember, {"metadata": {"a": None}, "author": None}) == {"metadata": {"a": None}}
    assert given(UpdateMemory, {"changes": {"valid_to": None}}) == {"changes": {"valid_to": None}}


@pytest.mark.parametrize(("said", "meant"), [
    ("2031-05-31", "2031-05-31T00:00:00+00:00"), ("2031-05-31T09:30:00", "2031-05-31T09:30:00+00:00"),
    ("2031-05-31T09:30:00.25+02:00", "2031-05-31T07:30:00.250000+00:00"), ("next week", "next week"),
    ("2031-02-30", "2031-02-30"), ("0001-01-01T00:00:00+23:00", "0001-01-01T00:00:00+23:00"), (7, 7),
])  # fmt: skip
def test_a_time_of_a_memory_is_read_as_in_filters(said: object, meant: object):
    assert given(Remember, {"expires_at": said, "content": "2031-05-31"}) == {
        "expires_at": meant,
        "content": "2031-05-31",
    }
    assert given(UpdateMemory, {"changes": {"valid_to": said}}) == {"changes": {"valid_to": meant}}
    assert given(Recall, {"changed_after": said}) == {"changed_after": str(said)}


def test_a_date_is_stored_as_its_midnight(engine: Engine, client: httpx.Client):
    made = call(client, "remember", content="Dana is on leave", expires_at="2031-02-01", valid_to="2031-01-31")
    stored = engine.owner.read.get("default", made["structuredContent"]["memory"]["id"]).memory
    assert (str(stored.expires_at), str(stored.valid_to)) == ("2031-02-01 00:00:00+00:00", "2031-01-31 00:00:00+00:00")


@pytest.mark.parametrize(("said", "meant"), [
    ({"limit": 5.0}, {"limit": 5}), ({"limit": "5"}, {"limit": 5}), ({"limit": " 5.0 "}, {"limit": 5}),
    ({"limit": "five"}, {"limit": "five"}), ({"limit": 5.5}, {"limit": 5.5}), ({"limit": True}, {"limit": True}),
    ({"limit": "true"}, {"limit": "true"}), ({"full": "true"}, {"full": True}),
    ({"full": "False"}, {"full": False}), ({"full": "1"}, {"full": "1"}),
    ({"recency_weight": "0.5"}, {"recency_weight": 0.5}), ({"tags": "a"}, {"tags": ["a"]}),
    ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}), ({"tags": ["a", ""]}, {"tags": ["a"]}),
    ({"filter": '{"type": "guard"}'}, {"filter": {"type": "guard"}}),
    ({"category": " rules "}, {"category": "rules"}),
    ({"category": "", "space": " ", "mode": "", "author": "", "tags": "", "as_of": ""}, {}),
    ({"query": " 5 "}, {"query": " 5 "}),
])  # fmt: skip
def test_what_a_model_says_is_read_by_the_type_of_the_argument(said: dict[str, Any], meant: dict[str, Any]):
    found = given(Recall, said)
    assert repr(found) == repr(meant)


def test_what_is_within_an_object_is_read_too_and_a_content_stays():
    assert given(UpdateMemory, {"changes": '{"tags": "a", "ttl": "60"}'}) == {"changes": {"tags": ["a"], "ttl": 60}}
    assert given(Remember, {"content": " 5 ", "contents": "[1]"})["content"] == " 5 "
    assert given(Purge, {"author": "", "source": "x"}) == {"author": "", "source": "x"}


@WAYS
@pytest.mark.parametrize("blank", [{"id": ""}, {"id": " "}, {"key": "\u3000"}, {"id": "", "category": "", "key": ""}])
def test_a_blank_name_never_undoes_the_last_request(client: httpx.Client, way: str, blank: dict[str, str]):
    made = call(client, "remember", content="Sven likes rye bread")["structuredContent"]["memory"]
    assert call(client, "undo", content_type=way, **blank)["isError"]
    assert not call(client, "get_memory", id=made["id"], category="", key="")["isError"]
    assert not call(client, "undo", content_type=way, id=None, key=None)["isError"]
    assert call(client, "get_memory", id=made["id"])["isError"]


@WAYS
def test_a_blank_argument_finds_what_none_finds(client: httpx.Client, way: str):
    call(client, "remember", content="Sven likes rye bread")
    blank = {"category": "", "space": "", "author": "", "mode": "", "tags": [], "max_tokens": 500.0, "limit": "3"}
    found = call(client, "recall", content_type=way, query="who likes rye bread?", **blank)
    assert found["structuredContent"]["memories"], found


def test_http_reads_what_has_one_meaning(client: httpx.Client):
    body = b'\xef\xbb\xbf{"content": "cut \\ud83d", "ttl": 60.0, "event_at": "2023-05-04", "metadata": {"n": 1.0}}'
    made = client.post("/v1/spaces/default/memories", content=body, headers={"Content-Type": "application/json"})
    assert made.status_code == 201, made.text
    found = made.json().get("memory", made.json())
    assert (found["content"], found["event_at"][:10]) == ("cut \ufffd", "2023-05-04")
    asked = client.post("/v1/spaces/default/search", json={"query": "cut", "limit": 10.0})
    assert asked.status_code == 200
    assert client.post("/v1/spaces/default/search", json={"query": "cut", "limit": "10"}).status_code == 422


@WAYS
def test_an_argument_of_deeply_nested_brackets_is_a_text(client: httpx.Client, way: str):
    found = call(client, "remember", content_type=way, content="tea", tags="[" * 50_000)
    assert found["isError"]
    assert "tags" in text_of(found)
