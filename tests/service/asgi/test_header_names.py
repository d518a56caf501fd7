"""Each header that the server reads or sends is declared, and so known to CORS and to the fast paths."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.asgi.header_names import TABLE
from muisti.service.settings import Settings
from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

ROOT = Path(__file__).parents[3] / "service"
CLIENTS = {"cli", "connect", "demo", "providers", "webhooks"}  # send to others
TO_ISSUER = {"source.py"}
OF_PACKAGE = {"version.py"}  # reads headers of the package
OF_PARTS = {"muisti-modified"}  # in the parts of a form, not in the headers of a request
WORDS = {"etag", "link", "location", "prefer", "accept", "authorization", "origin", "vary", "allow", "host", "expect",
         "upgrade", "connection", "traceparent", "tracestate"}  # fmt: skip
VALUES = {"keep-alive", "no-store"}
DECLARED = {header.name.lower(): header for header in TABLE}
ORIGIN = "https://notes.example"


def named() -> Iterator[tuple[str, str]]:
    """Constants of the server's code that look like the name of a header, and the file of each."""
    for path in sorted(ROOT.rglob("*.py")):
        inner = path.relative_to(ROOT)
        if inner.parts[0] in CLIENTS or inner.name in TO_ISSUER | OF_PACKAGE or inner.name == "header_names.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and (name := _header(node.value)):
                yield name, str(inner)


def _header(value: object) -> str | None:
    if isinstance(value, bytes) and re.fullmatch(rb"[a-z]+(-[a-z]+)+", value):
        name = value.decode()
    elif isinstance(value, str) and re.fullmatch(r"[A-Z][A-Za-z]*(-[A-Z][A-Za-z]*)+", value):
        name = value.lower()
    elif isinstance(value, bytes) and value.decode("latin-1") in WORDS:
        name = value.decode()
    else:
        return None
    return None if name in VALUES | OF_PARTS else name


def test_every_header_that_the_code_names_is_declared():
    found = list(named())
    assert {"muisti-freshness", "muisti-allow", "muisti-flags", "idempotency-key", "traceparent"} <= {
        n for n, _ in found
    }
    assert [(name, file) for name, file in found if name not in DECLARED] == []


def test_every_header_of_the_description_is_declared_in_its_direction(client: httpx.Client):
    api = client.get("/openapi.json").json()
    taken = {one["name"] for item in api["paths"].values() for operation in item.values()
             for one in operation.get("parameters", ()) if one["in"] == "header"}  # fmt: skip
    assert taken and all(DECLARED[name.lower()].way in ("in", "both") for name in taken)
    sent = set[str](api["components"]["headers"])
    assert sent and all(DECLARED[name.lower()].way in ("out", "both") for name in sent)
    for name in taken | sent:
        assert DECLARED[name.lower()].name == name, "spelt as it is declared"


def answers(client: httpx.Client) -> Iterator[httpx.Response]:
    made = client.post(f"{API}/memories", json=draft(), headers={"Idempotency-Key": "once"})
    yield made
    yield client.post(f"{API}/memories", json=draft(), headers={"Idempotency-Key": "once"})
    path = f"{API}/memories/{made.json()['id']}"
    yield client.get(path)
    yield client.get(path, headers={"If-None-Match": made.headers["ETag"]})
    yield client.patch(path, json={"tags": ["a"]}, headers={"Prefer": "return=minimal"})
    yield client.get(f"{API}/memories", params={"limit": 1})
    yield client.get(f"{API}/export", headers={"Accept-Encoding": "gzip"})
    yield client.get(f"{API}/export", params={"compression": "zstd"})
    yield client.post(f"{API}/search", json={"query": "deploy"}, headers={"Accept-Encoding": "gzip"})
    yield client.put("/healthz")
    for page in ("/docs", "/docs/docs.js", "/openapi.json", "/nothing"):
        yield client.get(page)


def test_every_header_of_an_answer_is_declared(client: httpx.Client):
    for answer in answers(client):
        for name in answer.headers:
            assert name in DECLARED and DECLARED[name].way in ("out", "both"), (answer.request.url, name)


@pytest.fixture
def page(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(origins=ORIGIN), engine=engine)) as opened:
        opened.headers["Origin"] = ORIGIN
        yield opened


def listed(answer: httpx.Response, name: str) -> set[str]:
    return {one.strip().lower() for one in answer.headers[name].split(",")}


@pytest.mark.parametrize("name", [header.name for header in TABLE if header.pages])
def test_web_pages_may_set_and_read_it(page: httpx.Client, name: str):
    way = DECLARED[name.lower()].way
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": name}
    allowed = listed(page.options(f"{API}/search", headers=asked), "Access-Control-Allow-Headers")
    shown = listed(page.get("/healthz"), "Access-Control-Expose-Headers")
    assert (name.lower() in allowed, name.lower() in shown) == (way in ("in", "both"), way in ("out", "both"))
