"""Read words such as "today" in the zone of whoever asks, over HTTP, by MCP and on the command line."""

from typing import Any

import httpx
import pytest

from tests.service.conftest import Run
from tests.service.fakes import API, draft
from tests.service.routes.test_policy import call_tool

pytestmark = pytest.mark.one_store

NIGHT = "2026-05-01T08:00:00+09:00"  # 30 April in UTC and in New York


@pytest.mark.parametrize(("fields", "start"), [
    ({"reference_time": NIGHT}, "2026-04-30T15:00:00Z"),
    ({"reference_time": "2026-04-30T23:00:00Z"}, "2026-04-30T00:00:00Z"),
    ({"reference_time": NIGHT, "time_zone": "UTC"}, "2026-04-30T00:00:00Z"),
    ({"reference_time": NIGHT, "time_zone": "America/New_York"}, "2026-04-30T04:00:00Z"),
    ({"reference_time": "2026-04-30T23:00:00Z", "time_zone": "+09:00"}, "2026-04-30T15:00:00Z"),
    ({"reference_time": "2026-04-30T23:00:00Z", "time_zone": "Asia/Tokyo", "mode": "auto"}, "2026-04-30T15:00:00Z"),
])  # fmt: skip
def test_the_zone_says_which_day_is_today(client: httpx.Client, fields: dict[str, Any], start: str):
    client.post(f"{API}/memories", json=draft("we painted the boat", event_at="2012-10-10T12:00:00Z"))
    body = {"query": "what about the boat today?", "explain": True, **fields}
    (hit,) = client.post(f"{API}/search", json=body).json()["hits"]
    assert (hit["explain"]["time"]["words"], hit["explain"]["time"]["start"]) == ("today", start)


def test_an_intent_filters_by_the_day_of_the_zone(client: httpx.Client):
    client.post(f"{API}/memories", json=draft("we painted the boat", event_at="2026-04-30T16:00:00Z"))
    body = {"query": "all notes from today", "mode": "auto", "reference_time": "2026-05-01T01:00:00Z"}
    found = [
        len(client.post(f"{API}/search", json={**body, "time_zone": zone}).json()["hits"])
        for zone in ("Asia/Tokyo", "UTC")
    ]
    assert found == [1, 0]


@pytest.mark.parametrize(("fields", "start"), [
    ({}, "2026-04-30T15:00:00Z"),
    ({"time_zone": "UTC"}, "2026-04-30T00:00:00Z"),
    ({"reference_time": "2026-04-30T19:00:00-04:00"}, "2026-04-30T04:00:00Z"),
])  # fmt: skip
def test_a_space_has_a_zone_for_those_who_state_none(client: httpx.Client, fields: dict[str, Any], start: str):
    client.post(f"{API}/memories", json=draft("we painted the boat", event_at="2012-10-10T12:00:00Z"))
    assert client.get(API).json()["policy"]["time_zone"] == "UTC"
    assert client.patch(f"{API}/policy", json={"time_zone": "Asia/Tokyo"}).json()["time_zone"] == "Asia/Tokyo"
    assert client.post(f"{API}/fork", json={"name": "copy"}).status_code == 201
    for space in (API, "/v1/spaces/copy"):
        assert client.get(space).json()["policy"]["time_zone"] == "Asia/Tokyo"
        body = {"query": "the boat today?", "explain": True, "reference_time": "2026-04-30T23:00:00Z", **fields}
        (hit,) = client.post(f"{space}/search", json=body).json()["hits"]
        assert hit["explain"]["time"]["start"] == start
        told = client.post(f"{space}/search", json={**body, "query": "all notes from today", "mode": "auto"}).json()
        assert start.removesuffix("Z") in str(told["intent"]["filter"])


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "+25:00", "", "Europe", "a" * 64, "Asia/\0Tokyo"])
def test_an_unknown_zone_is_refused(client: httpx.Client, zone: str):
    for path in ("search", "context"):
        answer = client.post(f"{API}/{path}", json={"query": "boat", "token_budget": 100, "time_zone": zone}
                             if path == "context" else {"query": "boat", "time_zone": zone})  # fmt: skip
        assert answer.status_code == 422, answer.text
        assert [error["path"] for error in answer.json()["errors"]] == ["$.time_zone"]
    assert client.patch(f"{API}/policy", json={"time_zone": zone}).status_code == 422
    assert client.get(API).json()["policy"]["time_zone"] == "UTC"


def test_contexts_and_tools_take_a_zone(client: httpx.Client):
    client.post(f"{API}/memories", json=draft("we painted the boat"))
    body = {"query": "boat today", "token_budget": 100, "time_zone": "Asia/Tokyo"}
    assert "boat" in client.post(f"{API}/context", json=body).json()["text"]
    for zone, wrong in (("Asia/Tokyo", False), ("Mars/Olympus", True)):
        answer = call_tool(client, "recall", {"query": "boat today", "space": "default", "time_zone": zone})
        assert bool(answer.get("isError")) == wrong, answer


@pytest.mark.parametrize(("zone", "start"), [("Asia/Tokyo", "T15:00:00"), ("UTC", "T00:00:00"), ("nowhere", "T00:00")])
def test_the_command_line_reads_words_in_the_zone_of_the_machine(
    run: Run, monkeypatch: pytest.MonkeyPatch, zone: str, start: str
):
    monkeypatch.setenv("TZ", zone)
    run("add", "we painted the boat")
    assert start in run("search", "the boat today", "--explain", "--all").output
    assert "no time zone" in run("search", "boat", "--time-zone", "Mars/Olympus").output
