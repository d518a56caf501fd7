"""Time in the console: pages as they were, checkpoints, differences, and a rollback that is previewed."""

from datetime import datetime

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.service.pages.timeline import count, line, told
from tests.core.fakes import Clock
from tests.service.pages.forms import SPACE, first, form_to, forms_of, send

pytestmark = pytest.mark.one_store
URL = f"/console/spaces/{SPACE}"
API = f"/v1/spaces/{SPACE}"


@pytest.fixture
def marked(client: httpx.Client) -> str:
    """The id of a memory that was changed after the checkpoint `early`, when another one was added."""
    made = client.post(f"{API}/memories", json={"content": "We deploy on Tuesdays."}).json()
    client.post(f"{API}/checkpoints", json={"name": "early"})
    client.patch(f"{API}/memories/{made['id']}", json={"content": "We deploy on Fridays."})
    client.post(f"{API}/memories", json={"content": "The pier is long."})
    return made["id"]


def test_the_slider_keeps_the_page_and_names_the_checkpoints(client: httpx.Client, marked: str):
    at = client.get(f"{API}/checkpoints").json()["items"][0]["created_at"]
    here = f"{URL}/memories?tags=a&cursor=x"
    html = client.get(f"{URL}/time/slider", params={"here": here}, headers={"HX-Request": "true"}).text
    form = forms_of(html)[0]
    assert (form.action, form.method, form.fields["tags"]) == (f"{URL}/memories", "get", "a")
    assert "cursor" not in form.fields and "as_of=" + at.replace(":", "%3A") in html and "<html" not in html


def test_the_slider_leads_to_no_other_server(client: httpx.Client):
    html = client.get(f"{URL}/time/slider", params={"here": "//evil.example/console"}).text
    assert "evil.example" not in [one.action for one in forms_of(html)] and 'action="//evil' not in html


def test_pages_say_when_they_cannot_show_the_past(client: httpx.Client, marked: str):
    at = client.get(f"{API}/checkpoints").json()["items"][0]["created_at"]
    for path in ("review", "time"):
        html = client.get(f"{URL}/{path}", params={"as_of": at}).text
        assert "shows only" in html
        assert [one for one in forms_of(html) if one.method == "post" and one.action != "/console/sign-out"] == []
    overview = client.get(URL, params={"as_of": at}).text
    assert "as it was" in overview and ">1</a></dd>" in overview


def test_a_time_without_a_zone_is_utc(client: httpx.Client):
    answer = client.get(URL, params={"as_of": "1990-01-01T00:00"})
    assert answer.status_code == 410


def test_a_checkpoint_is_made_and_deleted(client: httpx.Client):
    form = form_to(client.get(f"{URL}/time").text, f"{URL}/time/checkpoints")
    assert send(client, form, name="first", note="to see").status_code == 303
    page = client.get(f"{URL}/time").text
    assert "to see" in page and "<circle" in page
    assert send(client, form_to(page, f"{URL}/time/checkpoints/first/delete")).status_code == 303
    assert client.get(f"{API}/checkpoints").json()["items"] == []


def test_the_difference_of_two_points_marks_words(client: httpx.Client, marked: str):
    html = client.get(f"{URL}/time/diff", params={"since": "early"}).text
    assert "1 added, 1 changed, 0 deleted" in html
    assert "<del>Tuesdays</del><ins>Fridays</ins>" in html and "<ins>The pier is long.</ins>" in html
    assert "Nothing changed" in client.get(f"{URL}/time/diff", params={"since": "early", "until": "early"}).text


def test_a_rollback_is_previewed_then_done_then_taken_back(client: httpx.Client, marked: str):
    page = client.get(f"{URL}/time/rollback", params={"to": "early"}).text
    assert "deleted (added later)" in page and "<del>Tuesdays</del><ins>Fridays</ins>" in page
    form = form_to(page, f"{URL}/time/rollback")
    wrong = send(client, form, confirm="another")
    assert wrong.status_code == 422 and "Nothing was rolled back" in wrong.text
    assert client.get(f"{API}/memories/{marked}").json()["content"] == "We deploy on Fridays."
    answer = send(client, form, confirm=SPACE)
    assert answer.status_code == 303
    assert client.get(f"{API}/memories/{marked}").json()["content"] == "We deploy on Tuesdays."
    after = client.get(answer.headers["Location"])
    back = after.text.partition("/time/rollback?to=")[2].partition('"')[0]
    again = form_to(client.get(f"{URL}/time/rollback?to={back}").text, f"{URL}/time/rollback")
    assert send(client, again, confirm=SPACE).status_code == 303
    assert client.get(f"{API}/memories/{marked}").json()["content"] == "We deploy on Fridays."
    assert len(client.get(f"{API}/memories").json()["items"]) == 2


def test_marks_are_in_order_between_the_beginning_and_now():
    begun, now = "2026-01-01T00:00:00Z", datetime.fromisoformat("2026-01-11T00:00:00Z")
    found = line(begun, [{"name": "b", "created_at": "2026-01-06T00:00:00Z"}, {"name": "a", "created_at": begun}], now)
    assert [(one["name"], one["place"]) for one in found] == [("a", 0), ("b", 50)]


def test_what_ended_is_told_as_deleted_words():
    one = {"id": "1", "change": "ended", "before": {"content": "Gone", "author": None}, "after": None, "changes": []}
    assert [(each["change"], [tuple(piece) for piece in each["pieces"]]) for each in told([one])] == [
        ("deleted", [("del", "Gone")])
    ]
    assert count([one]) == [("added", 0), ("changed", 0), ("deleted", 1)]


def test_the_line_shows_the_space_as_it_was(client: httpx.Client, clock: Clock, marked: str):
    clock.pass_days(2)
    client.post(f"{API}/memories", json={"content": "A new ferry sails."})
    script = {"HX-Request": "true"}
    for chosen in ("", "x", str(10**11)):
        assert "Drag the slider" in client.get(f"{URL}/time", params={"second": chosen}, headers=script).text
    day_after = int(datetime.fromisoformat(client.get(API).json()["created_at"]).timestamp()) + 86_400
    part = LexborHTMLParser(client.get(f"{URL}/time", params={"second": day_after}, headers=script).text)
    counted = client.get(first(part, "[hx-get]").attributes["hx-get"] or "", headers=script).text
    assert part.css_first("main") is None
    assert counted == "2 memories then, 3 now. Since then 1 added, 0 changed, 0 deleted."
    assert [one.text() for one in part.css(".rows th a")] == ["The pier is long.", "We deploy on Fridays."]
