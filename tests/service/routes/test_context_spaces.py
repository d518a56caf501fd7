"""Contexts made from several spaces over HTTP: weights, citations, points in history, and what a key opens."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.keyed import administrator, caller


@pytest.fixture
def asked(engine: Engine) -> Iterator[httpx.Client]:
    """A service with keys, and three spaces that hold a rule, a preference and a piece of a document each."""
    administrator(engine)
    for number, space in enumerate(("web", "company", "other")):
        engine.spaces.create(space)
        drafts = [
            Draft(content=f"We deploy {space} on day {number}", category="rules"),
            Draft(content=f"I like tea number {number}", type="preference", author="user"),
            Draft(content=f"Chapter {number} says how we deploy", kind="chunk"),
        ]
        engine.owner.write.add(space, drafts, on_conflict="keep")
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def post(client: httpx.Client, who: Any, **body: Any) -> httpx.Response:
    asked = {"query": "when do we deploy?", "min_evidence": "none", **body}
    return client.post("/v1/spaces/web/context", json=asked, headers=who.headers)


def test_every_section_is_filled_from_all_spaces_and_citations_name_them(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "web", "company")
    sections: dict[str, Any] = {"profile": {}, "documents": {}, "memories": {}}
    found = post(asked, who, spaces=[{"name": "company", "weight": 0.5}], sections=sections).json()
    held = {(one["section"], one["space"]): found["text"][one["start"] : one["stop"]] for one in found["citations"]}
    assert held == {
        ("profile", "web"): "I like tea number 0", ("profile", "company"): "I like tea number 1",
        ("documents", "web"): "Chapter 0 says how we deploy", ("documents", "company"): "Chapter 1 says how we deploy",
        ("memories", "web"): "We deploy web on day 0", ("memories", "company"): "We deploy company on day 1",
    }  # fmt: skip
    assert [(one["name"], one["weight"]) for one in found["spaces"]] == [("web", 1.0), ("company", 0.5)]
    assert found["seq"] == found["spaces"][0]["seq"] != found["spaces"][1]["seq"]


def test_scores_are_those_of_the_search_over_the_same_spaces(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "web", "company")
    spaces = [{"name": "web", "weight": 0.9}, {"name": "company", "weight": 0.5}]
    found = post(asked, who, spaces=spaces).json()
    body = {"query": "when do we deploy?", "spaces": spaces, "limit": 50}
    hits = asked.post("/v1/search", json=body, headers=who.headers).json()["hits"]
    scores = {hit["memory"]["id"]: hit["score"] for hit in hits}
    assert {one["id"]: one["score"] for one in found["citations"]} == pytest.approx(scores)


def test_what_is_left_out_names_its_space(asked: httpx.Client, engine: Engine):
    found = post(asked, administrator(engine), spaces=[{"name": "company"}, {"name": "other"}], token_budget=40).json()
    assert found["tokens"] <= 40 and found["left_out"]
    assert {one["space"] for one in found["left_out"]} <= {"web", "company", "other"}


def test_a_space_that_the_key_does_not_open_is_not_there(asked: httpx.Client, engine: Engine):
    who = caller(engine, ("read",), "web", "company")
    refused, missing = (post(asked, who, spaces=[{"name": name}]) for name in ("other", "nowhere"))
    assert (refused.status_code, missing.status_code) == (404, 404)
    assert refused.json()["type"] == missing.json()["type"]


def test_the_past_of_several_spaces_is_a_time(asked: httpx.Client, engine: Engine):
    who = administrator(engine)
    now = post(asked, who, spaces=[{"name": "company"}]).json()
    refused = post(asked, who, spaces=[{"name": "company"}], as_of=now["seq"])
    assert refused.status_code == 422 and refused.json()["errors"][0]["path"] == "$.as_of"


@pytest.mark.parametrize(("body", "path"), [
    ({"spaces": [{"name": "company"}, {"name": "company"}]}, "$.spaces"),
    ({"spaces": [{"name": "company"}, {"name": "other", "weight": 2}]}, "$.spaces[1].weight"),
    ({"spaces": [{"name": "company"}], "receipt": True}, "$.receipt"),
])  # fmt: skip
def test_a_bad_field_is_named(asked: httpx.Client, engine: Engine, body: dict[str, Any], path: str):
    refused = post(asked, administrator(engine), **body)
    assert refused.status_code == 422 and refused.json()["errors"][0]["path"] == path


def test_what_is_shown_counts_as_retrieved_in_its_space(asked: httpx.Client, engine: Engine):
    who = administrator(engine)
    found = post(asked, who, spaces=[{"name": "company"}]).json()
    engine.flush_retrievals()
    one = next(one for one in found["citations"] if one["space"] == "company" and one["section"] == "memories")
    path = f"/v1/spaces/company/memories/{one['id']}/telemetry"
    assert asked.get(path, headers=who.headers).json()["retrieval_count"] == 1
