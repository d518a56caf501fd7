"""Keys: made with the person's own key, shown once, replaced, revoked; and none is made on an open server."""

import re

import httpx
import pytest

from tests.service.pages.forms import ADMIN, form_to, forms_of, send, sign_in

pytestmark = pytest.mark.one_store
PAGE = "/console/keys"
ASKED = {"name": "Robot", "mode": "append-only", "spaces": "default", "category": "", "expires_at": ""}
HEADERS = {"Authorization": f"Bearer {ADMIN}"}


def made(client: httpx.Client, **given: str) -> httpx.Response:
    """Make a key as a person does: look at what it could do, then make it."""
    html = client.get(PAGE, params={**ASKED, **given}).text
    form = next(one for one in forms_of(html) if one.action == PAGE and one.method == "post")
    return send(client, form, own=ADMIN)


def test_an_open_server_says_how_the_first_key_is_made_and_has_no_form(client: httpx.Client):
    html = client.get(PAGE).text
    assert "muisti keys create --admin" in html
    assert not [one for one in forms_of(html) if one.action == PAGE]


def test_a_key_is_shown_in_words_before_it_is_made_and_its_secret_once(keyed: httpx.Client):
    sign_in(keyed, ADMIN)
    before = keyed.get(PAGE, params=ASKED).text
    assert "add memories" in before and "in the space default" in before
    answer = made(keyed)
    secret = re.findall(r"mk_[0-9a-f]{12}_[\w-]+", answer.text)[0]
    access = keyed.get("/v1/access", headers={"Authorization": f"Bearer {secret}"}).json()
    assert access["scopes"] == ["read", "append"] and access["expires_at"] is None
    assert "muisti connect" in answer.text
    assert secret not in keyed.get(PAGE).text


def test_a_wrong_own_key_makes_nothing(keyed: httpx.Client):
    sign_in(keyed, ADMIN)
    form = next(one for one in forms_of(keyed.get(PAGE, params=ASKED).text) if "own" in one.fields)
    assert send(keyed, form, own="mk_wrong").status_code == 401
    assert "Robot" not in keyed.get(PAGE).text


def test_a_key_is_replaced_and_revoked(keyed: httpx.Client):
    sign_in(keyed, ADMIN)
    made(keyed)
    listed = keyed.get("/v1/keys", headers=HEADERS).json()["items"]
    key = next(one["id"] for one in listed if one["name"] == "Robot")
    path = f"{PAGE}/{key}"
    answer = send(keyed, form_to(keyed.get(path).text, f"{path}/rotate"), own=ADMIN, overlap="0")
    assert answer.status_code == 200 and "mk_" in answer.text
    new = next(
        one for one in keyed.get("/v1/keys", headers=HEADERS).json()["items"]
        if one["name"] == "Robot" and one["id"] != key
    )  # fmt: skip
    path = f"{PAGE}/{new['id']}"
    assert send(keyed, form_to(keyed.get(path).text, f"{path}/revoke")).status_code == 303
    assert keyed.get(f"/v1/keys/{new['id']}", headers=HEADERS).json()["revoked_at"] is not None
    assert "key_revoked" in keyed.get("/console/audit").text


def test_names_are_no_html(keyed: httpx.Client):
    sign_in(keyed, ADMIN)
    made(keyed, name="<script>alert(1)</script>")
    assert "<script>alert" not in keyed.get(PAGE).text
