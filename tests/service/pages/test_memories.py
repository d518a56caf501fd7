"""The list of memories, and the form that adds one."""

import json
from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.core.engine import Engine
from tests.service.fakes import API, draft
from tests.service.pages.forms import ended, first, form_to, forms_of, reader, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default/memories"


def titles(html: str) -> list[str]:
    return [one.text() for one in LexborHTMLParser(html).css("#results .rows tbody th > a:first-child")]


def stored(client: httpx.Client, content: str, **fields: Any) -> dict[str, Any]:
    return client.post(f"{API}/memories", json=draft(content, **fields), params={"on_conflict": "keep"}).json()


def test_newest_come_first_and_pages_follow_by_cursor(client: httpx.Client):
    for number in range(55):
        stored(client, f"Island number {number}")
    newest = client.get(PAGE).text
    assert titles(newest)[:2] == ["Island number 54", "Island number 53"]
    assert len(titles(newest)) == 50
    link = first(LexborHTMLParser(newest), ".pager a")
    second = client.get(str(link.attributes["href"])).text
    assert titles(second) == [f"Island number {number}" for number in range(4, -1, -1)]
    assert ".pager" not in second


@pytest.mark.parametrize(("query", "found"), [
    ({"category": "team"}, ["A"]), ({"tags": "tea"}, ["B"]), ({"author": "Ann"}, ["B"]), ({"type": "guard"}, ["C"]),
    ({"importance": "high"}, ["A"]), ({"author": "Ann", "category": "team"}, []),
    ({"sort": "created_at"}, ["A", "B", "C"]), ({"sort": "nonsense"}, ["C", "B", "A"]),
    ({"created_at.lt": "2000-01-01"}, []),
])  # fmt: skip
def test_filters_of_the_url_are_those_of_the_api(client: httpx.Client, query: dict[str, str], found: list[str]):
    stored(client, "A", category="team", importance="high")
    stored(client, "B", tags=["tea"], author="Ann")
    stored(client, "C", type="guard")
    assert titles(client.get(PAGE, params=query).text) == found


def test_a_filter_that_the_api_refuses_is_explained(client: httpx.Client):
    answer = client.get(PAGE, params={"type": "opinion"})
    assert answer.status_code == 422
    assert "opinion" in answer.text


def test_facets_have_the_counts_of_the_api(client: httpx.Client):
    for content in ("A", "B"):
        stored(client, content, category="team", tags=["tea"])
    stored(client, "C", type="guard", author="Ann")

    def shown(path: str) -> list[list[str]]:
        return [one.text(separator=" ").split() for one in LexborHTMLParser(client.get(path).text).css(".facets li")]

    assert shown(f"{PAGE}/facets") == [["team", "2"], ["tea", "2"], ["Ann", "1"]]
    assert sorted(shown(f"{PAGE}/facets?of=kinds")) == [["fact", "2"], ["guard", "1"]]


def test_selected_memories_are_exported_as_lines_that_the_api_takes(client: httpx.Client):
    made = [stored(client, "Tea", category="team", tags=["a", "b"], metadata={"n": 1}), stored(client, "Rope")]
    form = form_to(client.get(PAGE).text, f"{PAGE}/selected")
    body = {"form_token": form.fields["form_token"], "id": [one["id"] for one in made], "action": "export"}
    answer = client.post(f"{PAGE}/selected", data=body)
    assert "attachment" in answer.headers["content-disposition"]
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["content"] for one in lines] == ["Tea", "Rope"]
    again = [stored(client, **line) for line in lines]
    kept = ("content", "category", "tags", "metadata")
    assert [[one[name] for name in kept] for one in again] == [[one[name] for name in kept] for one in made]


