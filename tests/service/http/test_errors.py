"""Every error is a problem, whatever went wrong."""

import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.errors import SchemaTooNew, StoreCorrupt, StoreFull, StoreUnavailable
from muisti.service.app.app import create_app
from muisti.service.schemas.errors import KINDS, Problem
from muisti.service.settings import Settings
from tests.core.fakes import WordEncoder
from tests.service.fakes import API, Breakable, draft

pytestmark = pytest.mark.one_store

JSON = {"Content-Type": "application/json"}
SMALL = 10_000


def check_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    problem = response.json()
    assert (response.status_code, problem["status"], problem["code"]) == (status, status, code), response.text
    assert response.headers["content-type"] == "application/problem+json"
    some = {"conflicts", "checked_at", "quota", "diverged", "report", "instead"}
    assert set(problem) - some == set(Problem.__struct_fields__) - some
    assert problem["type"] == f"/problems/{code}"
    assert problem["title"] and problem["detail"]
    assert response.headers["x-request-id"]
    assert response.headers["cache-control"] == "no-store"
    assert response.headers.get("retry-after") == (str(KINDS[code].retry_after) if KINDS[code].retry_after else None)
    return problem


@pytest.fixture
def small(engine: Engine) -> Iterator[httpx.Client]:
    """A server that accepts small bodies only."""
    with TestClient(create_app(Settings(body_limit=SMALL), engine=engine)) as client:
        yield client


def test_every_kind_of_problem_explains_itself(client: httpx.Client):
    for code, kind in KINDS.items():
        explained = client.get(f"/problems/{code}").json()
        assert (explained["code"], explained["status"], explained["title"]) == (code, kind.status, kind.title)
        assert explained["meaning"]
    check_problem(client.get("/problems/bad_hair_day"), 404, "not_found")


@pytest.mark.parametrize("body", [
    b"", b"{", b"nonsense", b'{"content": "a"} trailing', b'{"content": "\xff"}',
    b'{"content": "a", "metadata": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
])  # fmt: skip
def test_what_is_no_json_is_malformed(client: httpx.Client, body: bytes):
    check_problem(client.post(f"{API}/memories", content=body, headers=JSON), 400, "malformed_json")


@pytest.mark.parametrize("body", [b"[]", b"null", b"5", b'"text"', b"[" * 100_000])
def test_json_of_another_shape_is_invalid(client: httpx.Client, body: bytes):
    check_problem(client.post(f"{API}/memories", content=body, headers=JSON), 422, "invalid_input")


@pytest.mark.parametrize("depth", [11, 400, 900])
def test_deep_metadata_and_filters_are_refused(client: httpx.Client, depth: int):
    nested: Any = {"a": 1}
    for _ in range(depth):
        nested = {"not": nested}
    for url, body in ((f"{API}/memories", draft(metadata=nested)), (f"{API}/search", {"query": "a", "filter": nested})):
        assert client.post(url, json=body).status_code in (400, 422)


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/x-ndjson"])
def test_another_media_type_is_refused(client: httpx.Client, media_type: str):
    response = client.post(f"{API}/memories", content=b'{"content": "a"}', headers={"Content-Type": media_type})
    assert "application/json" in check_problem(response, 415, "unsupported_media_type")["detail"]


def test_a_large_body_is_refused_with_its_size(small: httpx.Client):
    problem = check_problem(small.post(f"{API}/memories", json=draft("x" * SMALL)), 413, "too_large")
    assert "10,000" in problem["detail"] and "10,014" in problem["detail"]


def test_a_large_body_of_unknown_length_is_refused(small: httpx.Client):
    chunks = (b" " * 1_000 for _ in range(11))
    problem = check_problem(small.post(f"{API}/memories", content=chunks, headers=JSON), 413, "too_large")
    assert "10,000" in problem["detail"]


@pytest.mark.parametrize("path", ["/v1", "/v1/spaces/default/nope", "/v2/spaces", "/memories", "/docs/../settings.py"])
def test_an_unknown_path_has_no_route(client: httpx.Client, path: str):
    check_problem(client.get(path), 404, "no_route")


