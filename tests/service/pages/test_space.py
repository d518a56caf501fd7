"""The overview of a space: what is new, and what to do with an empty one."""

from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from muisti.service.pages.space import told
from tests.service.fakes import API, draft
from tests.service.pages.forms import ended, form_to, send

pytestmark = pytest.mark.one_store

PAGE = "/console/spaces/default"


def test_an_empty_space_leads_to_its_first_memory(client: httpx.Client):
    page = ended(client, send(client, form_to(client.get(PAGE).text, f"{PAGE}/memories"), content="Tea at four"))
    assert "The memory was saved." in page
    assert client.get(f"{API}/memories").json()["items"][0]["content"] == "Tea at four"


def test_the_newest_memories_and_last_changes_are_shown(client: httpx.Client):
    made = [client.post(f"{API}/memories", json=draft(f"Island {n}")).json()["id"] for n in range(3)]
    client.delete(f"{API}/memories/{made[0]}")
    parsed = LexborHTMLParser(client.get(PAGE).text)
    assert [one.text() for one in parsed.css(".rows th a")] == ["Island 2", "Island 1"]
    assert [one.text() for one in parsed.css(".changes .badge")] == [
        "deleted", "ended", "stored", "stored", "stored", "ended",
    ]  # fmt: skip


def test_the_past_has_no_form_and_no_last_changes(client: httpx.Client):
    before = client.get(API).json()["seq"]
    client.post(f"{API}/memories", json=draft("Later"))
    html = client.get(PAGE, params={"as_of": before}).text
    assert "Later" not in html and 'method="post"' not in html


def test_changes_of_one_request_are_one_happening():
    changes = [
        _change("a", "r1"), _change("b", "r1"), _change("c", "r1", "deleted"), _change("d", None), _change("e", None),
    ]  # fmt: skip
    assert [(one["word"], one["times"], one["id"]) for one in told(changes)] == [
        ("stored", 1, "e"), ("stored", 1, "d"), ("deleted", 1, "c"), ("stored", 2, "b"),
    ]  # fmt: skip
    assert len(told([_change(str(number), str(number)) for number in range(30)], 5)) == 5


def _change(memory: str, request: str | None, change: str = "created") -> dict[str, Any]:
    return {"at": "", "actor": None, "request": request, "change": change, "memory_id": memory}


def test_changes_by_day_are_all_changes(client: httpx.Client):
    made = [client.post(f"{API}/memories", json=draft(f"Island {n}", category="sea")).json()["id"] for n in range(3)]
    client.delete(f"{API}/memories/{made[0]}")
    before = client.get(f"{API}/stats").json()
    (day,) = before["by_day"].values()
    assert day == {"created": 3, "deleted": 1}
    assert sum(day.values()) == before["changes_last_day"]
    assert "Changes by day" in client.get(PAGE).text
