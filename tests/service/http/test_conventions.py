"""Conventions of HTTP APIs on every route: links, preferences, compression, pages of other origins."""

import gzip
import json

import httpx
import pytest
import zstandard
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.http.middleware import trace_of
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.keyed import administrator

pytestmark = pytest.mark.one_store


def fill(client: httpx.Client, count: int) -> None:
    memories = [draft(f"memory {number} {'with words ' * 20}", category="a b&c") for number in range(count)]
    assert client.post(f"{API}/memories/batch", json={"memories": memories}).status_code == 201


def test_a_page_links_to_the_next_until_the_last(client: httpx.Client):
    fill(client, 5)
    url, seen = f"{API}/memories?limit=2&category=a%20b%26c", list[str]()
    while url:
        page = client.get(url)
        seen += [memory["id"] for memory in page.json()["items"]]
        assert ("next" in page.links) == (page.json()["next_cursor"] is not None)
        url = page.links.get("next", {}).get("url", "")
    assert len(seen) == len(set(seen)) == 5


def test_the_audit_log_links_too(engine: Engine):
    key = administrator(engine)
    with TestClient(create_app(Settings(), engine=engine)) as client:
        page = client.get("/v1/audit?limit=1", headers=key.headers)
        assert client.get(page.links["next"]["url"], headers=key.headers).status_code == 200


def test_a_caller_who_prefers_little_gets_the_headers_only(client: httpx.Client):
    headers = {"Prefer": "respond-async, return=minimal"}
    made = client.post(f"{API}/memories", json=draft(), headers=headers)
    assert (made.status_code, made.content, made.headers["preference-applied"]) == (201, b"", "return=minimal")
    assert made.headers["etag"] and made.headers["muisti-seq"]
    changed = client.patch(made.headers["location"], json={"reason": "x"}, headers=headers)
    assert (changed.status_code, changed.content) == (204, b"")
    assert client.get(made.headers["location"]).headers["etag"] == changed.headers["etag"]
    put = client.put(f"{API}/entries/a/b", json={"content": "c"}, headers=headers)
    assert (put.status_code, put.content) == (201, b"")
    full = client.post(f"{API}/memories", json=draft("else"), headers={"Prefer": "return=representation"})
    assert full.json()["content"] == "else" and "preference-applied" not in full.headers


@pytest.mark.parametrize(
    ("accepted", "coding"), [("gzip", "gzip"), ("gzip, zstd", "zstd"), ("br", None), ("gzip;q=0", None)]
)
def test_large_answers_come_compressed_to_those_who_take_it(client: httpx.Client, accepted: str, coding: str | None):
    fill(client, 20)
    with client.stream("GET", f"{API}/memories", headers={"Accept-Encoding": accepted}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers.get("content-encoding") == coding
    assert int(answer.headers["content-length"]) == len(raw)
    plain = {"gzip": gzip.decompress, "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body)}.get(
        coding or "", bytes
    )(raw)
    assert len(json.loads(plain)["items"]) == 20
    assert coding is None or (len(raw) < len(plain) / 2 and answer.headers["vary"] == "Accept-Encoding")
    assert "content-encoding" not in client.get("/healthz", headers={"Accept-Encoding": accepted}).headers


@pytest.mark.parametrize("coding", ["gzip", "zstd", "deflate", "br"])
def test_a_compressed_body_is_refused_before_it_can_grow(client: httpx.Client, coding: str):
    bomb = gzip.compress(b" " * 50_000_000)
    headers = {"Content-Encoding": coding, "Content-Type": "application/json"}
    for path in (f"{API}/memories", "/mcp"):
        answer = client.post(path, content=bomb, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_only_pages_of_named_origins_see_answers(engine: Engine):
    page = {"Origin": "https://app.example"}
    ask = {**page, "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization"}
    administrator(engine)
    with TestClient(create_app(Settings(origins="https://app.example"), engine=engine)) as client:
        before = client.options(f"{API}/memories/x", headers=ask)  # a browser sends no key with it
        assert before.status_code == 204 and "PATCH" in before.headers["access-control-allow-methods"]
        assert "Authorization" in before.headers["access-control-allow-headers"]
        refused = client.get("/v1/spaces", headers=page)
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, "https://app.example")
        assert "access-control-allow-credentials" not in refused.headers
        other = client.get("/v1/spaces", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers
    with TestClient(create_app(Settings(), engine=engine)) as client:
        assert "access-control-allow-origin" not in client.get("/healthz", headers=page).headers


def test_options_and_head_are_answered(client: httpx.Client):
    answer = client.options(f"{API}/memories")
    assert answer.status_code == 204 and {"GET", "POST", "OPTIONS"} <= set(answer.headers["allow"].split(", "))
    assert client.head("/v1/spaces").status_code == 200


def test_a_memory_may_be_kept_by_its_caller_and_nothing_else_by_anybody(client: httpx.Client):
    made = client.post(f"{API}/memories", json=draft())
    found = client.get(made.headers["location"])
    assert found.headers["cache-control"] == "private, no-cache"
    again = client.get(made.headers["location"], headers={"If-None-Match": found.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "private, no-cache")
    assert client.get(f"{API}/memories").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("given", "trace"), [
    (b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736"),
    (b"00-00000000000000000000000000000000-00f067aa0ba902b7-01", None),
    (b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None), (b"x", None),
])  # fmt: skip
def test_a_trace_is_known_by_its_header(given: bytes, trace: str | None):
    assert trace_of(given) == trace