def test_selected_memories_are_replaced_by_one_and_one_undo_takes_it_back(client: httpx.Client):
    texts = ("The pier closes at nine", "The pier closes at 21", "The pier shuts at nine")
    first, second, third = (stored(client, one, tags=[one[-4:]], author="Ann")["id"] for one in texts)
    form = form_to(client.get(PAGE).text, f"{PAGE}/selected")
    token = form.fields["form_token"]
    body = {"form_token": token, "id": [first, second, third], "action": "replace"}
    offered = client.post(f"{PAGE}/selected", data=body)
    assert offered.status_code == 200 and all(one in offered.text for one in texts)
    assert len(client.get(f"{API}/memories").json()["items"]) == 3
    given = {"form_token": token, "id": [first, second, third], "basis": second, "content": "The pier closes at 21:00"}
    page = ended(client, client.post(f"{PAGE}/replaced", data=given, follow_redirects=False))
    (made,) = client.get(f"{API}/memories").json()["items"]
    assert (made["content"], made["tags"], made["supersedes"]) == ("The pier closes at 21:00", ["t 21"], second)
    assert made["derived_from"] == [first, third]
    send(client, form_to(page, "/console/spaces/default/undo"))
    assert {one["content"] for one in client.get(f"{API}/memories").json()["items"]} == set(texts)


def test_a_replacement_that_is_refused_changes_nothing(client: httpx.Client):
    first, second = (stored(client, one)["id"] for one in ("Tea at four", "Tea at five"))
    token = form_to(client.get(PAGE).text, f"{PAGE}/selected").fields["form_token"]
    given = {"form_token": token, "id": [first, second], "basis": first}
    answer = client.post(f"{PAGE}/replaced", data={**given, "content": "x" * 200_001})
    assert answer.status_code in (413, 422) and 'role="alert"' in answer.text
    for wrong in ({"id": [first]}, {"basis": "another"}):
        assert client.post(f"{PAGE}/replaced", data={**given, **wrong}).status_code == 400
    assert len(client.get(f"{API}/memories").json()["items"]) == 2


def test_columns_are_those_of_the_url_or_of_the_cookie(client: httpx.Client):
    stored(client, "A", category="team", importance="high")

    def cells(**params: Any) -> list[str]:
        return [one.text().strip() for one in LexborHTMLParser(client.get(PAGE, params=params).text).css("tbody .col")]

    assert cells(column=["category", "importance"]) == ["team", "high"]
    client.cookies.set("muisti_columns", "importance.evil")
    assert cells() == ["high"]


def test_an_empty_list_says_how_to_fill_it(client: httpx.Client):
    assert "Nothing is remembered yet" in client.get(PAGE).text
    assert "No memory matches these filters" in client.get(PAGE, params={"author": "Zoe"}).text


def test_the_past_is_listed_and_offers_no_change(client: httpx.Client):
    before = client.get(f"{API}").json()["seq"]
    stored(client, "Later")
    html = client.get(PAGE, params={"as_of": before}).text
    assert titles(html) == []
    assert f'href="{PAGE}/new' not in html


def test_hostile_text_is_shown_and_does_nothing(client: httpx.Client):
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    stored(client, evil, category=evil[:40], tags=[evil[:30]], author=evil, source=evil)
    html = client.get(PAGE, params={"author": evil}).text
    assert "<script>alert" not in html and "<img src=x" not in html
    assert "&lt;script&gt;" in html


def test_a_memory_is_added_with_its_fields(client: httpx.Client):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    given = {
        "content": "one\r\ntwo", "tags": "a, b", "category": "team", "metadata": '{"n": 1}', "source_class": "user",
    }  # fmt: skip
    answer = send(client, form, **given)
    assert "The memory was saved." in ended(client, answer)
    memory = client.get(f"{API}/memories").json()["items"][0]
    assert memory["content"] == "one\ntwo"
    assert (memory["tags"], memory["category"], memory["metadata"]) == (["a", "b"], "team", {"n": 1})
    assert memory["source_class"] == "user"


def test_what_was_added_can_be_undone(client: httpx.Client):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    page = ended(client, send(client, form, content="Oops"))
    send(client, form_to(page, "/console/spaces/default/undo"))
    assert client.get(f"{API}/memories").json()["items"] == []


