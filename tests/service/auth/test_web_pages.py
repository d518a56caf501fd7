"""Web pages: which may change something, on every route that the application and its console have."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.pages.app import handlers
from muisti.service.settings import Settings
from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

LISTED = "https://app.example"
HERE = "127.0.0.1:8321"
FOREIGN: Mapping[str, dict[str, str]] = {
    "an origin": {"Origin": "https://evil.example"},
    "an origin and its site": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    "a frame without origin": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "no origin": {"Sec-Fetch-Site": "cross-site"},
    "another port": {"Sec-Fetch-Site": "same-site"},
    "a name like ours": {"Origin": "http://localhost.evil.example"},
    "our name in front": {"Origin": f"http://{HERE}.evil.example"},
    "no web page": {"Origin": "file://"},
}
WELCOME: Mapping[str, dict[str, str]] = {
    "a program": {},
    "a listed origin": {"Origin": LISTED, "Sec-Fetch-Site": "cross-site"},
    "a page of this machine": {"Origin": "http://localhost:6274", "Sec-Fetch-Site": "cross-site"},
    "a page of ours": {"Origin": f"http://{HERE}", "Sec-Fetch-Site": "same-origin"},
    "a page of ours, an old browser": {"Origin": f"http://{HERE}"},
}
BODIES: Mapping[str, dict[str, Any]] = {
    "nothing": {},
    "text": {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
    "form": {"data": {"content": "x"}},
    "json": {"json": {"content": "x"}},
}


@pytest.fixture
def app(engine: Engine) -> Litestar:
    return create_app(Settings(origins=LISTED), engine=engine, own_host="localhost")


@pytest.fixture
def client(app: Litestar) -> Iterator[httpx.Client]:
    with TestClient(app) as opened:
        opened.headers["Host"] = HERE
        opened.post(f"{API}/memories", json=draft())
        yield opened


def named(path: str) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", "no", path)


def changing(app: Litestar) -> list[tuple[str, str]]:
    """Return the method and the path of every route that is no read, and of a path that is none."""
    routes = [(method, route.path) for route in app.routes if isinstance(route, HTTPRoute) for method in route.methods]
    found = {(method, named(path)) for method, path in routes if method not in ("GET", "HEAD", "OPTIONS")}
    assert len(found) > 80
    return sorted(found | {("POST", "/mcp"), ("POST", "/no/such/path"), ("TRACE", "/v1/spaces")})


def code(answer: httpx.Response) -> str:
    """Return the code of a refusal, as a problem or in the form of the SDK whose path it is."""
    body = answer.json()
    return body["error"]["code"] if "error" in body else body["code"]


def of_console() -> set[str]:
    return {named(path) for one in handlers() if "POST" in one.http_methods for path in one.paths}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("page", FOREIGN)
def test_no_route_takes_a_change_from_a_page_that_may_not_call(
    app: Litestar, client: httpx.Client, page: str, body: str
):
    options = BODIES[body]
    headers = {**options.get("headers", {}), **FOREIGN[page]}
    before = client.get(API).json()["seq"]
    for method, path in [*changing(app), *(("POST", path) for path in of_console())]:
        answer = client.request(method, path, **{**options, "headers": headers})
        assert (answer.status_code, code(answer)) == (403, "forbidden_origin"), (method, path)
    assert client.get(API).json()["seq"] == before


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("page", WELCOME)
def test_every_route_answers_programs_and_pages_that_may_call(
    app: Litestar, client: httpx.Client, page: str, body: str
):
    options = BODIES[body]
    headers = {**options.get("headers", {}), **WELCOME[page]}
    for method, path in changing(app):
        answer = client.request(method, path, **{**options, "headers": headers})
        assert answer.status_code != 403, (method, path, answer.text)


@pytest.mark.parametrize("page", ["a listed origin", "a page of this machine"])
def test_the_console_takes_forms_of_its_own_pages_only(client: httpx.Client, page: str):
    for path in of_console():
        answer = client.post(path, headers=WELCOME[page])
        assert (answer.status_code, code(answer)) == (403, "forbidden_origin")


@pytest.mark.parametrize("page", WELCOME)
def test_fast_paths_ask_too(client: httpx.Client, page: str):
    assert client.post(f"{API}/memories", json=draft("x"), headers=WELCOME[page]).status_code == 201
    for path, body in (("/memories", draft("y")), ("/search", {"query": "y"})):
        assert client.post(f"{API}{path}", json=body, headers=FOREIGN["no origin"]).status_code == 403


def test_preflights_are_answered_on_every_path(app: Litestar, client: httpx.Client):
    for method, path in changing(app):
        ask = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "content-type"}
        for page in ("a listed origin", "a page of this machine"):
            answer = client.options(path, headers={**ask, **WELCOME[page]})
            assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (204, WELCOME[page]["Origin"])
        other = client.options(path, headers={**ask, **FOREIGN["an origin"]})
        assert "Access-Control-Allow-Origin" not in other.headers
    assert client.options("/mcp").headers["Allow"] == "OPTIONS, POST"


@pytest.mark.parametrize(
    ("host", "status"), [("localhost:8321", 204), ("192.168.1.5:8321", 204), ("memory.example", 421)]
)
def test_pages_of_this_machine_may_call_a_server_on_it_only(client: httpx.Client, host: str, status: int):
    page = {"Origin": "http://localhost:3000", "Host": host}
    answer = client.options("/mcp", headers={**page, "Access-Control-Request-Method": "POST"})
    assert answer.status_code == status


def test_every_origin_may_be_allowed(engine: Engine):
    with TestClient(create_app(Settings(origins="*"), engine=engine)) as client:
        for page in FOREIGN.values():
            assert client.post(f"{API}/search", json={"query": "x"}, headers=page).status_code != 403
            assert client.post("/console/sign-in", headers=page).status_code == 403
