"""The graph in searches, lists and contexts over HTTP, and its communities."""

from typing import Any

import httpx
import pytest

from tests.both import graph_reader
from tests.service.fakes import API, draft

__all__ = ["graph_reader"]  # names and facts of English

TEXTS = (
    *(f"Yesterday Anna Berg and Bruno Klein met Clara Lund, round {number}." for number in range(3)),
    "On Monday Bruno Klein bought a house in Helsinki.",
    "It rained.",
)


@pytest.fixture(autouse=True)
def memories(client: httpx.Client) -> None:
    bodies = [draft(text) for text in TEXTS]
    assert client.post(f"{API}/memories/batch", json={"memories": bodies}).status_code in (200, 201)


def contents(items: list[dict[str, Any]]) -> set[str]:
    return {item["content"] for item in items}


def test_lists_and_searches_are_filtered_by_entities(client: httpx.Client):
    listed = client.get(f"{API}/memories", params={"entity": "Anna Berg"}).json()
    assert contents(listed["items"]) == {*TEXTS[:3]} and "degraded" not in listed
    body = {"query": "house", "filter": {"entity": "bruno klein", "not": {"entity": "Anna Berg"}}}
    hits = client.post(f"{API}/search", json=body).json()["hits"]
    assert contents([hit["memory"] for hit in hits]) == {TEXTS[3]}
    assert client.get(f"{API}/changes", params={"entity": "Anna Berg"}).status_code == 422


def test_the_ranking_is_asked_for_and_explained(client: httpx.Client):
    body: dict[str, Any] = {"query": "Anna Berg house", "explain": True, "rankings": {"graph": 0.5}}
    hits = client.post(f"{API}/search", json=body).json()["hits"]
    for hit in hits:
        share = hit["explain"]["graph"]
        assert share["contribution"] == pytest.approx(1 + 0.5 * share["score"])
    assert any("graph" in hit["ranks"] for hit in hits)
    assert client.post(f"{API}/search", json={**body, "rankings": {"graph": 2}}).status_code == 422
    plain = client.post(f"{API}/search", json={"query": "Anna Berg house", "explain": True}).json()["hits"]
    assert all("graph" not in hit["explain"] for hit in plain)


def test_a_context_may_have_a_section_about_what_is_named(client: httpx.Client):
    body = {"query": "what of Bruno Klein?", "sections": {"about": {"max_tokens": 100}, "memories": {}}}
    answer = client.post(f"{API}/context", json=body).json()
    assert [one["name"] for one in answer["sections"]] == ["about", "memories"]


def test_communities_are_listed(client: httpx.Client):
    found = client.get(f"{API}/graph/communities", params={"limit": 5}).json()
    assert (found["total"], found["too_large"], found["pending"]) == (1, False, 0)
    assert {end["name"] for end in found["items"][0]["entities"]} >= {"Anna Berg", "Clara Lund"}
    assert client.get(f"{API}/graph/communities", params={"limit": 0}).status_code == 422
