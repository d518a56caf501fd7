"""The page of a memory, in each of its states, and the forms on it."""

from typing import Any

import httpx
import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from muisti.service.console.render import safe_html
from tests.service.fakes import API, draft
from tests.service.pages.forms import ended, first, form_to, forms_of, reader, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default/memories"


def text_of(html: str, selector: str = "main") -> str:
    return " ".join(first(LexborHTMLParser(html), selector).text(separator=" ").split())


def actions(html: str) -> set[str]:
    return {one.action.rpartition("/")[2] for one in forms_of(html) if one.method == "post"}


@pytest.fixture
def page(memory: dict[str, Any]) -> str:
    return f"{PAGE}/{memory['id']}"


def test_reading_in_the_console_is_no_retrieval(client: httpx.Client, memory: dict[str, Any], page: str):
    client.get(page)
    assert client.get(f"{API}/memories/{memory['id']}/telemetry").json()["retrieval_count"] == 0


def test_markdown_is_rendered_and_raw_is_as_stored(client: httpx.Client):
    content = "**bold** [x](javascript:alert(1)) <script>alert(1)</script>\n\n    code"
    made = client.post(f"{API}/memories", json=draft(content)).json()
    rendered = client.get(f"{PAGE}/{made['id']}").text
    assert "<strong>bold</strong>" in rendered
    assert 'href="javascript' not in rendered and "<script>alert" not in rendered
    raw = LexborHTMLParser(client.get(f"{PAGE}/{made['id']}", params={"show": "raw"}).text)
    assert first(raw, "pre.raw").text() == content


@pytest.mark.parametrize(
    "text", ["\u00ad&<>\"' " * 2_000, f'[a](b "{"& " * 1_000}")', "    \u00ad\n" * 900, "*a* " * 900]
)
def test_long_texts_are_rendered_like_short_ones(text: str):
    """Pieces in which a long text is cleaned are not seen in what comes of it."""
    rendered = LexborHTMLParser(safe_html(text)).body
    assert rendered is not None
    plain = LexborHTMLParser(MarkdownIt().render(text)).body
    assert plain is not None
    assert rendered.text() == plain.text()


def test_a_table_has_no_more_cells_than_its_text_is_long():
    assert "<td>2</td>" in safe_html("a|b\n-|-\n1|2")
    wide = f"{'a|' * 100}\n{'-|' * 100}\n" + "a\n" * 1_000
    assert len(safe_html(wide)) < 2 * len(wide)


def test_the_origin_is_told_in_words(client: httpx.Client):
    fields = {"author": "Ann", "source": "a.md", "reason": "asked", "source_class": "tool"}
    made = client.post(f"{API}/memories", json=draft("Tea", **fields)).json()
    child = client.post(f"{API}/memories", json=draft("Tea at four", derived_from=[made["id"]])).json()
    told = text_of(client.get(f"{PAGE}/{made['id']}").text)
    for words in ("A tool reported it.", "Its author is Ann.", "Its source is a.md.", "because: asked"):
        assert words in told
    html = client.get(f"{PAGE}/{child['id']}").text
    assert f'href="{PAGE}/{made["id"]}"' in html


def test_versions_are_newest_first_with_their_words_marked(client: httpx.Client, memory: dict[str, Any], page: str):
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "We deploy on Mondays; ticket QX-991"})
    client.patch(f"{API}/memories/{memory['id']}", json={"tags": ["tea"]})
    parsed = LexborHTMLParser(client.get(page).text)
    numbers = [one.text() for one in parsed.css(".versions header strong")]
    assert numbers == ["Version 3", "Version 2", "Version 1"]
    second = parsed.css(".versions > li")[1]
    assert [(one.tag, one.text()) for one in second.css("ins, del")] == [("del", "Fridays"), ("ins", "Mondays")]


def test_an_earlier_version_is_restored(client: httpx.Client, memory: dict[str, Any], page: str):
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "Never"})
    forms = [one for one in forms_of(client.get(page).text) if one.action.endswith("/restore")]
    assert [one.fields["version"] for one in forms] == ["1"]
    assert "The earlier version is current again." in ended(client, send(client, forms[0]))
    assert client.get(f"{API}/memories/{memory['id']}").json()["content"] == memory["content"]


def test_forgotten_shown_and_restored(client: httpx.Client, memory: dict[str, Any], page: str):
    after = ended(client, send(client, form_to(client.get(page).text, f"{page}/delete")))
    assert "You can restore it" in after and "was deleted" in text_of(after)
    assert "delete" not in actions(after) and "feedback" not in actions(after)
    assert client.get(f"{API}/memories/{memory['id']}").status_code == 404
    assert send(client, form_to(after, f"{page}/restore")).status_code == 303
    assert client.get(f"{API}/memories/{memory['id']}").json()["content"] == memory["content"]


