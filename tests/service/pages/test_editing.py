"""Edits: only what was changed is sent, and two people who edit the same memory both see it."""

from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.service.fakes import API
from tests.service.pages.forms import ended, first, form_to, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default/memories"


@pytest.fixture
def edit(memory: dict[str, Any]) -> str:
    return f"{PAGE}/{memory['id']}/edit"


def now(client: httpx.Client, memory: dict[str, Any]) -> dict[str, Any]:
    return client.get(f"{API}/memories/{memory['id']}").json()


def test_a_change_is_stored_and_can_be_undone(client: httpx.Client, memory: dict[str, Any], edit: str):
    page = ended(client, send(client, form_to(client.get(edit).text, edit), content="New", tags="a, b"))
    assert "The memory was changed." in page
    assert (now(client, memory)["content"], now(client, memory)["tags"]) == ("New", ["a", "b"])
    send(client, form_to(page, "/console/spaces/default/undo"))
    assert now(client, memory)["content"] == memory["content"]


def test_nothing_different_makes_no_version(client: httpx.Client, memory: dict[str, Any], edit: str):
    page = ended(client, send(client, form_to(client.get(edit).text, edit)))
    assert "There were no changes" in page
    assert now(client, memory)["version"] == 1


def test_a_text_with_other_line_ends_is_not_changed_by_the_form(client: httpx.Client):
    made = client.post(f"{API}/memories", json={"content": "\na\r\nb\n"}).json()
    edit = f"{PAGE}/{made['id']}/edit"
    sent = form_to(client.get(edit).text, edit)
    send(client, sent, content=sent.fields["content"].replace("\n", "\r\n"), tags="x")
    after = now(client, made)
    assert (after["content"], after["tags"]) == (made["content"], ["x"])


def test_a_lost_update_shows_both_texts_and_loses_nothing(client: httpx.Client, memory: dict[str, Any], edit: str):
    mine = form_to(client.get(edit).text, edit)
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "Theirs is this", "author": "Ben"})
    answer = send(client, mine, content="Mine is this", tags="x")
    assert answer.status_code == 412
    parsed = LexborHTMLParser(answer.text)
    assert first(parsed, ".decide pre").text() == "Theirs is this"
    assert [(one.tag, one.text()) for one in parsed.css(".diff ins, .diff del")] == [("del", "Theirs"), ("ins", "Mine")]
    assert now(client, memory)["content"] == "Theirs is this"
    again = form_to(answer.text, edit)
    assert (again.fields["content"], again.fields["tags"]) == ("Mine is this", "x")
    ended(client, send(client, again))
    after = now(client, memory)
    assert (after["content"], after["tags"], after["author"]) == ("Mine is this", ["x"], "Ben")


def test_a_second_lost_update_is_seen_too(client: httpx.Client, memory: dict[str, Any], edit: str):
    mine = form_to(client.get(edit).text, edit)
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "One"})
    again = form_to(send(client, mine, content="Mine").text, edit)
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "Two"})
    assert send(client, again).status_code == 412
    assert now(client, memory)["content"] == "Two"


def test_what_was_typed_outlives_the_memory(client: httpx.Client, memory: dict[str, Any], edit: str):
    mine = form_to(client.get(edit).text, edit)
    client.delete(f"{API}/memories/{memory['id']}")
    answer = send(client, mine, content="Precious words")
    assert answer.status_code == 404
    assert form_to(answer.text, PAGE).fields["content"] == "Precious words"


@pytest.mark.parametrize("fields", [{"metadata": "[1"}, {"valid_from": "soon"}, {"content": ""}])
def test_a_refused_change_keeps_what_was_typed(
    client: httpx.Client, memory: dict[str, Any], edit: str, fields: dict[str, str]
):
    answer = send(client, form_to(client.get(edit).text, edit), reason="why", **fields)
    assert answer.status_code == 422
    kept = form_to(answer.text, edit).fields
    assert kept["reason"] == "why"
    assert {name: kept[name] for name in fields} == fields
    assert now(client, memory)["version"] == 1


def test_an_emptied_field_is_cleared(client: httpx.Client):
    made = client.post(f"{API}/memories", json={"content": "Tea", "author": "Ann", "tags": ["x"]}).json()
    edit = f"{PAGE}/{made['id']}/edit"
    send(client, form_to(client.get(edit).text, edit), author="", tags="")
    after = now(client, made)
    assert (after["author"], after["tags"]) == (None, [])


