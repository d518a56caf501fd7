"""Live: the latest changes are there without scripts, and the streams that scripts follow are the API's own."""

from typing import get_args

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.core.model.choices import ChangeKind
from muisti.service.console.filter_form import CHANGES
from tests.service.pages.forms import SPACE, first

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/live"


def test_all_kinds_of_changes_are_followed():
    assert set(CHANGES) == set(get_args(ChangeKind))


def test_the_latest_changes_are_shown_and_lead_to_their_memories(client: httpx.Client):
    ids = [client.post(f"/v1/spaces/{SPACE}/memories", json={"content": f"Note {n}"}).json()["id"] for n in range(3)]
    rows = LexborHTMLParser(client.get(PAGE).text).css("tbody[data-stream-name=changes] tr")
    links = [row.css_first("a").attributes["href"] for row in rows]
    assert links == [f"/console/spaces/{SPACE}/memories/{one}" for one in reversed(ids)]


def test_changes_are_filtered_by_author(client: httpx.Client):
    for author in ("Ann", "Ben"):
        client.post(f"/v1/spaces/{SPACE}/memories", json={"content": f"By {author}", "author": author})
    page = LexborHTMLParser(client.get(PAGE, params={"author": "Ann"}).text)
    body = page.css_first("tbody[data-stream-name=changes]")
    assert [link.text() for link in body.css("a")] == ["By Ann"]
    assert "author=Ann" in (body.attributes["data-stream"] or "")


def test_the_log_of_reads_that_is_off_says_how_to_turn_it_on(client: httpx.Client):
    assert "MUISTI_READ_LOG=ring" in client.get(PAGE).text


def test_a_text_of_a_memory_is_no_html(client: httpx.Client):
    client.post(f"/v1/spaces/{SPACE}/memories", json={"content": "<img src=x onerror=alert(1)>"})
    assert "<img src=x" not in client.get(PAGE).text


def test_an_ingest_is_one_row_that_counts_its_chunks(client: httpx.Client):
    content = "\n\n".join(f"# Part {number}\n\n{'word ' * 300}" for number in range(5))
    client.put(f"/v1/spaces/{SPACE}/documents/notes%2Fplan.md", json={"content": content})
    row = first(LexborHTMLParser(client.get(PAGE).text), "tbody[data-stream-name=changes] tr")
    chunks = len(client.get(f"/v1/spaces/{SPACE}/memories?kind=chunk").json()["items"])
    assert chunks > 1 and len(LexborHTMLParser(client.get(PAGE).text).css("tbody tr")) == 1
    assert first(row, "th").text() == f"notes/plan.md and {chunks} more"


def test_a_change_without_a_text_has_a_name(client: httpx.Client):
    made = client.post(f"/v1/spaces/{SPACE}/memories", json={"content": "Tea"})
    client.post(f"/v1/spaces/{SPACE}/undo", json={"request": made.headers["x-request-id"]})
    assert first(LexborHTMLParser(client.get(PAGE).text), "tbody th a").text() == "a memory that has ended"