def test_a_wrong_method_is_told_the_right_ones(client: httpx.Client):
    response = client.put(f"{API}/memories", json={})
    check_problem(response, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(response.headers["allow"].split(", "))


@pytest.mark.parametrize("path", ["/v1/spaces/%ff", "/v1/spaces/%00", f"{API}/memories?tags=%ff", "/%c3%28"])
def test_a_url_that_is_no_utf_8_is_malformed(client: httpx.Client, path: str):
    check_problem(client.get(path), 400, "malformed_request")


@pytest.mark.parametrize(("failure", "status", "code"), [
    (StoreUnavailable("locked"), 503, "store_unavailable"), (StoreFull("full"), 507, "store_full"),
    (StoreCorrupt("torn"), 500, "store_corrupt"), (SchemaTooNew("newer"), 500, "schema_too_new"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_a_failing_database_is_said_to_fail(
    client: httpx.Client, database: Breakable, failure: Exception, status: int, code: str
):
    database.failure = failure
    check_problem(client.post(f"{API}/memories", json=draft()), status, code)
    check_problem(client.get(f"{API}/stats"), status, code)
    check_problem(client.post(f"{API}/search", json={"query": "a"}), status, code)
    assert client.get("/healthz").status_code == 200
    check_problem(client.get("/readyz"), status, code)


@pytest.mark.parametrize("path", ["stats", "search"])
def test_a_crash_tells_the_log_where_and_the_caller_nothing(
    client: httpx.Client, database: Breakable, caplog: pytest.LogCaptureFixture, path: str
):
    database.failure = ZeroDivisionError("/etc/passwd SELECT secret FROM memories")
    method, body = ("POST", {"query": "x"}) if path == "search" else ("GET", None)  # on the fast path, and not
    response = client.request(method, f"{API}/{path}", json=body, headers={"X-Request-Id": "abc"})
    problem = check_problem(response, 500, "internal")
    for leak in ("Traceback", "ZeroDivisionError", "SELECT", "secret", "/etc", ".py"):
        assert leak not in response.text
    crash = next(vars(line) for line in caplog.records if line.msg == "crash")
    assert (crash["error"], crash["request_id"]) == ("ZeroDivisionError", "abc")
    assert "secret" not in str(crash)
    assert any("fakes.py" in frame for frame in crash["trace"])
    assert "log" in problem["detail"]


def test_a_model_that_did_not_embed_the_space_is_a_conflict(client: httpx.Client, database: Breakable, clock):
    client.post(f"{API}/memories", json=draft())
    other = Engine(database, WordEncoder(seed="other"), clock)
    with TestClient(create_app(Settings(), engine=other)) as second:
        strict = {"query": "a", "fallback_to_keyword": False}
        check_problem(second.post(f"{API}/search", json=strict), 409, "model_mismatch")
        found = second.post(f"{API}/search", json={"query": "a"}).json()
        assert found["strategy"] == "keyword" and "which this server does not have" in found["degraded"][0]
        stored = second.post(f"{API}/memories", json=draft("b"))
        assert stored.status_code == 201 and "found by keyword only" in stored.json()["degraded"][0]
        assert second.get(f"{API}/memories").status_code == 200


def test_no_line_of_the_log_holds_content(client: httpx.Client, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    memory = client.post(f"{API}/memories", json=draft("xyzzy content", category="xyzzy")).json()
    client.post(f"{API}/search", json={"query": "xyzzy query"})
    client.get(f"{API}/memories?category=xyzzy")
    client.post(f"{API}/memories", json={"content": "xyzzy", "xyzzy": 1})
    client.post(f"{API}/memories", content=b"{xyzzy", headers=JSON)
    logs = [vars(record) for record in caplog.records if record.name.startswith("muisti")]
    requests = [line for line in logs if line["msg"] == "request"]
    assert [line["status"] for line in requests] == [201, 200, 200, 422, 400]
    assert {line["space"] for line in requests} == {"default"}
    assert requests[0]["route"] == "/v1/spaces/{space}/memories"
    assert "xyzzy" not in str(logs) and memory["id"] not in str(logs)