def test_another_memory_comes_in_its_place(client: httpx.Client, memory: dict[str, Any]):
    path = f"{PAGE}/{memory['id']}/supersede"
    page = ended(client, send(client, form_to(client.get(path).text, path), content="We deploy on Mondays"))
    assert "The memory was replaced." in page
    found = client.get(f"{API}/memories").json()["items"]
    assert [(one["content"], one["supersedes"]) for one in found] == [("We deploy on Mondays", memory["id"])]


def test_nobody_replaces_a_version_that_they_have_not_seen(client: httpx.Client, memory: dict[str, Any]):
    path = f"{PAGE}/{memory['id']}/supersede"
    form = form_to(client.get(path).text, path)
    client.patch(f"{API}/memories/{memory['id']}", json={"content": "Theirs"})
    answer = send(client, form, content="Mine")
    assert answer.status_code == 412
    assert form_to(answer.text, path).fields["content"] == "Mine"
    assert now(client, memory)["content"] == "Theirs"


def test_both_messages_of_a_turn_have_fields_of_their_own(client: httpx.Client):
    items = [{"user": "Where is it?\n\nTell me.", "system": "In Rome.\n\nI think."}]
    made = client.post(f"{API}/conversations/c/exchanges", json={"items": items}).json()["items"][0]
    edit = f"{PAGE}/{made['id']}/edit"

    def halves() -> tuple[str, str | None]:
        turn = now(client, made)
        at = turn["structure"].get("reply_at")
        return turn["content"][: None if at is None else at - 2], None if at is None else turn["content"][at:]

    form = form_to(client.get(edit).text, edit)
    assert (form.fields["user"], form.fields["system"]) == (items[0]["user"], items[0]["system"])
    assert "content" not in form.fields and "There were no changes" in ended(client, send(client, form))
    send(client, form, system="In Oslo.")
    assert halves() == ("Where is it?\n\nTell me.", "In Oslo.")
    assert "they changed it" in send(client, form, user="Where?").text.lower()
    send(client, form_to(client.get(edit).text, edit), user="Where?", system="")
    assert halves() == ("Where?", None)
    assert "content" in form_to(client.get(edit).text, edit).fields


def test_a_script_gets_the_next_page_by_name_and_a_refusal_as_a_part(client: httpx.Client, edit: str):
    form, script = form_to(client.get(edit).text, edit), {"HX-Request": "true"}
    kept = client.post(edit, data={**form.fields, "content": "New"}, headers=script)
    assert kept.status_code == 204
    assert "The memory was changed." in client.get(kept.headers["HX-Redirect"]).text
    token = {"form_token": form.fields["form_token"]}
    refused = client.post("/console/spaces/default/time/checkpoints", data={**token, "name": "A b"}, headers=script)
    part = LexborHTMLParser(refused.text)
    assert (refused.status_code, part.css_first("main")) == (422, None)
    assert [one.text() for one in part.css("[data-path] strong")] == ["Name"]


@pytest.mark.parametrize(("back", "leads_to"), [(f"{PAGE}?tags=x", f"{PAGE}?tags=x&said"), ("//evil.example/", PAGE)])
def test_an_edit_leads_back_to_the_list_that_it_came_from(client: httpx.Client, edit: str, back: str, leads_to: str):
    form = form_to(client.get(edit, params={"back": back}).text, edit)
    answer = send(client, form, content="New")
    assert answer.headers["Location"].startswith(leads_to)


def test_a_text_that_repeats_another_shows_the_words_that_differ(client: httpx.Client):
    client.post(f"{API}/memories", json={"content": "We deploy on Fridays", "category": "team", "key": "deploys"})
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    answer = send(client, form, content="We deploy on Mondays", category="team", key="deploys")
    found = LexborHTMLParser(answer.text).css(".decide .diff ins, .decide .diff del")
    assert [(one.tag, one.text()) for one in found] == [("del", "Fridays"), ("ins", "Mondays")]


def test_names_in_use_are_offered(client: httpx.Client):
    client.post(f"{API}/memories", json={"content": "Tea", "category": "kitchen", "tags": ["hot"], "author": "Ann"})
    html = client.get(f"{PAGE}/names", headers={"HX-Request": "true"}).text
    lists = {str(one.attributes["id"]): one.css("option") for one in LexborHTMLParser(html).css("datalist")}
    offered = {name: [one.attributes["value"] for one in options] for name, options in lists.items()}
    assert offered.pop("names-values")[-2:] == ["kitchen", "hot"]
    assert offered == {
        "names-category": ["kitchen"], "names-tags": ["hot"], "names-author": ["Ann"], "names-source": [],
    }  # fmt: skip
