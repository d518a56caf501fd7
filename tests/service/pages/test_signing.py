"""Sessions: a key of their own, in a cookie that no script reads; it opens what the visitor's key opens."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.pages.forms import ADMIN, SPACE, form_to, forms_of, send, sign_in

pytestmark = pytest.mark.one_store


def test_a_server_without_keys_asks_for_none(client: httpx.Client):
    page = client.get("/")
    assert page.status_code == 200
    assert "no keys" in page.text
    assert [form for form in forms_of(page.text) if form.action == "/console/sign-out"] == []


def test_a_server_with_keys_asks_for_one_and_leads_back(keyed: httpx.Client):
    refused = keyed.get(f"/console/spaces/{SPACE}?as_of=2026-01-01", follow_redirects=False)
    assert refused.status_code == 303
    page = keyed.get(refused.headers["Location"]).text
    answer = send(keyed, form_to(page, "/console/sign-in"), key=ADMIN)
    assert answer.headers["Location"] == f"/console/spaces/{SPACE}?as_of=2026-01-01"


def test_the_cookie_is_no_business_of_scripts_and_of_other_sites(keyed: httpx.Client):
    answer = sign_in(keyed, ADMIN)
    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert ADMIN not in cookie


def test_behind_https_the_cookie_is_secure(engine: Engine):
    settings = Settings(admin_key=ADMIN, public_url="https://memory.example.com")
    with TestClient(create_app(settings, engine=engine), base_url="https://testserver.local") as client:
        cookie = sign_in(client, ADMIN).headers["Set-Cookie"]
        assert cookie.startswith("__Host-muisti_session=")
        assert "Secure" in cookie
        assert client.get("/console").status_code == 200


@pytest.mark.parametrize("key", ["", "mk_0123456789ab_" + "x" * 43, "nonsense", "é"])
def test_a_wrong_key_is_refused_in_words(keyed: httpx.Client, key: str):
    answer = sign_in(keyed, key)
    assert answer.status_code == 401
    assert 'role="alert"' in answer.text
    assert "muisti_session" not in answer.headers.get("Set-Cookie", "")


@pytest.mark.parametrize("scopes", [["read"], ["read", "append", "write", "delete"], ["read", "admin"]])
def test_the_session_is_a_key_that_ends_with_the_visitors(keyed: httpx.Client, engine: Engine, scopes: list[str]):
    admin = {"Authorization": f"Bearer {ADMIN}"}
    mine = keyed.post("/v1/keys", json={"name": "laptop", "scopes": scopes, "spaces": ["*"]}, headers=admin).json()
    sign_in(keyed, mine["key"])
    assert keyed.get("/console").status_code == 200
    session = next(key for key in engine.keys.all() if key.parent_id == mine["id"])
    assert session.name == "Console of laptop"
    keyed.delete(f"/v1/keys/{mine['id']}", headers={"Authorization": f"Bearer {ADMIN}"})
    assert keyed.get("/console", follow_redirects=False).status_code == 303


def test_a_session_ends_after_half_a_day_and_never_after_the_visitors_key(keyed: httpx.Client, engine: Engine):
    sign_in(keyed, ADMIN)
    (session,) = engine.keys.all()
    assert session.expires_at is not None
    assert timedelta(hours=11) < session.expires_at - datetime.now(UTC) <= timedelta(hours=12)
    soon = datetime.now(UTC) + timedelta(hours=1)
    body = {"name": "short", "mode": "full", "spaces": ["*"], "expires_at": soon.isoformat()}
    short = keyed.post("/v1/keys", json=body, headers={"Authorization": f"Bearer {ADMIN}"}).json()
    sign_in(keyed, short["key"])
    assert [key.expires_at for key in engine.keys.all() if key.parent_id == short["id"]] == [soon]


def test_signing_out_revokes_the_session(keyed: httpx.Client, engine: Engine):
    sign_in(keyed, ADMIN)
    kept = keyed.cookies["muisti_session"]
    send(keyed, form_to(keyed.get("/console").text, "/console/sign-out"))
    assert "muisti_session" not in keyed.cookies
    keyed.cookies.set("muisti_session", kept)
    assert keyed.get("/v1/access").status_code == 401


def test_the_cookie_reads_but_never_writes(keyed: httpx.Client):
    """So that only a form with its token changes anything."""
    sign_in(keyed, ADMIN)
    assert keyed.get(f"/v1/spaces/{SPACE}/memories").status_code == 200
    assert keyed.post(f"/v1/spaces/{SPACE}/memories", json={"content": "x"}).status_code == 401
    assert keyed.delete(f"/v1/spaces/{SPACE}").status_code in (400, 401, 422)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_the_cookie_is_ignored_for_pages_of_others(keyed: httpx.Client, site: str):
    sign_in(keyed, ADMIN)
    assert keyed.get("/v1/access", headers={"Sec-Fetch-Site": site}).status_code == 401
    assert keyed.get("/v1/access", headers={"Origin": "https://evil.example"}).status_code == 401


@pytest.mark.parametrize(
    "back",
    ["//evil.example", "https://evil.example/console", "/console/../v1", "javascript:alert(1)", "/\\evil.example", ""],
)
def test_no_sign_in_leads_to_another_site(keyed: httpx.Client, back: str):
    assert sign_in(keyed, ADMIN, back).headers["Location"] == "/console"