def test_nobody_forgets_a_version_that_they_have_not_seen(client: httpx.Client, memory: dict[str, Any], page: str):
    form = form_to(client.get(page).text, f"{page}/delete")
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "Changed meanwhile"})
    assert send(client, form).status_code == 412
    assert client.get(f"{API}/memories/{memory['id']}").status_code == 200


def test_the_chain_of_what_superseded_what_is_linked(client: httpx.Client, memory: dict[str, Any], page: str):
    new = client.post(f"{API}/memories/{memory['id']}/supersede", json={"content": "We deploy on Sundays"}).json()
    old_page = client.get(page).text
    assert "was replaced" in text_of(old_page)
    assert f'href="{PAGE}/{new["id"]}"' in old_page
    chain = LexborHTMLParser(client.get(f"{PAGE}/{new['id']}").text).css(".chain li")
    assert ["Fridays" in chain[0].text(), "Sundays" in chain[1].text()] == [True, True]


def test_a_verdict_is_given_and_taken_back(client: httpx.Client, memory: dict[str, Any], page: str):
    def verdict() -> str | None:
        return client.get(f"{API}/memories/{memory['id']}/telemetry").json()["feedback"]

    form = form_to(client.get(page).text, f"{page}/feedback")
    after = ended(client, send(client, form, verdict="useful"))
    assert verdict() == "useful"
    pressed = LexborHTMLParser(after).css("button[aria-pressed=true]")
    assert [one.text() for one in pressed] == ["Useful"]
    send(client, form, verdict="")
    assert verdict() is None


def test_turns_before_and_after_are_beside_it(client: httpx.Client):
    items = [{"author": "Ann", "content": f"Turn number {number}"} for number in range(1, 8)]
    made = client.post(f"{API}/conversations/a%2Fb/exchanges", json={"items": items}).json()["items"]
    html = client.get(f"{PAGE}/{made[3]['id']}").text
    beside = [one.text() for one in LexborHTMLParser(html).css(".beside li")]
    assert [one.split()[-1] for one in beside] == ["2", "3", "4", "5", "6"]
    assert "/console/spaces/default/conversations/a%2Fb?turn=4" in html


def test_chunks_before_and_after_are_beside_it(client: httpx.Client):
    text = "\n\n".join(f"## Part {number}\n\n" + "Words of the part. " * 30 for number in range(6))
    made = client.put(
        f"{API}/documents/a.md", json={"content": text, "size": 64, "overlap": 0, "strategy": "heading"}
    ).json()
    chunks = client.get(f"{API}/documents/{made['id']}/chunks").json()["items"]
    html = client.get(f"{PAGE}/{chunks[3]['id']}").text
    links = [one.attributes["href"] for one in LexborHTMLParser(html).css(".beside a")]
    assert links == [f"{PAGE}/{chunks[at]['id']}" for at in (1, 2, 4, 5)]


def test_what_it_names_is_linked_in_the_graph(client: httpx.Client):
    made = client.post(f"{API}/memories", json=draft("Ann Berg works at Acme Corporation")).json()
    found = client.get(f"{API}/graph/entities", params={"memory": made["id"]}).json()["items"]
    links = LexborHTMLParser(client.get(f"{PAGE}/{made['id']}").text).css(".entities a")
    assert [str(one.attributes["href"]).rpartition("/")[2] for one in links] == [one["id"] for one in found]
    client.put("/v1/spaces/default/policy", json={"graph": "off"})
    assert client.get(f"{PAGE}/{made['id']}").status_code == 200


def test_the_past_has_its_version_and_no_forms(client: httpx.Client, memory: dict[str, Any], page: str):
    before = client.get(API).json()["seq"]
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "Never"})
    html = client.get(page, params={"as_of": before}).text
    assert "Fridays" in text_of(html, ".prose")
    assert "Never" not in html and "Version 2" not in html
    assert [one for one in forms_of(html) if one.method == "post"] == []


def test_a_reader_sees_it_without_forms(keyed: httpx.Client):
    reader(keyed, "append-only")
    token = form_to(keyed.get("/").text, "/console/sign-out").fields["form_token"]
    made = keyed.post(PAGE, data={"form_token": token, "content": "Tea"}, follow_redirects=False)
    html = keyed.get(made.headers["Location"].partition("?")[0]).text
    assert actions(html) <= {"sign-out", "feedback"}


def test_one_that_never_was_is_not_found(client: httpx.Client):
    for name in ("0197a3c0-5f4e-7000-8000-0123456789ab", "nonsense"):
        assert client.get(f"{PAGE}/{name}").status_code == 404
        assert client.get(f"{PAGE}/{name}/edit").status_code == 404
        assert client.get(f"{PAGE}/{name}/purge").status_code == 404
