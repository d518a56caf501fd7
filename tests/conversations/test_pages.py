"""Conversations: lists, a dialogue to read, and what may be changed."""

from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.service.conversations.pages import outline, said, turns
from tests.service.fakes import API
from tests.service.pages.forms import ended, first, form_to, forms_of, reader, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default/conversations"


@pytest.fixture
def planning(client: httpx.Client) -> str:
    """The page of a conversation with a slash in its name, 60 turns and two topics."""
    client.post(f"{API}/conversations", json={"name": "a/b", "title": "Plans", "session": "work", "users": ["Ann"]})
    items = [{"author": "Ann", "content": f"Turn **number** {number}"} for number in range(1, 61)]
    client.post(f"{API}/conversations/a%2Fb/exchanges", json={"items": items})
    for title, span in (("Ferries", [1, 20]), ("Prices", [21, 60])):
        client.post(f"{API}/conversations/a%2Fb/topics", json={"title": title, "spans": [span]})
    return f"{PAGE}/a%2Fb"


def test_lists_have_sizes_and_lead_to_the_dialogue(client: httpx.Client, planning: str):
    html = client.get(PAGE).text
    row = [one.text() for one in LexborHTMLParser(html).css("tbody tr > *")]
    assert row[:5] == ["Plans", "work", "Ann", "60", "2"] and f'href="{planning}"' in html
    assert f'href="{planning}"' in client.get(PAGE, params={"session": "work"}).text
    assert "No conversation matches" in client.get(PAGE, params={"user": "Zoe"}).text
    assert "No conversation matches" in client.get(PAGE, params={"state": "closed"}).text


def test_turns_are_paged_in_their_order_under_their_topics(client: httpx.Client, planning: str):
    parsed = LexborHTMLParser(client.get(planning).text)
    assert [one.attributes["id"] for one in parsed.css(".dialogue > li[id]")] == [f"turn-{n}" for n in range(1, 51)]
    assert [one.text() for one in parsed.css(".dialogue .topic")] == ["Ferries", "Prices"]
    assert first(parsed, ".said-by .prose strong").text() == "number"
    later = LexborHTMLParser(client.get(str(first(parsed, ".pager a").attributes["href"])).text)
    assert [one.attributes["id"] for one in later.css(".dialogue > li[id]")] == [f"turn-{n}" for n in range(51, 61)]


def test_a_link_to_a_turn_shows_it_with_those_before(client: httpx.Client, planning: str):
    parsed = LexborHTMLParser(client.get(planning, params={"turn": 40}).text)
    shown = [one.attributes["id"] for one in parsed.css(".dialogue > li[id]")]
    assert shown[:3] == ["turn-38", "turn-39", "turn-40"]
    assert [one.attributes["id"] for one in parsed.css(".dialogue [aria-current]")] == ["turn-40"]


def test_topics_are_an_outline_with_summaries(client: httpx.Client, planning: str):
    client.post(f"{API}/conversations/a%2Fb/summaries", json={})
    parsed = LexborHTMLParser(client.get(planning).text)
    links = [(one.text(), one.attributes["href"]) for one in parsed.css(".outline > li > a")]
    assert links == [("Ferries", f"{planning}?turn=1"), ("Prices", f"{planning}?turn=21")]
    assert len(parsed.css(".outline details .prose")) == 2
    assert parsed.css_first("#working") is not None


def test_it_is_renamed_closed_and_opened_again(client: httpx.Client, planning: str):
    def now() -> dict[str, Any]:
        return client.get(f"{API}/conversations/a%2Fb").json()

    html = client.get(planning).text
    close, rename = [one for one in forms_of(html) if one.action == planning and one.method == "post"]
    assert "Winter" in ended(client, send(client, rename, title="Winter"))
    page = ended(client, send(client, close, state="closed"))
    assert (now()["title"], now()["state"]) == ("Winter", "closed")
    assert "Reopen" in page
    send(client, close, state="open")
    assert now()["state"] == "open"


