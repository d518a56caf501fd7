"""A tool refuses in the words of the tools, and advises nothing that the key may not do."""

import re
from typing import Any, get_args

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.outcomes import Flag, FlagCode
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.mcp.tools import TOOLS
from muisti.service.mcp.writes import sentence
from muisti.service.routes.keys import MODES
from muisti.service.settings import Settings
from tests.service.keyed import Caller, administrator, with_mode
from tests.service.mcp_client import call, schemas, text_of

pytestmark = pytest.mark.one_store

OF_HTTP = re.compile(
    r"\b(GET|PUT|PATCH|POST|DELETE|If-Match|Idempotency-Key|Muisti-\w+|query string|request body|/v1)\b"
)
STORED = "The server listens on port 9000"
PORT = {"category": "notes", "key": "port"}
BACKWARDS = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2020-01-01T00:00:00Z"}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {"content": STORED}, "duplicate"),
    ("remember", {"content": "The server listens on port 9001"}, "contradiction"),
    ("remember", {"content": "other words", "category": "notes", "key": "port"}, "address_taken"),
    ("remember", {"content": "Log in with " + "AKIA" + "Q3EGRZ5TN7WLJ2KP"}, "sensitive_content"),
    ("remember", {"content": " ", "importance": "huge", "valid_to": "2020"}, "invalid_input"),
    ("remember", {"content": "x", **BACKWARDS}, "invalid_input"),
    ("remember", {"content": "x", "ttl": 1, "expires_at": "2999-01-01T00:00:00Z"}, "invalid_input"),
    ("remember", {"content": "x", "idempotency_key": "\n"}, "invalid_input"),
    ("remember", {"content": "x", "replace": True}, "invalid_input"),
    ("remember", {"content": "x", "replace": True, "supersedes": "x"}, "invalid_input"),
    ("remember", {"content": "other", "idempotency_key": "used"}, "idempotency_key_reused"),
    ("recall", {"query": ""}, "invalid_input"),
    ("recall", {"query": "x", "limit": 1000, "mode": "fast", "match": "some"}, "invalid_input"),
    ("recall", {"query": "x", "recency_weight": 7, "half_life_days": 0}, "invalid_input"),
    ("recall", {"query": "x", "as_of": "yesterday"}, "invalid_input"),
    ("recall", {"query": "x", "as_of": "2999-01-01"}, "point_ahead"),
    ("recall", {"query": "x", "as_of": "1999-01-01"}, "past_retention"),
    ("recall", {"query": "x", "as_of": "0190a0b0-0000-7000-8000-000000000001:1"}, "epoch_gone"),
    ("recall", {"query": "x", "space": "nowhere"}, "not_found"),
    ("list_memories", {"cursor": "x"}, "invalid_input"),
    ("list_memories", {"filter": {"no": 1}}, "invalid_input"),
    ("get_memory", {}, "invalid_input"),
    ("get_memory", {"id": "x"}, "not_found"),
    ("recall", {"query": "x", "max_tokens": 5}, "invalid_input"),
    ("list_memories", {"max_tokens": 199}, "invalid_input"),
    ("memory_history", {"key": "x", "category": "y"}, "not_found"),
    (
        "update_memory",
        {"category": "notes", "key": "port", "changes": {"author": "Ann"}, "if_version": 9},
        "stale_version",
    ),
    ("update_memory", {**PORT, "changes": {"importance": "huge"}}, "invalid_input"),
    ("update_memory", {**PORT, "changes": BACKWARDS}, "invalid_input"),
    ("undo", {"category": "notes", "key": "port", "version": 9}, "not_found"),
    ("undo", {"category": "notes", "key": "port", "last": 2}, "invalid_input"),
    ("undo", {"version": 2}, "invalid_input"),
    ("undo", {"last": 0}, "invalid_input"),
    ("overview", {"since": "yesterday"}, "invalid_input"),
    ("remember", {}, "invalid_input"),
    ("remember", {"content": "x", "contents": ["y"]}, "invalid_input"),
    ("remember", {"contents": ["y"], "category": "notes", "key": "k"}, "invalid_input"),
    ("remember", {"contents": ["y"] * 51}, "invalid_input"),
    ("forget", {"id": "0190a0b0-0000-7000-8000-000000000001"}, "not_found"),
    ("add_exchanges", {"conversation": "c", "items": []}, "invalid_input"),
    ("add_exchanges", {"conversation": "c", "items": [{"turn": 1}]}, "invalid_input"),
    ("add_exchanges", {"conversation": "c", "items": [{"turn": 1, "content": "x", "mood": "y"}]}, "invalid_input"),
    ("conversations", {"action": "get"}, "invalid_input"),
    ("conversations", {"action": "get", "conversation": "nowhere"}, "not_found"),
    ("import_memories", {"ndjson": "{}"}, "invalid_input"),
]