@pytest.mark.parametrize(("choice", "left"), [("keep", 2), ("review", 2), ("supersede", 1)])
def test_a_repeated_memory_is_shown_beside_the_other_and_decided(client: httpx.Client, choice: str, left: int):
    old = stored(client, "We deploy on Fridays")
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    refused = send(client, form, content="We deploy on Fridays", author="Ann")
    assert refused.status_code == 409
    assert old["id"] in refused.text
    again = form_to(refused.text, PAGE)
    assert (again.fields["content"], again.fields["author"]) == ("We deploy on Fridays", "Ann")
    assert send(client, again, on_conflict=choice).status_code == 303
    assert len(client.get(f"{API}/memories").json()["items"]) == left
    assert len(client.get(f"{API}/conflicts").json()["items"]) == (1 if choice == "review" else 0)


def test_words_find_the_best_matches_among_what_the_filters_leave(client: httpx.Client):
    for content, category in (("Tea is at four", "team"), ("Tea is green", "shop"), ("We deploy on Fridays", "team")):
        stored(client, content, category=category)
    assert titles(client.get(PAGE, params={"q": "when is tea?", "category": "team"}).text)[0] == "Tea is at four"
    assert "Tea is green" not in client.get(PAGE, params={"q": "tea", "category": "team"}).text
    assert "Tea is green" in client.get(PAGE, params={"q": "tea"}).text


@pytest.mark.parametrize(("action", "value", "changed"), [
    ("tag", "new", {"tags": ["old", "new"]}), ("untag", "OLD", {"tags": []}),
    ("category", "team", {"category": "team"}), ("category", "", {"category": None}),
    ("importance", "high", {"importance": "high"}), ("delete", "", None),
])  # fmt: skip
def test_selected_memories_change_together_and_one_undo_takes_all_back(
    client: httpx.Client, action: str, value: str, changed: dict[str, Any] | None
):
    ids = [stored(client, f"Island number {number}", tags=["old"], category="sea")["id"] for number in range(3)]
    before = client.get(f"{API}/memories").json()["items"]
    form = form_to(client.get(PAGE).text, f"{PAGE}/selected")
    page = ended(client, send(client, form, id=ids[:2], action=action, value=value))
    assert "The selected memories were changed." in page
    after = {one["id"]: one for one in client.get(f"{API}/memories").json()["items"]}
    assert [after.get(one) and {name: after[one][name] for name in changed or {}} for one in ids[:2]] == [changed] * 2
    assert (after[ids[2]]["tags"], after[ids[2]]["category"]) == (["old"], "sea")
    send(client, form_to(page, "/console/spaces/default/undo"))
    kept = {one["id"]: (one["content"], one["tags"], one["category"], one["importance"]) for one in before}
    again = client.get(f"{API}/memories").json()["items"]
    assert {one["id"]: (one["content"], one["tags"], one["category"], one["importance"]) for one in again} == kept


def test_a_refusal_says_how_many_were_changed(client: httpx.Client):
    ids = [stored(client, f"Island number {number}")["id"] for number in range(2)]
    form = form_to(client.get(PAGE).text, f"{PAGE}/selected")
    client.delete(f"{API}/memories/{ids[1]}")
    answer = send(client, form, id=ids, action="importance", value="high")
    assert answer.status_code == 400
    assert "1 of 2 were changed" in answer.text


@pytest.mark.parametrize("fields", [{"metadata": "{"}, {"event_at": "yesterday"}, {"content": ""}])
def test_a_refused_form_keeps_what_was_typed(client: httpx.Client, fields: dict[str, str]):
    form = form_to(client.get(f"{PAGE}/new").text, PAGE)
    given = {"content": "\nfirst line\n", "reason": "because"} | fields
    answer = send(client, form, **given)
    assert answer.status_code == 422
    kept = form_to(answer.text, PAGE).fields
    assert {name: kept[name] for name in given} == given
    assert LexborHTMLParser(answer.text).css_first("[role=alert]") is not None


def test_a_key_that_only_reads_cannot_add(keyed: httpx.Client, engine: Engine):
    reader(keyed)
    assert [one for one in forms_of(keyed.get(f"{PAGE}/new").text) if one.action == PAGE] == []
    token = form_to(keyed.get(PAGE).text, "/console/sign-out").fields["form_token"]
    assert keyed.post(PAGE, data={"form_token": token, "content": "x"}).status_code == 403
