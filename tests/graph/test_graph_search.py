"""The graph in searches, lists and contexts over HTTP, and its communities."""

from typing import Any

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.query.query import Options, Query
from tests.both import graph_reader
from tests.service.fakes import API, draft
from tests.service.mcp_client import answer

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


def test_the_memory_of_a_fact_that_answers_comes_first_with_the_fact(client: httpx.Client):
    told = [
        draft("I moved to Helsinki last spring.", author="Dora Falk", event_at="2026-03-01T00:00:00Z"),
        draft("I live in Turku, which suits me.", author="Dora Falk", event_at="2025-03-01T00:00:00Z"),
        *(draft(f"Dora Falk asked where people live, round {number}.", category="talk") for number in range(4)),
    ]
    client.post(f"{API}/memories/batch", json={"memories": told})
    client.post(f"{API}/graph/build")

    def asked(query: str, *, facts: bool = True) -> list[dict[str, Any]]:
        body = {"query": query, "limit": 4, "explain": True, "facts": facts}
        return client.post(f"{API}/search", json=body).json()["hits"]

    first, *rest = asked("Where does Dora Falk live?")
    assert first["facts"] == ["Dora Falk: lives in Helsinki (since 2026-03-01)"]
    assert first["memory"]["content"] == told[0]["content"]
    assert sum(first["explain"]["parts"].values()) == pytest.approx(first["score"])
    assert not any("facts" in hit or "facts" in hit["explain"] for hit in rest)  # that of Turku has ended
    assert not any(
        "facts" in hit for hit in asked("Where does Dora Falk live?", facts=False) + asked("Does Dora Falk sing?")
    )
    recalled = answer(client, "recall", query="Where does Dora Falk live?", facts=True)
    assert recalled["memories"][0]["facts"] == first["facts"]
    cut = {"query": "Where does Dora Falk live?", "facts": True, "applies": True}
    found = client.post(f"{API}/search", json=cut).json()
    assert found["hits"][0]["memory"]["id"] == first["memory"]["id"]
    client.delete(f"{API}/memories/{first['memory']['id']}")
    assert ["Dora Falk: lives in Turku (since 2025-03-01)"] in [
        hit.get("facts") for hit in asked("Where does Dora Falk live?")
    ]


def test_facts_answer_in_several_spaces_and_only_what_a_key_opens(client: httpx.Client, engine: Engine):
    engine.spaces.create("other")
    for space, text in (("default", "I live in Turku."), ("other", "I work at Acme Corporation.")):
        body = draft(text, author="Dora Falk", category="home")
        assert client.post(f"/v1/spaces/{space}/memories", json=body).is_success
    both = [{"name": "default"}, {"name": "other"}]
    body = {"query": "Where does Dora Falk live and work?", "facts": True, "spaces": both}
    told = [fact for hit in client.post("/v1/search", json=body).json()["hits"] for fact in hit.get("facts", [])]
    assert {fact.partition(" (")[0] for fact in told} == {
        "Dora Falk: lives in Turku", "Dora Falk: works at Acme Corporation",
    }  # fmt: skip
    query = Query(text="Where does Dora Falk live?", options=Options(facts=True))
    for category, seen in (("home", 1), ("work", 0)):
        view = engine.seen_by(Caller("x", category=category)).read
        assert [len(hit.facts) for hit in view.search("default", query).hits] == [1] * seen


def test_a_turn_shows_who_says_it(client: httpx.Client):
    said = client.post(
        f"{API}/conversations/c/exchanges", json={"items": [{"user": "Which boat?", "system": "The blue."}]}
    )
    assert said.is_success, said.text
    client.post(f"{API}/memories", json=draft("We sail at noon.", author="Ann", metadata={"session": "s"}))
    client.post(f"{API}/memories", json=draft("Boats are dear.", author="Bob"))
    hits = client.post(f"{API}/search", json={"query": "boat sail noon"}).json()["hits"]
    speakers = {hit["memory"]["content"][:7]: hit.get("speaker") for hit in hits}
    assert {name: speakers[name] for name in ("Which b", "We sail", "Boats a")} == {
        "Which b": "user", "We sail": "Ann", "Boats a": None,
    }  # fmt: skip
