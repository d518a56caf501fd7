"""Review in the console: what is decided is undone by its button, and nothing is shown that a key may not do."""

import httpx
import pytest

from muisti.service.pages import review
from muisti.service.pages.review import fixes
from tests.service.pages.forms import SPACE, form_to, forms_of, send

pytestmark = pytest.mark.one_store
URL = f"/console/spaces/{SPACE}"
API = f"/v1/spaces/{SPACE}"


@pytest.fixture
def disputed(client: httpx.Client) -> str:
    """The id of an open conflict."""
    client.post(f"{API}/memories", json={"content": "The kiosk in Nagu takes cash."})
    client.post(f"{API}/memories?on_conflict=review", json={"content": "The kiosk in Nagu takes no cash."})
    (one,) = client.get(f"{API}/conflicts").json()["items"]
    return one["id"]


def follow(client: httpx.Client, answer: httpx.Response) -> httpx.Response:
    assert answer.status_code == 303, answer.text
    return client.get(answer.headers["Location"])


def undo(client: httpx.Client, html: str) -> None:
    follow(client, send(client, form_to(html, f"{URL}/undo")))


def contents(client: httpx.Client) -> set[str]:
    return {one["content"] for one in client.get(f"{API}/memories").json()["items"]}


def test_a_conflict_is_shown_side_by_side_with_its_words_marked(client: httpx.Client, disputed: str):
    html = client.get(f"{URL}/review").text
    assert "<ins>no </ins>" in html and "% alike" in html and f"review/conflicts/{disputed}" in html


@pytest.mark.parametrize("decision", ["supersede", "reject"])
def test_an_undo_of_a_decision_opens_the_conflict_again(client: httpx.Client, disputed: str, decision: str):
    before, form = contents(client), form_to(client.get(f"{URL}/review").text, f"{URL}/review/conflicts/{disputed}")
    html = follow(client, send(client, form, decision=decision)).text
    assert client.get(f"{API}/conflicts").json()["items"] == [] and len(contents(client)) == 1
    undo(client, html)
    assert [one["id"] for one in client.get(f"{API}/conflicts").json()["items"]] == [disputed]
    assert contents(client) == before


def test_to_keep_both_says_that_there_is_nothing_to_undo(client: httpx.Client, disputed: str):
    form = form_to(client.get(f"{URL}/review").text, f"{URL}/review/conflicts/{disputed}")
    html = follow(client, send(client, form, decision="keep")).text
    assert "nothing to undo" in html and f"{URL}/undo" not in [one.action for one in forms_of(html)]
    assert len(contents(client)) == 2 and client.get(f"{API}/conflicts").json()["items"] == []


def test_a_decision_that_is_none_is_refused(client: httpx.Client, disputed: str):
    form = form_to(client.get(f"{URL}/review").text, f"{URL}/review/conflicts/{disputed}")
    assert send(client, form, decision="burn").status_code == 400
    assert len(client.get(f"{API}/conflicts").json()["items"]) == 1


def test_a_finding_is_tried_then_mended_then_undone(client: httpx.Client):
    for _ in range(2):
        client.post(f"{API}/memories?on_conflict=keep", json={"content": "The pier closes at nine."})
    ids = {one["id"] for one in client.get(f"{API}/memories").json()["items"]}
    (finding,) = [one for one in client.get(f"{API}/lint").json()["items"] if one["check"] == "duplicate"]
    assert "Repeats another memory" in client.get(f"{URL}/review/lint").text
    page = client.get(f"{URL}/review/lint/fix", params={"check": "duplicate", "memory": finding["memory_id"]}).text
    assert "Delete the memory." in page and "1 change" in page
    assert len(client.get(f"{API}/memories").json()["items"]) == len(ids)
    form = next(one for one in forms_of(page) if "/review/lint/fix" in one.action and one.method == "post")
    html = follow(client, send(client, form)).text
    assert len(client.get(f"{API}/memories").json()["items"]) == len(ids) - 1
    undo(client, html)
    assert {one["id"] for one in client.get(f"{API}/memories").json()["items"]} == ids
    follow(client, send(client, form))
    assert "The finding is gone" in follow(client, send(client, form)).text


def test_lint_checks_few_memories_of_a_large_space_and_one_check_covers_more(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(review, "PAIRS", 1)
    for number in range(review.FEWEST + 1):
        client.post(f"{API}/memories?on_conflict=keep", json={"content": f"Pier number {number} closes at nine."})
    page = client.get(f"{URL}/review/lint").text
    assert f"after {review.FEWEST} memories" in page and "a page checks only 5 memories" in page
    page = client.get(f"{URL}/review/lint?only=secret").text
    assert f"after {review.FEWEST + 1} memories" in page and "a page checks only" not in page
    assert client.get(f"{URL}/review/lint?only=evil").status_code == 422


def test_steps_of_a_fix_share_a_request_and_become_real_when_they_are_not_tried():
    path = "/v1/spaces/s/memories/1?purge=true&dry_run=true"
    (tried,), (done,) = (
        fixes({"fix": [{"method": "DELETE", "path": path, "body": None}]}, dry_run=dry, request="r")
        for dry in (True, False)
    )
    assert tried.erases and tried.call.params == {"purge": "true", "dry_run": "true"}
    assert done.call.params["dry_run"] == "false" and done.call.headers == {"X-Request-Id": "r"}


@pytest.mark.parametrize(("action", "limits", "status"), [
    ("promote", {"promote_retrievals": "0"}, "active"),
    ("prune", {"prune_retrievals": "9", "prune_days": "0"}, "deprecated"),
])  # fmt: skip
def test_candidates_are_tried_then_reviewed_then_undone(
    client: httpx.Client, action: str, limits: dict[str, str], status: str
):
    made = client.post(f"{API}/memories", json={"content": "Perhaps the lift is slow.", "status": "candidate"}).json()
    page = client.get(f"{URL}/review/candidates", params=limits).text
    assert "Perhaps the lift is slow." in page and "nothing has changed" in page
    html = follow(client, send(client, form_to(page, f"{URL}/review/candidates/{action}"))).text
    assert client.get(f"{API}/memories/{made['id']}").json()["status"] == status
    undo(client, html)
    assert client.get(f"{API}/memories/{made['id']}").json()["status"] == "candidate"


def test_limits_that_are_no_numbers_are_refused(client: httpx.Client):
    assert client.get(f"{URL}/review/candidates", params={"prune_days": "many"}).status_code == 400


@pytest.mark.parametrize("decision", ["merge", "apart"])
def test_a_pair_of_names_is_decided_and_proposed_again_after_an_undo(client: httpx.Client, decision: str):
    for text in (
        "Harbour is in Turku.", "We met at Harbour in May.", "Harbourline sails from Turku.", "We like Harbourline.",
    ):  # fmt: skip
        client.post(f"{API}/memories", json={"content": text})
    pairs = client.get(f"{API}/graph/proposals").json()["items"]
    assert pairs
    form = form_to(client.get(f"{URL}/review/names").text, f"{URL}/review/names")
    html = follow(client, send(client, form, decision=decision)).text
    left = client.get(f"{API}/graph/proposals").json()["items"]
    assert len(left) < len(pairs)
    undo(client, html)
    assert client.get(f"{API}/graph/proposals").json()["items"] == pairs
