"""Erasure in the console: a dry run, the typed name, and a signed report that can be verified."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from selectolax.lexbor import LexborHTMLParser

from tests.service.fakes import API
from tests.service.pages.forms import form_to, forms_of, reader, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default/erase"


@pytest.fixture
def said(client: httpx.Client) -> list[str]:
    """The ids of three memories of Ann, one of them deleted, and one of Ben."""
    texts = [("Ann", "Tea"), ("Ann", "Ferries"), ("Ann", "Gone"), ("Ben", "Coffee")]
    made = [client.post(f"{API}/memories", json={"content": text, "author": who}).json()["id"] for who, text in texts]
    client.delete(f"{API}/memories/{made[2]}")
    return made


def bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


def verified(client: httpx.Client, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report, after its signature has been checked against the public keys of the server."""
    head, body, signature = str(result["signed"]).split(".")
    keys = client.get("/v1/signing-keys").json()["keys"]
    public = Ed25519PublicKey.from_public_bytes(bytes_of(keys[-1]["x"]))
    public.verify(bytes_of(signature), f"{head}.{body}".encode())
    assert json.loads(bytes_of(body)) == result["report"]
    return dict(result["report"])


def test_a_dry_run_counts_and_shows_examples_and_erases_nothing(client: httpx.Client, said: list[str]):
    html = client.get(PAGE, params={"author": "Ann"}).text
    assert "3 memories would go" in html
    links = [str(one.attributes["href"]) for one in LexborHTMLParser(html).css(".decide a")]
    assert sorted(link.rpartition("/")[2] for link in links) == sorted(said[:3])
    assert len(client.get(f"{API}/memories").json()["items"]) == 3


def test_without_the_name_of_the_space_nothing_goes(client: httpx.Client, said: list[str]):
    form = form_to(client.get(PAGE, params={"author": "Ann"}).text, PAGE)
    assert form.fields["author"] == "Ann"
    for name in ("", "defaul", "DEFAULT"):
        answer = send(client, form, confirm=name)
        assert answer.status_code == 422
        assert "not the name of this space" in answer.text and "3 memories would go" in answer.text
    assert len(client.get(f"{API}/memories").json()["items"]) == 3


def test_what_ann_said_goes_and_the_report_stays(client: httpx.Client, said: list[str]):
    html = client.get("/console/spaces/default/memories", params={"author": "Ann"}).text
    link = next(str(one.attributes["href"]) for one in LexborHTMLParser(html).css("a.danger"))
    (form,) = [one for one in forms_of(client.get(link).text) if one.method == "post" and one.action == PAGE]
    answer = send(client, form, confirm="default")
    page = answer.headers["Location"].partition("?")[0]
    task = client.get(f"{API}/tasks/{page.rpartition('/')[2]}", params={"wait": 10, "after": 0}).json()
    while task["ended_at"] is None:
        task = client.get(f"{API}/tasks/{task['id']}", params={"wait": 10, "after": task["revision"]}).json()
    assert "nothing is left" in client.get(page).text
    saved = client.get(f"{page}/report")
    assert re.fullmatch(r'attachment; filename="muisti-purge-[-0-9a-f]+\.json"', saved.headers["Content-Disposition"])
    report = verified(client, saved.json())
    assert report["what"]["author"].startswith("sha256:")
    assert (report["erased"]["memories"], report["complete"]) == (3, True)
    assert [one["content"] for one in client.get(f"{API}/memories").json()["items"]] == ["Coffee"]
    assert page in client.get(PAGE).text
    for gone in said[:3]:
        assert client.get(f"/console/spaces/default/memories/{gone}").status_code == 404


def test_one_memory_goes_and_its_report_is_in_the_page(client: httpx.Client, said: list[str]):
    path = f"/console/spaces/default/memories/{said[0]}/purge"
    form = form_to(client.get(path).text, path)
    assert send(client, form, confirm="no").status_code == 422
    assert client.get(f"{API}/memories/{said[0]}").status_code == 200
    answer = send(client, form, confirm="default")
    link = next(one for one in LexborHTMLParser(answer.text).css("a[download]"))
    content = str(link.attributes["href"]).removeprefix("data:application/json;base64,")
    report = verified(client, json.loads(base64.b64decode(content)))
    assert (report["what"], report["erased"]["memories"]) == ({"memory": said[0]}, 1)
    assert client.get(f"{API}/memories/{said[0]}/history").status_code == 404


@pytest.mark.parametrize("asked", [{"older_than_days": "many"}, {"older_than_days": "0"}, {"type": "opinion"}])
def test_conditions_that_the_api_refuses_are_explained(client: httpx.Client, asked: dict[str, str]):
    html = client.get(PAGE, params=asked).text
    assert LexborHTMLParser(html).css_first("main [role=alert]") is not None
    assert [one for one in forms_of(html) if one.method == "post" and one.action == PAGE] == []


def test_a_task_that_is_no_erasure_has_no_report(client: httpx.Client):
    made = client.post(f"{API}/documents", json={"path": "a.md", "content": "Tea"}, params={"wait": False}).json()
    assert client.get(f"{PAGE}/{made['id']}").status_code == 404
    assert client.get(f"{PAGE}/{made['id']}/report").status_code == 404


@pytest.mark.parametrize("mode", ["read-only", "append-only", "no-delete"])
def test_without_the_scope_there_is_no_form(keyed: httpx.Client, mode: str):
    reader(keyed, mode)
    html = keyed.get(PAGE, params={"author": "Ann"}).text
    assert [one for one in forms_of(html) if one.action == PAGE and one.method == "post"] == []
    assert "scope admin" in html
    token = form_to(html, "/console/sign-out").fields["form_token"]
    answer = keyed.post(PAGE, data={"form_token": token, "author": "Ann", "confirm": "default"})
    assert answer.status_code == 403