def begin(engine: Engine, client: httpx.Client, caller: Caller) -> None:
    engine.owner.write.add("default", [Draft(content=STORED, category="notes", key="port")])
    if "remember" in schemas(client, caller.headers):
        call(client, "remember", caller.headers, content="A first sentence", idempotency_key="used")


def checked(found: Any, offered: dict[str, Any]) -> None:
    """Look at the words of a refusal. `offered` are the schemas of the tools that the key sees."""
    text, structured = text_of(found), found["structuredContent"]
    assert found["isError"] and structured["next"] and "\n" not in structured["detail"]
    assert text.startswith(f"{structured['code']}: {structured['detail']}. {structured['next']}")
    assert not OF_HTTP.search(text), text
    assert not [leak for leak in ("Traceback", ".py", "SELECT", "apsw") if leak in str(found)]
    assert text.lower().count("nothing was stored") <= 1 and "$." not in text.split("\n")[0], text
    assert ".." not in text.replace("...", ""), text
    advised = {tool.name for tool in TOOLS if re.search(rf"\b{tool.name}\b", structured["next"])}
    assert advised <= offered.keys(), (advised, text)
    assert not re.search(r"\b\w+=\w", re.sub(r"\?tools=\S+", "", structured["next"])), text
    if named := re.search(r"\bon_conflict ((?:'\w+'(?: or )?)+)", structured["next"]):
        assert {*re.findall(r"\w+", named[1])} - {"or"} <= {*offered["remember"]["properties"]["on_conflict"]["enum"]}
    assert "with replace " not in structured["next"] or "replace" in offered["remember"]["properties"]


@pytest.mark.parametrize("mode", MODES)
def test_refusals_speak_of_tools_and_arguments_that_the_key_has(engine: Engine, mode: str):
    administrator(engine)
    caller = with_mode(engine, mode, "default", "other")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        begin(engine, client, caller)
        offered, met = schemas(client, caller.headers), 0
        for tool, arguments, code in REFUSED:
            if tool not in offered or not arguments.keys() <= offered[tool]["properties"].keys():
                continue
            found, met = call(client, tool, caller.headers, **arguments), met + 1
            assert found["structuredContent"].get("code") == code, (tool, arguments, found)
            checked(found, offered)
        assert met == len(REFUSED) or mode != "full"
        engine.spaces.set_quota("default", {"memories": 1})
        if mode != "read-only":
            found = call(client, "remember", caller.headers, content="One memory too many")
            assert found["structuredContent"]["code"] == "quota_exceeded"
            checked(found, offered)


def test_a_contradiction_says_what_you_said_and_what_is_stored(client: httpx.Client):
    call(client, "remember", content=STORED)
    found = call(client, "remember", content="The server listens on port 9001")
    assert "You said 9001; the stored memory says 9000. Nothing was stored." in text_of(found)
    assert f"\n> {STORED}" in text_of(found)
    beside = text_of(call(client, "remember", content="The server listens on port 9001", on_conflict="review"))
    assert re.search(r" It contradicts [0-9a-f-]{36}\. You said 9001; the stored memory says 9000\.$", beside), beside


@pytest.mark.parametrize("code", get_args(FlagCode))
def test_a_flag_says_whether_its_text_was_stored(code: FlagCode):
    flag = Flag(code=code, path="$.content", kind="a password", ids=("0190a0b0",))
    said = sentence(flag)
    assert said.endswith(".") and said.startswith("Not stored") == (code == "redacted")
