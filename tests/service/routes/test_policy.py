"""Secrets and personal data over HTTP and MCP: what replies reveal of them, and what they never reveal."""

import json
import logging
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import API
from tests.service.keyed import administrator, with_mode

pytestmark = pytest.mark.one_store

SECRET = "gh" + "p_a8Kd02LmQ7xZp4Rt9VbN3cYw6HsJ1gFu5EoT"
BODY = {"content": f"the token is {SECRET}"}


def call_tool(client: httpx.Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    headers = {"Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return client.post("/mcp", json=body, headers=headers).json()["result"]


def test_a_secret_is_refused_and_stands_in_no_answer_and_no_log(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    caplog.set_level(logging.DEBUG)
    response = client.post(f"{API}/memories", json=BODY)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "sensitive_content")
    assert [error["path"] for error in problem["errors"]] == ["$.content"]
    assert "github-token" in problem["errors"][0]["message"]
    answers = [response, client.post(f"{API}/memories/batch", json={"memories": [BODY]})]
    answers.append(client.post(f"{API}/memories/batch", json={"memories": [{"content": "x"}, BODY], "atomic": False}))
    assert answers[2].json()["items"][1]["problem"]["errors"][0]["path"] == "$.memories[1].content"
    assert SECRET not in "".join(answer.text for answer in answers) + caplog.text + "".join(capfd.readouterr())


def test_what_was_taken_out_is_told(client: httpx.Client):
    assert client.patch(f"{API}/policy", json={"secrets": "redact"}).json()["secrets"] == "redact"
    held = {"secrets": "redact", "personal_data": "allow", "echoes": "flag", "similarity_limit": None}
    held |= {"review_limit": None, "second_model": "off", "time_zone": "UTC"}
    held |= {"recency_weight": 0.0, "recency_half_life_days": 30.0, "graph": "on"}
    assert client.get(API).json()["policy"] == {**held, "history_days": 0.0, "purge_after_days": None, "inherits": []}
    flag = {"code": "redacted", "path": "$.content", "kind": "github-token", "ids": []}
    added = client.post(f"{API}/memories", json=BODY)
    assert (added.json()["flags"], added.headers["Muisti-Flags"]) == ([flag], "redacted")
    minimal = client.put(f"{API}/entries/a/b", json=BODY, headers={"Prefer": "return=minimal"})
    assert (minimal.content, minimal.headers["Muisti-Flags"]) == (b"", "redacted")
    many = client.post(f"{API}/memories/batch", json={"memories": [{"content": "plain"}, BODY]})
    assert many.json()["flags"] == [{**flag, "path": "$.memories[1].content"}]
    each = {"memories": [{"content": ""}, {"content": "also plain"}, BODY], "atomic": False}
    some = client.post(f"{API}/memories/batch", json=each).json()
    assert (some["created"], some["flags"]) == (2, [{**flag, "path": "$.memories[2].content"}])
    plain = client.post(f"{API}/memories", json={"content": "Nothing to hide"})
    assert plain.json()["flags"] == [] and "Muisti-Flags" not in plain.headers


def test_only_an_administrator_stores_it_all_the_same(engine: Engine):
    admin, agent = administrator(engine), with_mode(engine, "full", "*")
    with TestClient(create_app(Settings(), engine=engine)) as client:
        allow = {"Muisti-Allow": "secrets"}
        assert client.post(f"{API}/memories", json=BODY, headers=agent.headers | allow).status_code == 403
        assert client.post(f"{API}/memories", json=BODY, headers=admin.headers | allow).status_code == 201
        assert client.post(f"{API}/memories", json=BODY, headers=admin.headers).status_code == 422
        wrong = client.post(f"{API}/memories", json=BODY, headers=admin.headers | {"Muisti-Allow": "all"})
        assert wrong.json()["code"] == "malformed_header"


def test_a_tool_says_what_it_did_not_store(client: httpx.Client):
    refused = call_tool(client, "remember", BODY)
    assert refused["isError"] and refused["structuredContent"]["code"] == "sensitive_content"
    assert SECRET not in json.dumps(refused)
    client.patch(f"{API}/policy", json={"secrets": "redact"})
    done = call_tool(client, "remember", BODY)
    assert done["structuredContent"]["flags"][0]["kind"] == "github-token"
    assert "Not stored, in content: what looks like github-token." in done["content"][0]["text"]


@pytest.mark.parametrize(("body", "path"), [({"secrets": "hide"}, "$.secrets"), ({"pii": "allow"}, "$.pii")])
def test_a_policy_that_is_none_is_refused(client: httpx.Client, body: dict[str, str], path: str):
    response = client.patch(f"{API}/policy", json=body)
    assert (response.status_code, response.json()["errors"][0]["path"]) == (422, path)


def test_the_settings_say_what_holds_where_nothing_is_said(engine: Engine, tmp_path: Any):
    settings = Settings(database_url=f"file:{tmp_path / 'x.db'}", secrets="allow", personal_data="refuse")
    with TestClient(create_app(settings)) as client:
        assert client.get(API).json()["policy"]["history_days"] == settings.retention_days
        said = client.patch(f"{API}/policy", json={"history_days": 30, "purge_after_days": 90.5}).json()
        assert (said["history_days"], said["purge_after_days"], said["secrets"]) == (30.0, 90.5, "allow")
        said = client.patch(f"{API}/policy", json={"history_days": None, "purge_after_days": None}).json()
        assert (said["history_days"], said["purge_after_days"]) == (settings.retention_days, None)
        for name, value in (("history_days", -1), ("purge_after_days", 0), ("purge_after_days", "ten")):
            refused = client.patch(f"{API}/policy", json={name: value})
            assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, f"$.{name}")
        assert client.post(f"{API}/memories", json=BODY).status_code == 201
        refused = client.post(f"{API}/memories", json={"content": "ann@firma.fi"})
        assert refused.json()["errors"][0]["message"].startswith("holds what looks like an e-mail address")


def test_an_echo_is_told_of_and_by_policy_refused(client: httpx.Client):
    said = {"content": "Ann keeps the keys in the second drawer"}
    first = client.post(f"{API}/memories", json=said).json()["id"]
    client.post(f"{API}/search", json={"query": "where are the keys"})
    flag = {"code": "echo", "path": "$.memories[1].content", "kind": None, "ids": [first]}
    many = client.post(f"{API}/memories/batch", json={"memories": [{"content": "News"}, said], "on_conflict": "keep"})
    assert (many.json()["flags"], many.headers["Muisti-Flags"]) == ([flag], "echo")
    assert many.json()["items"][1]["derived_from"] == [first]
    reply = call_tool(client, "remember", {**said, "on_conflict": "keep"})
    assert "just recalled" in reply["content"][0]["text"] and reply["structuredContent"]["flags"][0]["code"] == "echo"
    client.patch(f"{API}/policy", json={"echoes": "refuse"})
    refused = client.post(f"{API}/memories", json={**said, "on_conflict": "keep"})
    assert (refused.status_code, refused.json()["code"]) == (409, "echo")
    each = {"memories": [{"content": "Later news"}, said], "on_conflict": "keep", "atomic": False}
    some = client.post(f"{API}/memories/batch", json=each).json()
    assert (some["created"], some["items"][1]["problem"]["errors"][0]["path"]) == (1, "$.memories[1].content")
