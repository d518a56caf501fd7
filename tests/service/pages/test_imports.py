"""Imports: looked at first, then done as a task, listed and undone; and downloads."""

import re

import httpx
import pytest

from tests.service.pages.forms import SPACE, form_to, send

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/imports"


def sent(client: httpx.Client, content: bytes, step: str) -> httpx.Response:
    """Send a file as the form does."""
    token = form_to(client.get(PAGE).text, PAGE).fields["form_token"]
    files = {"file": ("<b>notes.ndjson", content, "application/octet-stream")}
    data = {"form_token": token, "step": step, "whole": "on"}
    return client.post(PAGE, data=data, files=files, follow_redirects=False)


def exported(client: httpx.Client) -> bytes:
    """Return a file with one memory, which is not in the space any more."""
    client.post(f"/v1/spaces/{SPACE}/memories", json={"content": "We deploy on Tuesdays"})
    content = client.get(f"/v1/spaces/{SPACE}/export").content
    client.post("/v1/spaces", json={"name": "other"})
    return content


def test_a_file_is_looked_at_and_nothing_is_stored(client: httpx.Client):
    content = exported(client)
    before = client.get(f"/v1/spaces/{SPACE}").json()["seq"]
    answer = sent(client, content, "try")
    assert "would be imported" in answer.text and "1 exists" in answer.text
    assert client.get(f"/v1/spaces/{SPACE}").json()["seq"] == before


def test_a_file_is_imported_and_undone(client: httpx.Client):
    content, page = exported(client), PAGE.replace(SPACE, "other")
    headers = {"Content-Type": "application/x-ndjson"}
    client.post("/v1/spaces/other/import", content=content, headers=headers)
    path = re.findall(rf'href="({page}/\d+/undo)"', client.get(page).text)[0]
    html = client.get(path).text
    assert "1 memory" in html
    assert send(client, form_to(html, path)).status_code == 303
    assert client.get("/v1/spaces/other/memories").json()["items"] == []
    assert "undone" in client.get(page).text


def test_an_import_begins_a_task(client: httpx.Client):
    answer = sent(client, exported(client), "import")
    assert answer.status_code == 303 and "/tasks/" in answer.headers["Location"]


def test_downloads_work(client: httpx.Client):
    for address in re.findall(r'href="(/v1/[^"]+export[^"]*)"', client.get(PAGE).text):
        assert "attachment" in client.get(address.replace("&amp;", "&")).headers["Content-Disposition"]


def test_a_file_of_nonsense_is_refused_in_words(client: httpx.Client):
    answer = sent(client, b"\x00nonsense", "try")
    assert answer.status_code >= 400 or "cannot be imported" in answer.text
