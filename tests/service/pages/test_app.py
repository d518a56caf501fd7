"""Every page: forms of other sites are refused, nothing is framed, and `off` removes it all.

Most of these requests store nothing, so they share a server.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.pages.app import handlers
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.pages.forms import ADMIN, SPACE, forms_of, sign_in
from tests.stores import Store, Stores, migrated

pytestmark = pytest.mark.one_store


@contextmanager
def opened(store: Store, *spaces: str, admin_key: str | None = None) -> Iterator[httpx.Client]:
    with (
        Engine(migrated(store), WordEncoder(), Clock()) as engine,
        TestClient(create_app(Settings(admin_key=admin_key), engine=engine)) as client,
    ):
        for space in spaces:
            engine.spaces.create(space)
        yield client


@contextmanager
def signed_in(store: Store, mode: str, space: str) -> Iterator[httpx.Client]:
    """A visitor who signed in with a key of a mode, beside a space `secret`."""
    with opened(store, "secret", admin_key=ADMIN) as visitor:
        key = {"name": "visitor", "mode": mode, "spaces": [space]}
        made = visitor.post("/v1/keys", json=key, headers={"Authorization": f"Bearer {ADMIN}"}).json()
        sign_in(visitor, made["key"])
        yield visitor


@pytest.fixture(scope="module")
def client(stores: Stores) -> Iterator[httpx.Client]:
    with opened(stores()) as client:
        yield client


@pytest.fixture(scope="module")
def of_one_space(stores: Stores) -> Iterator[httpx.Client]:
    with signed_in(stores(), "full", SPACE) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def reader(stores: Stores) -> Iterator[httpx.Client]:
    with signed_in(stores(), "read-only", "*") as visitor:
        yield visitor


def paths(method: str) -> list[str]:
    """The paths of the console that take a method, with values for their parameters."""
    found: list[HTTPRouteHandler] = [one for one in handlers() if method in one.http_methods]
    return [
        re.sub(r"\{(\w+):\w+\}", lambda name: SPACE if name[1] == "space" else "x", path)
        for one in found
        for path in sorted(one.paths)
    ]


@pytest.mark.parametrize("path", paths("POST"))
@pytest.mark.parametrize("token", [None, "0" * 64])
def test_a_form_without_its_token_is_refused(client: httpx.Client, path: str, token: str | None):
    client.get("/")
    before = client.get(f"/v1/spaces/{SPACE}").json()["seq"]
    answer = client.post(path, data={} if token is None else {"form_token": token})
    assert answer.status_code == 403
    assert client.get(f"/v1/spaces/{SPACE}").json()["seq"] == before


@pytest.mark.parametrize("path", paths("POST"))
def test_a_form_of_another_site_is_refused_even_with_the_token(client: httpx.Client, path: str):
    token = forms_of(client.get("/console/sign-in").text)[0].fields["form_token"]
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert client.post(path, data={"form_token": token}, headers=headers).status_code == 403


@pytest.mark.parametrize("path", paths("GET"))
def test_no_page_is_framed_and_no_script_is_inline(client: httpx.Client, path: str):
    answer = client.get(path, follow_redirects=False)
    if answer.headers["Content-Type"].startswith("text/html"):
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert not re.search(r"<script(?![^>]* src=)|\son\w+=|\sstyle=|javascript:", answer.text)


@pytest.mark.parametrize("path", [path for path in paths("GET") if "/spaces/" in path])
def test_another_space_is_not_found(of_one_space: httpx.Client, path: str):
    for space in ("secret", "nowhere"):
        answer = of_one_space.get(path.replace(f"/spaces/{SPACE}", f"/spaces/{space}"))
        assert answer.status_code == 404
        assert "secret" not in re.sub(r'"[^"]*"', "", answer.text.replace("secret&#39;", "")) or space == "secret"


@pytest.mark.parametrize("path", [path for path in paths("GET") if "static" not in path])
def test_a_key_that_only_reads_sees_no_form_that_changes_anything(reader: httpx.Client, path: str):
    sent = [form.action for form in forms_of(reader.get(path).text) if form.method == "post"]
    assert set(sent) <= {"/console/sign-out", "/console/sign-in"}


def test_off_removes_it(engine: Engine):
    with TestClient(create_app(Settings(console=False), engine=engine)) as client:
        assert [client.get(path).status_code for path in ("/", "/console", "/console/sign-in")] == [404, 404, 404]


def test_a_missing_page_is_a_page(client: httpx.Client):
    answer = client.get("/console/nowhere")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text


def test_what_the_api_refuses_is_drawn_with_its_reason(client: httpx.Client):
    answer = client.get("/console/spaces/nowhere")
    assert answer.status_code == 404
    assert "/problems/not_found" in answer.text
    part = client.get("/console/spaces/nowhere", headers={"HX-Request": "true"})
    assert part.status_code == 404
    assert part.text.lstrip().startswith("<section")
