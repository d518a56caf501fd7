"""Attacks that docs/why/security.md says were tried."""

import re
from pathlib import Path

import httpx
import pytest

from tests.service.fakes import API, draft

ROOT = Path(__file__).parents[2]
SQL = "'; DROP TABLE memories; -- \" OR 1=1 %s ?1 :a"


def test_sql_is_only_text(client: httpx.Client):
    made = client.post(f"{API}/memories", json=draft(SQL, category=SQL, key=SQL, tags=[SQL], metadata={"a b": SQL}))
    assert made.json()["content"] == made.json()["category"] == SQL
    found = client.get(f"{API}/memories", params={"category": SQL.replace(",", " "), "tags": SQL})
    assert [one["id"] for one in found.json()["items"]] == [made.json()["id"]]
    for params in ({"cursor": SQL}, {"limit": SQL}, {"filter": SQL}, {"created_at.gte": SQL}, {SQL: "x"}):
        assert client.get(f"{API}/memories", params=params).status_code in (400, 422)
    assert client.post(f"{API}/search", json={"query": SQL}).status_code == 200
    for header in ("If-Match", "Muisti-Min-Seq", "Idempotency-Key"):
        assert (
            client.patch(f"{API}/memories/{made.json()['id']}", json={"reason": "x"}, headers={header: SQL}).status_code
            == 400
        )
    assert client.get(f"{API}/stats").json()["memories"] == 1


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", ".", "%00", "default%2f..", "-", "é"])
def test_names_that_climb_are_no_names(client: httpx.Client, name: str):
    answer = client.get(f"/v1/spaces/{name}/stats")
    assert answer.status_code in (400, 404)
    assert client.post("/v1/spaces", json={"name": name}).status_code == 422


def test_a_header_cannot_split_an_answer(client: httpx.Client):
    answer = client.get("/healthz", headers={b"X-Request-Id": b"a\tb: evil", b"X-Other": b"1"})  # pyright: ignore[reportArgumentType]
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])
    assert "evil" not in str(answer.headers)


def test_no_field_makes_the_server_fetch(client: httpx.Client, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the server tried to reach another machine")

    monkeypatch.setattr("socket.create_connection", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    url = "http://169.254.169.254/latest"
    made = client.post(f"{API}/memories", json=draft(url, source=url, metadata={"url": url}))
    assert made.status_code == 201
    assert client.post(f"{API}/search", json={"query": url}).status_code == 200


def test_every_test_that_the_list_names_exists():
    named = re.findall(r"`(test_\w+)`", (ROOT / "docs" / "why" / "security.md").read_text("utf-8"))
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in named if f"def {name}(" not in tests] == [] and len(named) > 10
