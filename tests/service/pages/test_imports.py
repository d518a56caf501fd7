"""Imports: looked at first, then done as a task, listed and undone; and downloads."""

import re

import httpx
import pytest

from tests.service.pages.forms import SPACE, form_to, reader, send

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/imports"


def sent(
    client: httpx.Client, content: bytes, step: str, name: str = "<b>notes.ndjson", path: str = PAGE, **more: str
) -> httpx.Response:
    """Send a file as the form does."""
    return sent_all(client, {name: content}, step, path, **more)


def sent_all(client: httpx.Client, files: dict[str, bytes], step: str, path: str = PAGE, **more: str) -> httpx.Response:
    token = form_to(client.get(path).text, path).fields["form_token"]
    parts = [("file", (name, content, "application/octet-stream")) for name, content in files.items()]
    data = {"form_token": token, "step": step, "whole": "on", **more}
    return client.post(path, data=data, files=parts, follow_redirects=False)


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
    assert "would be imported" in answer.text and "in this space already" in answer.text
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


# Files of other systems: what the preview says of each, and the contents that come in
VAULT = {"Vault/a.md": b"# A\n\nTea is at three.", "Vault/../../b.md": b"---\ntags: [x]\n---\nBoats leave at noon."}
MADE: dict[str, tuple[dict[str, bytes], str, int]] = {
    "texts": ({"own.json": b'["We deploy on Tuesdays", "Ann likes tea"]'}, "from json", 2),
    "a folder": (VAULT, "from obsidian", 2),
    "a document": ({"plan.txt": b"The plan.\n\nIt has two steps."}, "as a document", 1),
    "nonsense": ({"x.bin": b"\x00nonsense"}, 'class="problem"', 0),
    "JSON of nobody": ({"x.json": b'{"x": {"y": 3}}'}, "no known form", 0),
    "a bad line": ({"x.json": b'["fine", 7]'}, "Nothing would be imported", 0),
    "no file": ({"": b""}, "Choose a file first", 0),
}


@pytest.mark.parametrize(("files", "says", "count"), MADE.values(), ids=MADE)
def test_the_preview_says_what_the_import_does(client: httpx.Client, files: dict[str, bytes], says: str, count: int):
    preview = sent_all(client, files, "try").text
    assert says in preview and "&lt;" not in preview.split('id="report"')[1].split("</div>")[0]
    assert client.get(f"/v1/spaces/{SPACE}/memories").json()["items"] == []
    answer = sent_all(client, files, "import")
    assert answer.status_code in (200, 303), answer.text
    ended_all(client)
    assert len(client.get(f"/v1/spaces/{SPACE}/memories").json()["items"]) == count
    tasks = client.get(f"/v1/spaces/{SPACE}/tasks?kind=import").json()["items"]
    for one in tasks:
        shown = client.get(f"{PAGE.removesuffix('imports')}tasks/{one['id']}").text
        assert (f"{count} memor" in preview and f"{count} memor" in shown) or one["state"] == "failed"


def ended_all(client: httpx.Client) -> None:
    for one in client.get(f"/v1/spaces/{SPACE}/tasks").json()["items"]:
        state = one
        while state["ended_at"] is None:
            state = client.get(f"/v1/spaces/{SPACE}/tasks/{one['id']}?wait=5&after={state['revision']}").json()


def test_who_may_not_import_sends_nothing(keyed: httpx.Client):
    reader(keyed)
    page = keyed.get(PAGE).text
    token = form_to(page, "/console/sign-out").fields["form_token"]
    assert 'type="file"' not in page
    data, files = {"form_token": token, "step": "import"}, {"file": ("a.json", b'["a text"]')}
    assert keyed.post(PAGE, data=data, files=files).status_code == 403
    assert keyed.post(PAGE.replace(SPACE, "missing"), data=data, files=files).status_code in (403, 404)


@pytest.mark.parametrize(("path", "length", "status"), [(PAGE, 20_000_000, 303), ("/console/keys", 20_000_000, 413)])
def test_a_large_form_is_read_only_for_who_is_signed_in(keyed: httpx.Client, path: str, length: int, status: int):
    headers = {"Content-Length": str(length), "Content-Type": "multipart/form-data; boundary=x"}
    assert keyed.post(path, content=b"", headers=headers, follow_redirects=False).status_code == status
