"""The page Ask, as a browser without scripts and as htmx sees it."""

from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from tests.service.fakes import API
from tests.service.pages.forms import ended, form_to, send

ASK = "/console/spaces/default/ask"
HTMX = {"HX-Request": "true"}

pytestmark = pytest.mark.one_store


def add(client: httpx.Client, content: str, **fields: Any) -> str:
    answer = client.post(f"{API}/memories", json={"content": content, "on_conflict": "keep", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def page(client: httpx.Client, path: str = "", status: int = 200, headers: Any = None, **params: Any) -> HTMLParser:
    given = {name.replace("b_", "b."): value for name, value in params.items()}
    answer = client.get(ASK + path, params=given, headers=headers or {})
    assert answer.status_code == status, answer.text
    return HTMLParser(answer.text)


def shown(tree: HTMLParser) -> list[str]:
    return [str(one.attributes["href"]).rsplit("/", 1)[-1] for one in tree.css(".hits .badges > a:first-child")]


def text(tree: Any, selector: str = "#results") -> str:
    found = tree if selector == "" else tree.css_first(selector)
    assert found is not None, selector
    return " ".join(found.text().split())


def test_without_a_question_the_page_says_what_it_is_for(client: httpx.Client):
    tree = page(client)
    assert "This changes nothing" in text(tree) and tree.css_first("form.ask input[name=q]") is not None


@pytest.mark.parametrize("fusion", ["absolute", "convex", "rrf", "dbsf"])
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword", "metadata", "recent"])
def test_the_table_of_each_hit_adds_up_to_its_score(client: httpx.Client, mode: str, fusion: str):
    add(client, "We deploy on Tuesdays", importance="high")
    add(client, "We never deploy on Fridays", importance="low", author="Ann")
    tree = page(client, q="deploy", mode=mode, fusion=fusion, trust="0.5", recency="0.5")
    assert tree.css(".hits li")
    for hit in tree.css(".hits li"):
        table = hit.css_first(".pair table")
        assert table is not None
        parts = [float(cell.text().replace("−", "-")) for cell in table.css("tbody td")]
        total = table.css_first("tfoot td")
        assert total is not None and sum(parts) == pytest.approx(float(total.text()), abs=0.0006 * len(parts))
        assert total.text() == text(hit, ".score")


def test_the_hits_are_those_of_the_api(client: httpx.Client):
    for n in range(4):
        add(client, f"note {n} on the lake")
    wanted = client.post(f"{API}/search", json={"query": "lake", "limit": 3, "no_touch": True}).json()
    assert shown(page(client, q="lake", limit="3")) == [hit["memory"]["id"] for hit in wanted["hits"]]


def test_matched_words_are_marked_and_nothing_that_was_stored_acts(client: httpx.Client):
    add(client, "<script>alert(1)</script> **lake** <img src=x onerror=y>", author="<b>Ann", tags=["<i>t"])
    tree = page(client, q="lake")
    assert [mark.text() for mark in tree.css(".passage mark")] == ["lake"]
    results = tree.css_first("#results")
    assert results is not None and not results.css("script, img, b, i") and "<script>" in results.text()


def test_a_fragment_is_the_results_alone_and_names_the_url_without_empty_parameters(client: httpx.Client):
    add(client, "We deploy on Tuesdays")
    answer = client.get(ASK, params={"q": "deploy", "mode": "", "limit": "2"}, headers=HTMX)
    assert answer.headers["hx-replace-url"] == f"{ASK}?q=deploy&limit=2"
    assert "<html" not in answer.text and HTMLParser(answer.text).css_first("#results") is not None
    assert "hx-replace-url" not in client.get(ASK, params={"q": "deploy"}).headers


def test_two_settings_stand_side_by_side(client: httpx.Client):
    add(client, "tree tree lake")
    add(client, "lake and nothing else", importance="critical")
    tree = page(client, q="tree lake", compare="on", mode="keyword", b_mode="metadata")
    assert len(tree.css(".column")) == 2 and tree.css_first("input[name=compare][checked]") is not None
    assert "above the other" in text(tree) and "below the other" in text(tree)
    assert "ranked by keyword" in text(tree) and "ranked by metadata" in text(tree)


def test_why_not_this_one_says_why(client: httpx.Client):
    wanted = add(client, "the lake", category="b")
    add(client, "a lake", category="a")
    tree = page(client, q="lake", category="a", expect=wanted)
    assert "excludes it, by category" in text(tree, ".expected")
    assert text(page(client, q="lake", expect=wanted), ".expected").startswith("Why not “the lake”? It is hit 2")
    assert text(page(client, q="boats", expect="the lake"), ".expected").startswith("Why not “the lake”?")
    assert text(page(client, q="boats", expect="  "), "#results")
    missing = page(client, q="lake", expect="0197a3c0-5f4e-7000-8000-0123456789ab")
    assert "There is no memory with this id." in text(missing, ".expected")
    assert missing.css_first(".expected a") is None


@pytest.mark.parametrize(("params", "named"), [
    ({"filter": "{"}, "filter"), ({"filter": '{"colour": "red"}'}, "filter.colour"), ({"alpha": "7"}, "alpha"),
    ({"limit": "1000"}, "limit"),
    ({"b_limit": "x", "compare": "on"}, "b.limit"),
])  # fmt: skip
def test_what_the_api_refuses_is_beside_the_form_that_keeps_everything(
    client: httpx.Client, params: dict[str, str], named: str
):
    tree = page(client, q="lake", status=422, **params)
    assert text(tree, ".problem code") == named
    (name, value), *_ = params.items()
    field = tree.css_first(f'[name="{name.replace("b_", "b.")}"]')
    assert field is not None and field.attributes["value"] == value


def test_a_question_that_finds_nothing_says_so_and_what_to_try(client: httpx.Client):
    add(client, "the lake", category="a")
    tree = page(client, q="zebra", mode="keyword", category="a")
    assert "Nothing matches the filter." in text(tree, ".nothing") or "Nothing" in text(tree, ".nothing")
    link = tree.css_first(".nothing a")
    assert link is not None and link.attributes["href"] == f"{ASK}?q=zebra&mode=keyword"


def test_the_meter_has_the_thresholds_of_the_answer(client: httpx.Client):
    add(client, "We deploy on Tuesdays")
    found = client.post(f"{API}/search", json={"query": "deploy", "mode": "keyword"}).json()
    assert found["thresholds"] == {"weak": 0.21, "strong": 0.36}
    tree = page(client, q="deploy", mode="keyword")
    assert "weak from 0.21, strong from 0.36" in text(tree, ".evidence") and len(tree.css(".meter line")) == 2
    plain = page(client, q="deploy", mode="metadata")
    assert plain.css_first(".meter") is None and "ranks no text" in text(plain, ".evidence")


def test_an_earlier_time_stays_in_every_link_and_keeps_no_receipt(client: httpx.Client):
    add(client, "the first lake")
    point = str(client.get(f"{API}/changes").json()["items"][-1]["seq"])
    add(client, "the second lake")
    tree = page(client, q="lake", as_of=point)
    assert len(tree.css(".hits li")) == 1 and tree.css_first("form.keep") is None
    assert all("as_of" in str(one.attributes["href"]) for one in tree.css(".hits .badges > a:first-child, .tabs a"))
    assert point in text(tree, ".copies")


def test_a_receipt_is_kept_by_a_form_with_a_token(client: httpx.Client):
    add(client, "We deploy on Tuesdays")
    tree = page(client, q="deploy", limit="1")
    form = {str(one.attributes["name"]): str(one.attributes["value"]) for one in tree.css("form.keep input")}
    refused = client.post(f"{ASK}/receipt", data={"q": "deploy"}, follow_redirects=False)
    assert refused.status_code == 403
    kept = client.post(f"{ASK}/receipt", data=form, follow_redirects=False)
    assert kept.status_code == 303, kept.text
    receipt = kept.headers["location"].split("/")[-1].split("?")[0]
    asked = client.get(f"/v1/receipts/{receipt}").json()["parameters"]
    assert (asked["query"], asked["limit"]) == ("deploy", 1)


def test_a_context_shows_text_sections_citations_and_what_was_left_out(client: httpx.Client):
    ids = [add(client, f"The lake is number {n} of all lakes in the north") for n in range(9)]
    tree = page(client, "/context", q="lake", budget="64")
    told = client.post(f"{API}/context", json={"query": "lake", "token_budget": 64, "no_touch": True}).json()
    assert text(tree, "#results h2").startswith(f"{told['tokens']} of 64 tokens")
    cited = [str(one.attributes["href"]).rsplit("/", 1)[-1] for one in tree.css(".context a")]
    assert cited == [one["id"] for one in told["citations"]] and set(cited) <= set(ids)
    assert f"Left out: {told['left_out_total']} memories" in text(tree)
    more = [one for one in tree.css("#results a") if one.text() == f"{told['next_budget']} tokens"]
    assert more and f"budget={told['next_budget']}" in str(more[0].attributes["href"])


def test_a_context_offers_the_conversations_and_keeps_bad_numbers_beside_the_form(client: httpx.Client):
    client.post(f"{API}/conversations", json={"name": "c-42"})
    tree = page(client, "/context")
    assert [one.attributes["value"] for one in tree.css("datalist option")] == ["c-42"]
    assert "token_budget" in text(page(client, "/context", q="lake", budget="1", status=422), ".problem")
    assert "budget" in text(page(client, "/context", q="lake", budget="x", status=422), ".problem")
    assert page(client, "/context", headers=HTMX).css_first("datalist") is None


def test_another_space_is_no_page(client: httpx.Client):
    for path in ("ask", "ask?q=tea", "ask/context", "ask/context?q=tea"):
        assert client.get(f"/console/spaces/elsewhere/{path}").status_code == 404


def test_the_playground_shows_hits_context_and_the_tool_of_two_settings(client: httpx.Client):
    add(client, "We deploy on <b>Tuesdays</b>")
    add(client, "Releases leave on Fridays")
    before = client.get(f"{API}/stats").json()
    tree = page(client, "/playground", q="deploy", mode="hybrid", b_mode="keyword", b_limit="1", budget="300")
    first, second = tree.css(".column")
    assert "Tuesdays" in text(first, ".ranked") and "Tuesdays" in text(second, ".ranked")
    assert all("Tuesdays" in one.text() for one in tree.css("pre.context")) and len(tree.css("pre.context")) == 4
    assert "of 300 tokens" in text(first, "") and "<b>Tuesdays" in text(second, "pre.context")
    assert client.get(f"{API}/stats").json() == before, "looking counts as no retrieval"
    assert len(page(client, "/playground", q="deploy", headers=HTMX).css("pre.context")) == 4
    assert page(client, "/playground", q="deploy", b_limit="x", status=422).css_first(".problem code") is not None


def test_a_hit_becomes_a_probe_in_one_step(client: httpx.Client):
    wanted = add(client, "We deploy on Tuesdays")
    html = client.get(ASK, params={"q": "when do we deploy?"}).text
    form = form_to(html, f"{ASK.removesuffix('ask')}quality")
    button = HTMLParser(html).css_first("button[form=probe]")
    assert button is not None and button.attributes["value"] == wanted
    assert "The probe was added" in ended(client, send(client, form, memory_id=wanted))
    (probe,) = client.get(f"{API}/probes").json()["items"]
    assert (probe["query"], probe["memory_id"]) == ("when do we deploy?", wanted)
