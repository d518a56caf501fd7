"""A page that takes long comes in two parts, and is the page that it would be in one."""

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.service.console import early
from tests.service.fakes import API, draft

pytestmark = pytest.mark.one_store

SPACE = "/console/spaces/default"
BROWSER = {"Accept": "text/html,application/xhtml+xml"}
PATHS = ("", "/memories", "/memories/map", "/ask?q=tea", "/documents", "/time", "/settings", "/memories/new")


def parts(html: str) -> tuple[str, list[str], str]:
    """Return the title, the scripts and the content of a page, without what differs at each drawing."""
    page = LexborHTMLParser(html)
    for one in page.css("input[name=form_token], .waiting, main script, main title"):
        one.decompose()
    title, scripts = LexborHTMLParser(html).css_first("title"), LexborHTMLParser(html).css("script[src]")
    main = page.css_first("main")
    assert title is not None and main is not None
    return title.text(), [str(one.attributes["src"]) for one in scripts], main.text()


@pytest.mark.parametrize("path", PATHS)
def test_a_page_in_two_parts_is_the_same_page(client: httpx.Client, monkeypatch: pytest.MonkeyPatch, path: str):
    client.post(f"{API}/memories", json=draft("We drink tea", category="team")).raise_for_status()
    whole = client.get(SPACE + path, headers=BROWSER)
    monkeypatch.setattr(early, "PATIENCE", 0.0)
    answer = client.get(SPACE + path, headers=BROWSER)
    assert answer.status_code == 200
    assert early.WAITING in answer.text or path  # the counts of the overview come from a thread, others may be there
    assert answer.headers["content-security-policy"] == whole.headers["content-security-policy"]
    assert parts(answer.text) == parts(whole.text)


def test_a_refusal_that_comes_late_is_in_the_frame(client: httpx.Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(early, "PATIENCE", 0.0)
    answer = client.get(f"{SPACE}/memories/01900000-0000-7000-8000-000000000000", headers=BROWSER)
    assert "Not found" in answer.text and answer.text.count("<html") == 1
    assert client.get("/console/spaces/nowhere/memories", headers=BROWSER).text.count("</html>") == 1


def test_programs_get_a_page_whole_and_with_its_status(client: httpx.Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(early, "PATIENCE", 0.0)
    assert client.get(f"{SPACE}/memories/01900000-0000-7000-8000-000000000000").status_code == 404
    assert early.WAITING not in client.get(f"{SPACE}/memories").text