def test_it_is_deleted_after_a_dry_run_and_comes_back_by_undo(client: httpx.Client, planning: str):
    path = f"{planning}/delete"
    asked = client.get(path).text
    assert "60 exchanges" in asked
    assert client.get(f"{API}/conversations/a%2Fb").status_code == 200
    page = ended(client, send(client, form_to(asked, path)))
    assert client.get(f"{API}/conversations/a%2Fb").status_code == 404
    send(client, form_to(page, "/console/spaces/default/undo"))
    assert client.get(f"{API}/conversations/a%2Fb").json()["turns"] == 60


def test_a_session_is_renamed_and_deleted(client: httpx.Client, planning: str):
    path = "/console/spaces/default/sessions/work"
    (rename, _close) = [
        one for one in forms_of(client.get(PAGE, params={"session": "work"}).text) if one.action == path
    ]
    send(client, rename, title="Work of winter")
    assert client.get(f"{API}/sessions/work").json()["title"] == "Work of winter"
    send(client, form_to(client.get(f"{path}/delete").text, f"{path}/delete"))
    assert client.get(f"{API}/sessions/work").status_code == 404


def test_the_past_has_its_turns_and_no_forms(client: httpx.Client, planning: str):
    before = client.get(API).json()["seq"]
    client.post(f"{API}/conversations/a%2Fb/exchanges", json={"items": [{"author": "Ann", "content": "Later"}]})
    html = client.get(planning, params={"as_of": before, "turn": 60}).text
    assert "Later" not in first(LexborHTMLParser(html), ".dialogue").text()
    assert [one for one in forms_of(html) if one.method == "post"] == []


def test_hostile_words_do_nothing(client: httpx.Client):
    evil = "<img src=x onerror=alert(1)>"
    client.post(f"{API}/conversations", json={"name": "e", "title": evil, "users": [evil]})
    client.post(f"{API}/conversations/e/exchanges", json={"items": [{"author": evil, "content": evil}]})
    for path in (PAGE, f"{PAGE}/e", f"{PAGE}/e/delete"):
        assert "<img src=x" not in client.get(path).text


def test_a_reader_changes_nothing(keyed: httpx.Client):
    reader(keyed)
    token = form_to(keyed.get(PAGE).text, "/console/sign-out").fields["form_token"]
    assert keyed.post(f"{PAGE}/x/delete", data={"form_token": token}).status_code == 403


def test_a_turn_with_a_reply_is_two_messages():
    memory = {"author": None, "content": "Who?\n\nAnn.", "structure": {"reply_at": 6}}
    assert said(memory) == [{"who": "somebody", "text": "Who?"}, {"who": "assistant", "text": "Ann."}]


def test_a_topic_begins_where_its_first_turn_is_left():
    items = [{**_turn(number)} for number in (2, 3, 5)]
    topics = outline([_topic("A", [[1, 3]]), _topic("B", [[4, 4], [6, 9]]), _topic("C", [[5, 5]])], [])
    assert [
        (one["turn"], [topic["title"] for topic in one["begins"]], one["band"]) for one in turns(items, topics)
    ] == [
        (2, ["A"], 0),
        (3, [], 0),
        (5, ["C"], 2),
    ]


def test_topics_without_turns_come_last():
    topics = [_topic("x", []), _topic("y", [[9, 9]]), _topic("z", [[1, 2], [11, 12]])]
    assert [(one["name"], list(one["spans"])) for one in outline(topics, [])] == [
        ("z", ["1 to 2", "11 to 12"]),
        ("y", ["9"]),
        ("x", []),
    ]


def _turn(number: int) -> dict[str, Any]:
    return {
        "turn": number, "id": str(number), "event_at": None, "created_at": "", "author": "a", "content": "b",
        "structure": {},
    }  # fmt: skip


def _topic(name: str, spans: list[list[int]]) -> dict[str, Any]:
    return {"name": name, "title": name, "state": "open", "spans": spans, "turns": 1}


def test_turns_beyond_what_a_page_reads_as_markdown_are_plain():
    items = [
        {"turn": number, "id": "a", "event_at": "x", "author": "a", "content": "b" * 100_000, "structure": {}}
        for number in range(4)
    ]
    assert [one["plain"] for one in turns(items, ())] == [False, False, True, True]
