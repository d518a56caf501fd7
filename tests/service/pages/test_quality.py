"""Quality: probes with their ranks, receipts that are replayed, and questions that found nothing."""

from collections.abc import Iterator

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.pages.forms import SPACE, form_to, send

pytestmark = pytest.mark.one_store
PAGE = f"/console/spaces/{SPACE}/quality"


@pytest.fixture
def logged(engine: Engine) -> Iterator[httpx.Client]:
    """A client of a server that keeps questions that found nothing."""
    with TestClient(create_app(Settings(read_log="questions"), engine=engine)) as opened:
        yield opened


def test_a_probe_is_added_asked_and_deleted(client: httpx.Client):
    id_ = client.post(f"/v1/spaces/{SPACE}/memories", json={"content": "We deploy on Tuesdays"}).json()["id"]
    send(client, form_to(client.get(PAGE).text, PAGE), query="When do we deploy?", memory_id=id_, k="3")
    assert "not run yet" in client.get(PAGE).text
    send(client, form_to(client.get(PAGE).text, f"{PAGE}/run"))
    assert "rank 1" in client.get(PAGE).text
    probe = client.get(f"/v1/spaces/{SPACE}/probes").json()["items"][0]["id"]
    send(client, form_to(client.get(PAGE).text, f"{PAGE}/{probe}/delete"))
    assert client.get(f"/v1/spaces/{SPACE}/probes").json()["items"] == []


def test_a_probe_that_expects_nothing_is_refused_in_words(client: httpx.Client):
    answer = send(client, form_to(client.get(PAGE).text, PAGE), query="When?", memory_id="nonsense")
    assert answer.status_code in (404, 422)
    assert 'role="alert"' in answer.text


def test_a_receipt_shows_what_was_found_then_and_now_and_why_it_differs(client: httpx.Client):
    add = {"content": "We deploy on Tuesdays"}
    first = client.post(f"/v1/spaces/{SPACE}/memories", json=add).json()["id"]
    asked = client.post(f"/v1/spaces/{SPACE}/search", json={"query": "deploy", "receipt": True}).json()
    same = client.get(f"{PAGE}/receipts/{asked['receipt']}").text
    assert "same answer" in same and first in same
    client.delete(f"/v1/spaces/{SPACE}/memories/{first}")
    differs = client.get(f"{PAGE}/receipts/{asked['receipt']}").text
    assert "the answer differs" in differs and "It is deleted." in differs
    assert "same answer" in client.get(f"{PAGE}/receipts/{asked['receipt']}?then=true").text
    assert asked["receipt"] in client.get(f"{PAGE}/receipts").text


def test_questions_that_found_nothing_are_listed_where_they_are_kept(logged: httpx.Client, client: httpx.Client):
    assert "MUISTI_READ_LOG=questions" in client.get(PAGE).text
    for _ in range(2):
        logged.post(f"/v1/spaces/{SPACE}/search", json={"query": "Who ate the <b>zebra</b>?"})
    page = logged.get(PAGE).text
    assert "2 times" in page and "<b>zebra" not in page
