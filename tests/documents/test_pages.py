"""Documents: lists, chunks with their borders, files that come in, and deletions."""

from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.service.documents.pages import DEPTH, tree
from tests.service.fakes import API
from tests.service.pages.forms import ended, first, form_to, forms_of, reader, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default/documents"
TEXT = "# Ferries\n\nSix ferries.\n\n## Storms\n\n" + "No ferry leaves above 18 m/s. " * 40


@pytest.fixture
def document(client: httpx.Client) -> dict[str, Any]:
    body = {"path": "a/b.md", "content": TEXT, "size": 64, "overlap": 8, "tags": ["sea"]}
    return client.post(f"{API}/documents", json=body).json()


def test_a_list_has_sizes_and_leads_to_the_chunks(client: httpx.Client, document: dict[str, Any]):
    html = client.get(PAGE).text
    tree = first(LexborHTMLParser(html), ".tree li.folder")
    assert first(tree, "summary").text().split() == ["a/", "1"] and first(tree, "li .name a").text() == "b.md"
    assert f'href="{PAGE}/{document["id"]}"' in html
    assert "No document meets" in client.get(PAGE, params={"folder": "z"}).text
    assert "b.md" in client.get(str(first(tree, ".only").attributes["href"])).text
    assert "a/b.md" in client.get(PAGE, params={"sort": "-indexed_at"}).text


def test_a_tree_nests_a_bounded_number_of_folders():
    deep = tree([{"path": "x/" * 500 + "end.md"}])
    for _ in range(DEPTH):
        (folder,) = deep
        deep = folder["nodes"]
    assert deep[0]["name"] == "x/" * (500 - DEPTH) + "end.md"


def test_chunks_are_in_order_with_their_borders_and_repeats(client: httpx.Client, document: dict[str, Any]):
    chunks = client.get(f"{API}/documents/{document['id']}/chunks").json()["items"]
    parsed = LexborHTMLParser(client.get(f"{PAGE}/{document['id']}").text)
    assert [one.text() for one in parsed.css(".chunks pre")] == [one["content"] for one in chunks]
    again = [one.text() for one in parsed.css(".chunks .again")]
    assert again == [one["content"][: one["overlap"]] for one in chunks if one["overlap"]]
    assert [one.text() for one in parsed.css(".headings a")] == ["Ferries", "Storms"]


def test_pages_of_chunks_go_on_counting(client: httpx.Client):
    body = {
        "path": "long.md",
        "content": "\n\n".join(f"## P{n}\n\n" + "word " * 40 for n in range(60)),
        "size": 64,
        "overlap": 0,
    }
    made = client.post(f"{API}/documents", json=body).json()
    begin = LexborHTMLParser(client.get(f"{PAGE}/{made['id']}").text)
    second = LexborHTMLParser(client.get(str(first(begin, ".pager a").attributes["href"])).text)
    assert first(second, ".chunks li").attributes["id"] == "chunk-51"


def test_the_whole_text_is_shown_raw_and_rendered(client: httpx.Client, document: dict[str, Any]):
    raw = LexborHTMLParser(client.get(f"{PAGE}/{document['id']}", params={"show": "text"}).text)
    assert first(raw, "main pre.raw").text() == TEXT
    rendered = LexborHTMLParser(client.get(f"{PAGE}/{document['id']}", params={"show": "rendered"}).text)
    assert first(rendered, ".prose h1").text() == "Ferries"


def test_a_text_is_cut_for_a_look_and_then_stored(client: httpx.Client):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    given = {"content": TEXT, "path": "c.md", "size": "64", "overlap": "0", "strategy": "heading", "tags": "x, y"}
    looked = send(client, form, do="preview", **given)
    assert "nothing is stored yet" in looked.text and "Storms" in looked.text
    assert client.get(f"{API}/documents").json()["total"] == 0
    again = form_to(looked.text, PAGE)
    assert {name: again.fields[name] for name in given} == given
    page = ended(client, send(client, again, do="store"))
    assert "The document was stored." in page
    (stored,) = client.get(f"{API}/documents").json()["items"]
    assert (stored["path"], stored["tags"], stored["options"]["size"]) == ("c.md", ["x", "y"], 64)


def test_files_are_stored_at_their_paths(client: httpx.Client):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    fields = {name: value for name, value in form.fields.items() if name != "file"} | {"path": "notes/", "do": "store"}
    files = [("file", ("one.md", b"# One\n\nText.")), ("file", ("two.txt", "zwölf".encode()))]
    answer = client.post(PAGE, data=fields, files=files, follow_redirects=False)
    assert answer.status_code == 303
    assert [one["path"] for one in client.get(f"{API}/documents").json()["items"]] == ["notes/one.md", "notes/two.txt"]
    send(client, form_to(ended(client, answer), "/console/spaces/default/undo"))
    assert client.get(f"{API}/documents").json()["items"] == []
    files = [("file", ("three.txt", "Да".encode("koi8-r")))]
    assert client.post(PAGE, data=fields | {"encoding": "koi8-r"}, files=files, follow_redirects=False).is_redirect
    assert client.get(f"{API}/documents/notes%2Fthree.txt/text").text == "Да"


def test_a_file_that_cannot_be_read_is_explained_and_the_rest_is_kept(client: httpx.Client):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    fields = {name: value for name, value in form.fields.items() if name != "file"} | {
        "tags": "keep, me",
        "do": "store",
    }
    answer = client.post(PAGE, data=fields, files={"file": ("x.pdf", b"%PDF-1.4 broken")})
    assert answer.status_code in (415, 422)
    assert LexborHTMLParser(answer.text).css_first("main [role=alert]") is not None
    assert form_to(answer.text, PAGE).fields["tags"] == "keep, me"


def test_a_number_that_cannot_be_is_explained(client: httpx.Client):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    answer = send(client, form, do="store", content="Tea", path="t.md", size="64", overlap="64")
    assert answer.status_code == 422
    assert form_to(answer.text, PAGE).fields["content"] == "Tea"


def test_it_is_deleted_after_a_dry_run_and_comes_back_by_undo(client: httpx.Client, document: dict[str, Any]):
    path = f"{PAGE}/{document['id']}/delete"
    asked = client.get(path).text
    assert f"{document['chunks']} chunks" in asked
    page = ended(client, send(client, form_to(asked, path)))
    assert client.get(f"{API}/documents").json()["total"] == 0
    send(client, form_to(page, "/console/spaces/default/undo"))
    assert client.get(f"{API}/documents").json()["total"] == 1


def test_tasks_that_store_documents_are_listed(client: httpx.Client):
    made = client.post(f"{API}/documents", json={"path": "t.md", "content": "Tea"}, params={"wait": False}).json()
    assert made["id"] in client.get(PAGE).text


def test_hostile_names_and_texts_do_nothing(client: httpx.Client):
    evil = "<img src=x onerror=alert(1)>"
    body = {"path": f"{evil}.md", "content": f"# {evil}\n\n{evil}"}
    made = client.post(f"{API}/documents", json=body).json()
    for path in (PAGE, f"{PAGE}/{made['id']}", f"{PAGE}/{made['id']}?show=rendered", f"{PAGE}/{made['id']}?show=text"):
        assert "<img src=x" not in client.get(path).text


def test_a_reader_sees_no_form_and_is_refused(keyed: httpx.Client):
    reader(keyed)
    html = keyed.get(f"{PAGE}/new").text
    assert [one for one in forms_of(html) if one.action == PAGE and one.method == "post"] == []
    token = form_to(html, "/console/sign-out").fields["form_token"]
    answer = keyed.post(PAGE, data={"form_token": token, "content": "x", "path": "a.md"})
    assert answer.status_code == 403
